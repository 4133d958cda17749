"""`edsim bench`: speed and memory, side by side with a plain reference, in one run."""

from __future__ import annotations

from cyclopts import App

from edsim.cli.console import console
from edsim.cli.progress import shown_progress

bench = App(name="bench", help="Measure speed and memory beside a plain reference, in one run.")


@bench.command
def cohort(*, stays: int = 425_028, plain_share: float = 0.1, times: int = 1) -> None:
    """Measure drawing synthetic visits and building a cohort from raw files.

    Every part runs in a process of its own, whose peak memory is read when it ends. Beside it the
    same build is done plainly with pandas on a share of the data, and the ratio per event is given.

    Parameters
    ----------
    stays
        Stays to draw; the default is the size of MIMICEL.
    plain_share
        Share of the stays that the plain build gets.
    times
        Also measure at this many times the size.
    """
    from edsim.bench.cohort import bench_cohort
    from edsim.cli.show import show_measurements

    with shown_progress() as progress:
        rows = bench_cohort(stays, plain_share=plain_share, times=times, progress=progress)
    show_measurements(console, rows)


@bench.command
def rollout(
    *,
    stays: int | None = None,
    plain_share: float = 0.1,
    neural: bool = False,
    launches: int = 20_000,
) -> None:
    """Measure fitting, storing and rolling out count models from every test launch.

    Beside it the order-3 model runs plainly (dictionaries, bisect, one number at a time) on a share
    of the launches, one process against one process, and the ratio per event is given. With
    --neural it is networks instead, beside a loop that reads the whole history for every event.

    Parameters
    ----------
    stays
        Synthetic stays of the cohort; by default 425,028, the size of MIMICEL (networks: 20,000).
    plain_share
        Share of the launches that the plain form gets.
    neural
        Measure networks.
    launches
        Of networks: so many launches, evenly spread.
    """
    from edsim.bench.neural_rollout import bench_neural_rollout
    from edsim.bench.rollout import bench_rollout
    from edsim.cli.show import show_measurements

    with shown_progress() as progress:
        if neural:
            rows = bench_neural_rollout(stays or 20_000, launches, progress)
        else:
            rows = bench_rollout(stays or 425_028, plain_share=plain_share, progress=progress)
    show_measurements(console, rows)


@bench.command
def train(*, stays: int = 20_000, recipe: str = "causal_transformer_all", steps: int = 20) -> None:
    """Measure training of a network that is supervised at every position.

    Beside it the same model is trained from the same weights by a plain loop that pads each batch
    to its longest visit, on two threads as well, and the ratio per position is given.

    Parameters
    ----------
    stays
        Synthetic stays of the cohort.
    recipe
        A Transformer of `edsim train --list` that learns from all positions.
    steps
        Steps that are timed, in either form.
    """
    from edsim.bench.train import bench_train
    from edsim.cli.show import show_measurements

    with shown_progress() as progress:
        rows = bench_train(stays, recipe, n_steps=steps, progress=progress)
    show_measurements(console, rows)


@bench.command
def score(*, stays: int = 425_028) -> None:
    """Measure scoring every launch of the test split with 1,000 resamples of stays, and CRPS.

    Beside it distances of process mining run as log-distance-measures has them, where that package
    is installed, on up to 3,000 rollouts; ours on up to a million.

    Parameters
    ----------
    stays
        Synthetic stays of the cohort; the default is the size of MIMICEL.
    """
    from edsim.bench.score import bench_score
    from edsim.cli.show import show_measurements

    with shown_progress() as progress:
        rows = bench_score(stays, progress=progress)
    show_measurements(console, rows, counted="rollouts")


@bench.command
def study(*, nodes: int = 3, pieces: int = 24, launches: int = 20_000, stays: int = 20_000) -> None:
    """Measure how many pieces of a study a Ray cluster makes a minute, against its nodes.

    Clusters of one node, two, and so on are started on this machine, each node with one processor;
    the same study is made on each, and what holds the nodes back is named. Needs the extra `ray`.

    Parameters
    ----------
    nodes
        The largest cluster.
    pieces
        Lines of the study: each is rolled out and scored, independently of the others.
    launches
        Launches of each line.
    stays
        Synthetic stays of the cohort.
    """
    from edsim.bench.study import bench_study, processors
    from edsim.cli.show_study import show_nodes

    with shown_progress() as progress:
        rows = bench_study(nodes, pieces=pieces, launches=launches, stays=stays, progress=progress)
    show_nodes(console, rows, processors())
