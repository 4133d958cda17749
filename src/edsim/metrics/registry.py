"""Every measure of closed-loop rollouts by name, and those that are shown first."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence

from edsim.errors import BadInputError
from edsim.metrics import (
    cap_sensitivity,
    edit,
    forecasts,
    gap_lattice,
    mix_measures,
    neighbours,
    occupancy,
    repetition,
    steps,
    termination,
    timing,
)
from edsim.metrics.measure import Measure
from edsim.metrics.open_loop import OPEN_LOOP
from edsim.metrics.real_vs_real import YARDSTICKS
from edsim.metrics.two_sample import TWO_SAMPLE

METRICS: dict[str, Measure] = {
    f"{measure.name} {measure.group}".rstrip(): measure
    for measure in (
        *termination.MEASURES,
        *mix_measures.MEASURES,
        *timing.MEASURES,
        *forecasts.MEASURES,
        *occupancy.MEASURES,
        *repetition.MEASURES,
        *gap_lattice.MEASURES,
        *steps.MEASURES,
        *cap_sensitivity.MEASURES,
        *edit.MEASURES,
        *neighbours.MEASURES,
    )
}

MULTIPLES: dict[str, str] = {
    "xf" + measure.name.removeprefix("jsd"): measure.name for measure in mix_measures.DIVERGENCES
}
"""xF: a divergence over that of the order-3 model with the same weighting, by its name."""

OF_YARDSTICKS: dict[str, tuple[str, str]] = {
    f"{measure.name}_{kind}": (measure.name, kind)
    for measure in mix_measures.DIVERGENCES
    for kind in YARDSTICKS
}
"""Real against real: the name of a row, to its divergence and the kind of yardstick."""

FULL_TEST = "xf_full_test"
"""A table's divergence over that of the order-3 model on all test launches."""

SHARED = "duration_ratio_shared"
"""The duration ratio on launches where all tables that are scored at once end."""

BEYOND: tuple[str, ...] = (*OF_YARDSTICKS, FULL_TEST, *TWO_SAMPLE)
"""What is said of a table as a whole, so that it is no measure made of sums of its rows."""

TITLES: dict[str, str] = {
    **{measure.name: measure.title for measure in METRICS.values()},
    **{
        name: f"{METRICS[of].title}, {kind.replace('_', ' ')}"
        for name, (of, kind) in OF_YARDSTICKS.items()
    },
    FULL_TEST: "Times order 3 on all test launches",
    **TWO_SAMPLE,
}
"""What a table heads each name with."""

SLOW: tuple[str, ...] = (
    *(measure.name for measure in METRICS.values() if measure.slow),
    FULL_TEST,
    *TWO_SAMPLE,
    *(name for name, (of, _) in OF_YARDSTICKS.items() if of != "jsd"),
)
"""What is left out unless it is asked for, by name or with --slow."""

HEADLINE: dict[str, Measure] = {
    name: METRICS[name]
    for name in (
        "termination",
        "reached_discharge",
        "jsd",
        "jsd_per_rollout",
        "jsd_triples",
        "duration_ratio",
        "los_mae",
        "los_rank_correlation",
        "occupancy_mae",
        "share_on_lattice",
        "crps",
    )
}
"""What stands in the first table, and what a comparison of two producers looks at."""

BY_GROUP: tuple[str, ...] = (
    "termination",
    "reached_discharge",
    "jsd",
    "duration_ratio",
    "los_mae",
    "occupancy_mae",
    "crps",
)
"""What is said of every group of a population."""


def measures_named(names: Sequence[str], among: Mapping[str, Measure] = METRICS) -> list[Measure]:
    """The measures of these names, in the order of METRICS; an unknown name is refused.

    The name of a divergence's multiple stands for the divergence, whose row it follows.
    """
    known = {*(measure.name for measure in among.values())}
    known |= {multiple for multiple, name in MULTIPLES.items() if name in known}
    unknown = sorted(set(names) - known)
    if unknown:
        elsewhere = _elsewhere(unknown[0])
        if elsewhere:
            raise BadInputError(f"there is no measure '{unknown[0]}' here: {elsewhere}.")
        close = difflib.get_close_matches(unknown[0], known, n=1)
        hint = f" (did you mean '{close[0]}'?)" if close else ""
        raise BadInputError(
            f"there is no measure '{unknown[0]}'{hint}. docs/metrics.md lists all of them."
        )
    wanted = {MULTIPLES.get(name, name) for name in names}
    return [measure for measure in among.values() if measure.name in wanted]


def _elsewhere(name: str) -> str:
    """Where a measure is that the command at hand does not have; empty where there is none."""
    if name == SHARED:
        return (
            "`edsim score A B --metrics duration_ratio` shows it beside duration_ratio, of several "
            "producers at once; `edsim compare` takes duration_ratio where both end anyway"
        )
    if name in BEYOND:
        return (
            "it is said of a whole table of rollouts and not stay by stay; "
            f"`edsim score --metrics {name}` has it"
        )
    if name in OPEN_LOOP:
        return (
            "it is of predictions, not of rollouts; `edsim predict` writes a file of them, which "
            "`edsim score` scores"
        )
    if name in {*(measure.name for measure in METRICS.values()), *MULTIPLES}:
        return "it is of rollouts, not of predictions; `edsim score` of a rollouts file has it"
    return ""
