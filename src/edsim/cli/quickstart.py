"""`edsim quickstart`: from nothing to a report on five simulators, in three minutes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from edsim.cli.console import console

if TYPE_CHECKING:
    from edsim.cli.chains import Command

NETWORKS = {
    "gru": {"width": 64, "epochs": 12, "batch_size": 128},
    "causal_transformer_all": {"width": 48, "feedforward": 192, "epochs": 6, "batch_size": 64},
    "joint": {"width": 48, "feedforward": 192, "epochs": 8},
}
"""Recipes that are trained, and what makes them small."""
REFERENCE, ORACLE = "ngram:3", "oracle"
CENSUS_DRAWS = 10
POPULATIONS = "triage,acuity,transport,long-prefix,late"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What decides a quickstart."""

    out: Path
    stays: int
    launches: int
    draws: int
    epochs: int | None
    seed: int

    def headings(self) -> dict[str, list[list[Command]]]:
        """Chains of commands under what they are for; chains under one heading run side by side."""
        return {
            "Visits of the synthetic department": [[self.cohort()]],
            "Five simulators: trained, let go on from the same launches, asked": self._simulators(),
            "How far each is from the record": [
                [self._scores()],
                [self._census()],
                [self._open_loop_scores()],
            ],
            "One page of it": [[self._report()]],
        }

    @property
    def scores(self) -> Path:
        """The folder of score sheets."""
        return self.out / "scores"

    @property
    def page(self) -> Path:
        """The report."""
        return self.out / "report.html"

    def cohort(self) -> Command:
        """The command that all others rest on."""
        return _command(
            *("cohort", "build", "synthetic", "--stays", self.stays),
            out=self._cohort,
            makes=self._cohort / "cohort.json",
        )

    @property
    def _cohort(self) -> Path:
        return self.out / "cohort"

    @property
    def _launches(self) -> tuple[object, ...]:
        return ("--cohort", self._cohort, "--launches", f"matched-{self.launches}")

    def _rollouts(self, name: str) -> Path:
        return self.out / "rollouts" / f"{name}.rollouts.parquet"

    def _predictions(self, name: str) -> Path:
        return self.out / "predictions" / f"{name}.predictions.parquet"

    def _simulators(self) -> list[list[Command]]:
        """A chain for each; the longest begin first."""
        gru, causal, joint = (self._network(name) for name in NETWORKS)
        counts = [self._rolled(REFERENCE, "ngram3"), self._predicted(REFERENCE, "ngram3")]
        return [joint, causal, gru, counts, [self._rolled(ORACLE, ORACLE)]]

    def _recipe(self, name: str) -> str:
        sizes = NETWORKS[name] | ({"epochs": self.epochs} if self.epochs else {})
        return f"{name}[{','.join(f'{key}={size}' for key, size in sizes.items())}]"

    def _model(self, name: str) -> Path:
        return self.out / "models" / f"{name}.npz"

    def _network(self, name: str) -> list[Command]:
        """Train one, let it go on, ask it."""
        recipe, model = self._recipe(name), self._model(name)
        producer = f"{recipe}@{self.seed}"
        return [
            _command(
                *("train", recipe, "--cohort", self._cohort, "--seed", self.seed),
                out=model,
                needs=[self.cohort().makes],
            ),
            self._rolled(producer, name, model),
            self._predicted(producer, name, model),
        ]

    def _rolled(self, producer: str, name: str, *needs: Path) -> Command:
        return _command(
            *("rollout", producer, *self._launches, "--draws", self.draws),
            out=self._rollouts(name),
            needs=[self.cohort().makes, *needs],
        )

    def _predicted(self, producer: str, name: str, *needs: Path) -> Command:
        return _command(
            *("predict", producer, *self._launches),
            out=self._predictions(name),
            needs=[self.cohort().makes, *needs],
        )

    def _scores(self) -> Command:
        files = [self._rollouts(name) for name in ("ngram3", *NETWORKS, ORACLE)]
        return _command(
            *("score", *files, "--cohort", self._cohort, "--populations", POPULATIONS),
            out=self.scores,
            makes=self.scores / "oracle.scores.json",
            needs=files,
        )

    def _open_loop_scores(self) -> Command:
        files = [self._predictions(name) for name in ("ngram3", *NETWORKS)]
        folder = self.scores / "open-loop"
        return _command(
            *("score", *files, "--cohort", self._cohort),
            out=folder,
            makes=folder / "joint.scores.json",
            needs=files,
        )

    def _census(self) -> Command:
        trained = [f"{self._recipe(name)}@{self.seed}" for name in NETWORKS]
        return _command(
            *("census", REFERENCE, *trained, ORACLE, "--cohort", self._cohort),
            *("--draws", CENSUS_DRAWS),
            out=self.scores / "department.census.json",
            flag="--json",
            needs=[self.cohort().makes, *(self._model(name) for name in NETWORKS)],
        )

    def _report(self) -> Command:
        parts = (self._scores(), self._open_loop_scores(), self._census())
        needs = [command.makes for command in parts]
        return _command("report", self.scores, out=self.page, needs=needs)


def quickstart(
    *,
    out: Path = Path("quickstart"),
    stays: int = 12_000,
    launches: int = 4_000,
    draws: int = 4,
    epochs: int | None = None,
    seed: int = 1,
    workers: int = 2,
    dry_run: bool = False,
    overwrite: bool = False,
) -> None:
    """Build a synthetic cohort, train small networks, roll out, score, and write a report.

    Every step is a command that is shown as one would type it. What was stopped goes on where it
    was, and what is there is not made again.

    Parameters
    ----------
    out
        Folder for everything.
    stays
        Visits of the synthetic department.
    launches
        Launch points of the test split from which each simulator goes on.
    draws
        Continuations of each launch.
    epochs
        Of each network, in place of what is enough for them to learn.
    seed
        Training seed.
    workers
        Commands that run side by side.
    dry_run
        Show the commands and do nothing.
    overwrite
        Replace a cohort that was made with other settings.
    """
    from rich.markup import escape

    from edsim.cli.chains import LOG, Chains
    from edsim.cli.show_board import show_board
    from edsim.errors import OutputError
    from edsim.report.material import read_material

    plan = Plan(out=out, stays=stays, launches=launches, draws=draws, epochs=epochs, seed=seed)
    headings = plan.headings()
    if dry_run:
        _show_plan(headings)
        return
    out.mkdir(parents=True, exist_ok=True)
    status = console.status("")
    chains = Chains(
        out, workers=workers, told=_tell, shown=lambda running: status.update(escape(running))
    )
    cohort = plan.cohort()
    if cohort.makes.exists() and not chains.knows(cohort) and not overwrite:
        raise OutputError(
            f"'{cohort.makes.parent}' is already there, made by another command than "
            f"`{cohort.typed}`. Choose another --out, or --overwrite."
        )
    with status:  # drawn on a terminal only
        for heading, chain in headings.items():
            console.print(f"[bold]{heading}[/]")
            chains.run(chain)
    show_board(console, read_material(plan.scores))
    _say(f"\nThe report: {plan.page}. What the commands said: {out / LOG}")


def _command(
    *words: object,
    out: Path,
    flag: str = "--out",
    makes: Path | None = None,
    needs: Sequence[Path] = (),
) -> Command:
    """A command that writes to `out`; `makes` is the file that shows it where that is a folder."""
    from edsim.cli.chains import Command

    arguments = (*(str(word) for word in words), flag, str(out))
    return Command(arguments=arguments, makes=makes or out, needs=tuple(needs))


def _show_plan(headings: Mapping[str, Sequence[Sequence[Command]]]) -> None:
    for heading, chains in headings.items():
        _say(f"# {heading}")
        for command in (command for chain in chains for command in chain):
            _say(command.typed)


def _tell(command: Command, seconds: float | None) -> None:
    """A command that is done, and how long it took."""
    took = "there" if seconds is None else f"{seconds:.0f} s"
    _say(f"{took:>6}  $ {command.typed}")


def _say(text: str) -> None:
    console.print(text, markup=False, soft_wrap=True, highlight=False)
