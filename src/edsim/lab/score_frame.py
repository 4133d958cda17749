"""Scores as a polars frame: the long table of one or several sheets, producers in a column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import TYPE_CHECKING

from edsim.lab.cohort import Cohort
from edsim.lab.scores import ScoreSettings, score_all
from edsim.progress import Progress, silent
from edsim.tables.rollouts import Rollouts
from edsim.tables.scores import ScoreRow, ScoreSheet

if TYPE_CHECKING:
    import polars as pl

_OF_SHEET = {
    "producer": "producer",
    "training_seed": "seed",
    "rule": "rule",
    "clock": "clock",
    "launches": "launches",
    "cap": "cap",
    "draws": "draws",
}


def score(
    rollouts: Rollouts | Sequence[Rollouts],
    cohort: Cohort,
    *,
    metrics: Sequence[str] | None = None,
    populations: Sequence[str] = (),
    resamples: int = 1_000,
    slow: bool = False,
    progress: Progress = silent,
) -> pl.DataFrame:
    """Everything that can be said about rollouts, one line a number; several are put together."""
    tables = [rollouts] if isinstance(rollouts, Rollouts) else list(rollouts)
    settings = ScoreSettings(
        metrics=metrics, populations=populations, resamples=resamples, slow=slow
    )
    return frame_of(score_all(tables, cohort, settings, progress))


def frame_of(sheets: Sequence[ScoreSheet]) -> pl.DataFrame:
    """The rows of sheets, after what tells the sheets apart."""
    import polars as pl

    kinds = {"str": pl.String, "int": pl.Int64}
    lines = [
        {column: getattr(sheet, name) for name, column in _OF_SHEET.items()}
        | {"cohort": sheet.cohort.get("content_hash")}
        | asdict(row)
        for sheet in sheets
        for row in sheet.rows
    ]
    schema = {
        **dict.fromkeys(_OF_SHEET.values(), pl.String),
        **dict.fromkeys(("seed", "cap", "draws"), pl.Int64),
        "cohort": pl.String,
        **{field.name: kinds.get(str(field.type), pl.Float64) for field in fields(ScoreRow)},
    }
    return pl.DataFrame(lines, schema=schema, orient="row")
