"""Score sheets that a board takes, made up by hand, and ways to break them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from edsim.tables.scores import ScoreRow, ScoreSheet
from edsim.tables.verdicts import Verdict

CONTENT_HASH = "ab" * 32
OTHER_HASH = "cd" * 32
COUNTS = {"n_launches": 2000, "n_stays": 900, "n_subjects": 700}


def low(metric: str, value: float, floor: float, reference: float, **more: Any) -> ScoreRow:
    """A measure that is best where it is lowest."""
    return ScoreRow(
        metric=metric,
        value=value,
        low=0.8 * value,
        high=1.2 * value,
        floor=floor,
        floor_kind="oracle",
        reference=reference,
        loss=value,
        position=(value - floor) / (reference - floor),
        target="low",
        **(COUNTS | more),
    )


def near(metric: str, value: float, target: float, reference: float, loss: float) -> ScoreRow:
    """A measure that has a right value."""
    return ScoreRow(
        metric=metric,
        value=value,
        low=value - 0.01,
        high=min(value + 0.01, 1.0) if metric != "duration_ratio" else value + 0.01,
        floor=0.0,
        floor_kind="oracle",
        reference=reference,
        loss=loss,
        target=f"{target:g}",
        **COUNTS,
    )


def sheet(producer: str = "a model", far: float = 2.0, **more: Any) -> ScoreSheet:
    """A whole sheet; `far` is how many times further off than the order-3 model it is."""
    return replace(
        ScoreSheet(
            producer=producer,
            producer_version="1",
            recipe={"width": 128},
            training_seed=1,
            rule="vanilla",
            clock="sampled",
            launches="matched-2000",
            cap=128,
            draws=1,
            rollout_seed=0,
            privileged=False,
            vocabulary="ed7",
            vocabulary_sha256="ef" * 32,
            tokens=("END", "Enter", "Leave"),
            cohort=cohort(),
            code_version="0.1.0",
            rows=rows(far),
            verdicts=(Verdict(producer=producer, fault="", sentence="Nothing found."),),
        ),
        **more,
    )


def rows(far: float) -> tuple[ScoreRow, ...]:
    return (
        near("termination", 0.99, 1.0, 1.0, 0.01),
        near("reached_discharge", 0.94, 0.95, 0.95, 0.01),
        low("jsd", 0.002 * far, 0.0001, 0.002),
        low("jsd_per_rollout", 0.001 * far, 0.0001, 0.001),
        low("jsd_pairs", 0.01 * far, 0.004, 0.01),
        low("jsd_triples", 0.05 * far, 0.03, 0.05),
        near("duration_ratio", 0.9, 1.0, 0.95, 0.1),
        replace(low("los_mae", 200.0 * far, 1.0, 200.0), floor=None, position=None, floor_kind=""),
        low("occupancy_mae", 1.5 * far, 0.2, 1.5),
        replace(low("jsd", 0.003 * far, 0.0001, 0.003), population="triage", group="acuity 2"),
    )


def cohort(content_hash: str = CONTENT_HASH, **more: Any) -> dict[str, Any]:
    return {
        "id": f"mimic-{content_hash[:12]}",
        "content_hash": content_hash,
        "source": "mimic",
        "restricted": True,
        "time_of_day": True,
        "n_stays": 6000,
        "n_subjects": 4000,
        "n_events": 100_000,
        "cap": 128,
        "split": {
            "rule": "subjects 70/15/15 by keyed hash, seed 0",
            "parts": {"train": {"stays": 4200, "subjects": 2800, "events": 70_000}},
        },
        "attrition": [
            {"rule": "stays", "n_stays": 6000, "n_subjects": 4000, "n_events": 100_000, "note": ""}
        ],
        "discharges": ["Leave"],
    } | more


def with_row(made: ScoreSheet, metric: str, **changes: Any) -> ScoreSheet:
    """The row of a measure over all launches, changed."""
    return replace(
        made,
        rows=tuple(
            replace(row, **changes) if (row.metric, row.population) == (metric, "all") else row
            for row in made.rows
        ),
    )


def without_row(made: ScoreSheet, metric: str) -> ScoreSheet:
    return replace(made, rows=tuple(row for row in made.rows if row.metric != metric))
