"""Every table and figure of the paper by its label, and how a reader may name them."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from edsim.errors import BadInputError
from edsim.studies.paper import (
    c2st,
    cap,
    capacity,
    closed_loop,
    cohorts,
    core,
    coverage,
    decoding,
    decoding_plane,
    demographics,
    downstream,
    event_order,
    external,
    floor,
    harness,
    late_visit,
    launch_context,
    matched_duration,
    occupancy,
    open_loop,
    order_curve,
    per_seed,
    per_step,
    repetition,
    seed_audit,
    simulation_gap,
    supervision_ladder,
    temporal_shift,
    weighting,
)
from edsim.studies.paper.entry import Entry

PAPER: dict[str, Entry] = {
    entry.label: entry
    for entry in (
        cohorts.ENTRY,
        core.ENTRY,
        seed_audit.ENTRY,
        supervision_ladder.ENTRY,
        open_loop.ENTRY,
        simulation_gap.ENTRY,
        matched_duration.ENTRY,
        closed_loop.ENTRY,
        decoding.SEVEN,
        decoding.THIRTY_TWO,
        decoding_plane.ENTRY,
        capacity.ENTRY,
        per_seed.ENTRY,
        order_curve.ENTRY,
        temporal_shift.ENTRY,
        late_visit.ENTRY,
        c2st.ENTRY,
        event_order.ENTRY,
        weighting.ENTRY,
        coverage.ENTRY,
        harness.ENTRY,
        downstream.ENTRY,
        occupancy.ENTRY,
        launch_context.ENTRY,
        demographics.ENTRY,
        floor.ENTRY,
        cap.ENTRY,
        repetition.ENTRY,
        per_step.ENTRY,
        external.ENTRY,
    )
}
"""In the order of the paper, figures beside the tables they belong to."""

ALIASES = {
    "downstream": ("app:causal",),
    "core": ("tab:rich", "tab:seed"),
    "cohorts": ("sec:data",),
    "temporal": ("app:ordercurve/temporal",),
    "coverage": ("tab:app-cov",),
    "late": ("tab:app-surv",),
    "repetition": ("tab:loop",),
    "race": ("tab:app-equity",),
    "external": ("tab:mcmed",),
    "weighting": ("tab:app-lengthmatch",),
    "decoding": ("tab:app-dec7", "tab:app-decR", "fig:plane"),
    "figures": tuple(label for label in PAPER if label.startswith("fig:")),
}
"""Names that stand for others; every label is also known without `tab:`, `app-` and the like."""


def find_entries(names: Sequence[str]) -> list[Entry]:
    """The tables of these names in the paper's order, or all; the nearest is told of unknown ones.

    >>> [entry.label for entry in find_entries(["tab:occupancy", "core"])]
    ['tab:rich', 'tab:seed', 'tab:app-occupancy']
    """
    if not names:
        return list(PAPER.values())
    wanted = {label for name in names for label in _labels(name)}
    return [entry for label, entry in PAPER.items() if label in wanted]


def short(label: str) -> str:
    """A label without what says only that it is one.

    >>> short("tab:app-occupancy"), short("fig:plane"), short("app:ordercurve/temporal")
    ('occupancy', 'plane', 'ordercurve/temporal')
    """
    return label.partition(":")[2].removeprefix("app-") if ":" in label else label


def _labels(name: str) -> tuple[str, ...]:
    if name in PAPER:
        return (name,)
    whole = name.strip().lower()
    of_appendix = tuple(label for label in PAPER if label.lower().partition(":")[2] == whole)
    if of_appendix and whole.startswith("app-"):
        return of_appendix
    plain = short(whole).removeprefix("app-")
    if plain in ALIASES:
        return ALIASES[plain]
    found = tuple(label for label in PAPER if short(label).lower() == plain)
    if found:
        return found
    known = {**{short(label).lower(): label for label in PAPER}, **{one: one for one in ALIASES}}
    near = difflib.get_close_matches(plain, known, n=3)
    hint = " Did you mean " + ", ".join(known[one] for one in near) + "?" if near else ""
    raise BadInputError(
        f"the paper has no table '{name}'.{hint} `edsim paper --list` shows all of them."
    )
