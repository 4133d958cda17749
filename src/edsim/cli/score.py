"""`edsim score`: what rollouts are worth, in the terminal and as files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from edsim.cli.console import console
from edsim.cli.progress import shown_progress

if TYPE_CHECKING:
    from edsim.lab.cohort import Cohort
    from edsim.tables.rollouts import Rollouts
    from edsim.tables.scores import ScoreSheet


def score(
    *producers: str,
    cohort: Path,
    launches: str = "matched-100k",
    draws: int = 1,
    clock: str | None = None,
    device: str = "cpu",
    metrics: str = "",
    populations: str = "",
    slow: bool = False,
    resamples: int = 1_000,
    json: Path | None = None,
    out: Path | None = None,
    overwrite: bool = False,
) -> None:
    """Score rollouts beside each other: each number with its interval, floor and reference.

    Parameters
    ----------
    producers
        Rollouts files of the cohort, or producers as in `edsim rollout`: ours are rolled out once
        and kept with the cohort, simulators of yours each time. Or predictions files of
        `edsim predict`, which have measures of their own.
    cohort
        A cohort made by `edsim cohort build`.
    launches
        Of producers given by name: the launch set.
    draws
        Of producers given by name: continuations of each launch; proper scores need two or more.
    clock
        Of neural simulators given by name: median, sampled, lattice or bins.
    device
        Of producers given by name: where models are trained and run, cpu or cuda.
    metrics
        Only these measures, by the names of docs/metrics.md, joined by commas.
    populations
        Also by groups of launches: triage, acuity, transport, complaint, sex, race, next-allowed,
        long-prefix, length-quartile, completion, late, joined by commas; or every.
    slow
        Also what takes minutes on a full test split: the classifier two-sample test, and how far
        apart two samples of real suffixes are in pairs and triples.
    resamples
        Resamples of stays behind the intervals.
    json
        A file for all that was found out; of one producer.
    out
        A folder for one such file a producer, which `edsim report` reads; with some visits to look
        at one by one, unless the cohort is restricted.
    overwrite
        Replace files that are there.
    """
    from edsim.cli.show_scores import show_scores
    from edsim.errors import BadInputError
    from edsim.lab.cohort import open_cohort
    from edsim.lab.named import named_rollouts
    from edsim.lab.producers import is_trained
    from edsim.lab.scores import ScoreSettings, score_all
    from edsim.tables.predictions import SUFFIX as PREDICTIONS

    if not producers:
        raise BadInputError("name what is to be scored: rollouts files, or producers as ngram:3.")
    if json is not None and len(producers) > 1:
        raise BadInputError("--json takes the scores of one producer; use --out with a folder.")
    places = _places(producers, json, out, overwrite)
    if any(name.endswith(PREDICTIONS) for name in producers):
        chosen = names_in(populations)
        _score_predictions(producers, cohort, names_in(metrics) or None, chosen, resamples, places)
        return
    settings = ScoreSettings(
        metrics=names_in(metrics) or None,
        populations=[name.replace("-", " ") for name in names_in(populations)],
        resamples=resamples,
        slow=slow,
    )
    opened = open_cohort(cohort)
    with shown_progress() as progress:
        tables = [
            named_rollouts(
                opened,
                name,
                launches=launches,
                draws=draws,
                clock=clock if is_trained(name) else None,
                device=device if is_trained(name) else "cpu",
                progress=progress,
            )
            for name in producers
        ]
        sheets = score_all(tables, opened, settings, progress)
    show_scores(console, sheets, settings.metrics)
    _write(sheets, places)
    if out is not None:
        _write_visits(tables, opened, [paths[-1] for paths in places])


def _score_predictions(
    files: Sequence[str],
    cohort: Path,
    metrics: Sequence[str] | None,
    populations: Sequence[str],
    resamples: int,
    places: Sequence[Sequence[Path]],
) -> None:
    """Open loop: predictions files side by side."""
    from edsim.cli.show_scores import OPEN_LOOP_SECTIONS, show_scores
    from edsim.errors import BadInputError
    from edsim.lab.cohort import open_cohort
    from edsim.lab.prediction_scores import score_predictions
    from edsim.lab.predictions import read
    from edsim.tables.predictions import SUFFIX

    if not all(name.endswith(SUFFIX) for name in files):
        raise BadInputError(
            "predictions and rollouts have different measures: score them by two commands."
        )
    opened = open_cohort(cohort)
    with shown_progress() as progress:
        sheets = score_predictions(
            [read(Path(name), opened) for name in files],
            opened,
            metrics=metrics,
            populations=[name.replace("-", " ") for name in populations],
            resamples=resamples,
            progress=progress,
        )
    show_scores(console, sheets, metrics, OPEN_LOOP_SECTIONS)
    _write(sheets, places)


def names_in(text: str) -> list[str]:
    """Names joined by commas; a comma in brackets is part of a name.

    >>> names_in("gru[width=16,epochs=1]@1, gru@2")
    ['gru[width=16,epochs=1]@1', 'gru@2']
    """
    parts = re.split(r",(?![^\[\]]*\])", text)
    return [name.strip() for name in parts if name.strip()]


def _places(
    producers: Sequence[str], json: Path | None, out: Path | None, overwrite: bool
) -> list[list[Path]]:
    """Where the sheet of each producer goes; looked at before anything is computed."""
    from edsim.errors import OutputError
    from edsim.tables.scores import SUFFIX

    stems = [_stem(name) for name in producers]
    unique = [f"{stem}-{i + 1}" if stems.count(stem) > 1 else stem for i, stem in enumerate(stems)]
    places = [
        [*([json] if json else []), *([out / f"{stem}{SUFFIX}"] if out else [])] for stem in unique
    ]
    there = [path for paths in places for path in paths if path.exists()]
    if there and not overwrite:
        raise OutputError(f"'{there[0]}' is already there. Choose another place, or --overwrite.")
    return places


def _stem(name: str) -> str:
    """A file's name without its endings, or a producer's with dashes for what no file should hold.

    >>> _stem("runs/ngram3.rollouts.parquet"), _stem("blend:0.25:A+B")
    ('ngram3', 'blend-0.25-A-B')
    """
    plain = re.sub(r"(\.rollouts|\.predictions)?(\.parquet|\.csv(\.gz)?)$", "", Path(name).name)
    return "-".join(re.findall(r"[\w.]+", plain)).strip(".-") or "scores"


def _write(sheets: Sequence[ScoreSheet], places: Sequence[Sequence[Path]]) -> None:
    from edsim.tables.scores import write_sheet

    for sheet, paths in zip(sheets, places, strict=True):
        for path in paths:
            write_sheet(sheet, path)
            console.print(f"Written to {path}", markup=False, soft_wrap=True)


def _write_visits(tables: Sequence[Rollouts], cohort: Cohort, sheets: Sequence[Path]) -> None:
    """Some visits of each producer, beside its sheet, for the viewer of the report."""
    from edsim.lab.shown_visits import shown_visits
    from edsim.tables import scores
    from edsim.tables.shown_visits import SUFFIX, write_visits

    for rollouts, path in zip(tables, sheets, strict=True):
        visits = shown_visits(rollouts, cohort)
        if visits is not None:
            write_visits(visits, path.with_name(path.name.removesuffix(scores.SUFFIX) + SUFFIX))
