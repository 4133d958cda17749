"""`edsim downstream`: what delays alone tell of long stays and of who is soon discharged."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from edsim.cli.console import console
from edsim.cli.progress import shown_progress

if TYPE_CHECKING:
    from edsim.tables.downstream import Downstream


def downstream(
    *,
    cohort: Path,
    target: Path | None = None,
    vocabulary: str | None = None,
    target_vocabulary: str | None = None,
    resamples: int = 1_000,
    json: Path | None = None,
    overwrite: bool = False,
) -> None:
    """Predict long stays and discharge within the hour from the gaps seen so far.

    Logistic regression and gradient boosting, fitted on the training split, on the gaps so far and
    on the time gone by alone; judged on the test split as fitted, and recalibrated on the
    validation split. With a target the same classifiers are also taken there.

    Parameters
    ----------
    cohort
        A cohort made by `edsim cohort build`: its training split is fitted on.
    target
        Another cohort, such as a later period or another site.
    vocabulary
        Vocabulary that says which events are discharges; the cohort's first by default.
    target_vocabulary
        The same of the target.
    resamples
        Resamples of stays behind the intervals.
    json
        A file for every number, such as delays.downstream.json.
    overwrite
        Replace the file if it is there.
    """
    from edsim.errors import OutputError
    from edsim.lab.cohort import open_cohort
    from edsim.lab.downstream import downstream as told
    from edsim.tables.downstream import write_downstream

    if json is not None and json.exists() and not overwrite:
        raise OutputError(f"'{json}' is already there. Choose another place, or --overwrite.")
    with shown_progress() as progress:
        found = told(
            open_cohort(cohort),
            None if target is None else open_cohort(target),
            vocabulary=vocabulary,
            target_vocabulary=target_vocabulary,
            resamples=resamples,
            progress=progress,
        )
    _show(found)
    if json is not None:
        write_downstream(found, json)
        console.print(f"Written to {json}", markup=False, soft_wrap=True)


def _show(found: Downstream) -> None:
    from edsim.cli.show import table_of

    for target in dict.fromkeys(row.target for row in found.rows):
        table = table_of(
            f"From delays alone, {target}", "asked", "model", "AUROC", "elapsed", "Brier", "slope",
            "slope before",
        )  # fmt: skip
        rows = [row for row in found.rows if row.target == target]
        by = {(r.task, r.landmark, r.model, r.features, r.calibration): r for r in rows}
        for task, landmark in dict.fromkeys((row.task, row.landmark) for row in rows):
            for model in dict.fromkeys(row.model for row in rows):
                fitted, moved = (
                    by[task, landmark, model, "gaps", c] for c in ("as fitted", "recalibrated")
                )
                alone = by[task, landmark, model, "elapsed alone", "as fitted"]
                mark = "*" if fitted.on_outcome else ""
                table.add_row(
                    f"{task}, {landmark}{mark}",
                    model,
                    _interval(fitted.auroc, fitted.auroc_low, fitted.auroc_high),
                    _figure(alone.auroc),
                    _figure(moved.brier),
                    _figure(moved.slope, 2),
                    _figure(fitted.slope, 2),
                )
            table.add_section()
        console.print(table)
        for note in dict.fromkeys(f"{row.task}: {row.note}" for row in rows if row.note):
            console.print(f"[dim]{note}[/]")
    console.print(
        f"[dim]A long stay lasts more than {found.long_minutes:,.0f} minutes. elapsed: AUROC of "
        "the time gone by alone. Brier, slope: recalibrated; slope 1 is calibrated. * selected on "
        "the outcome.[/]"
    )


def _interval(value: float | None, low: float | None, high: float | None) -> str:
    if value is None or low is None or high is None:
        return _figure(value)
    return f"{value:.3f} ({low:.3f} to {high:.3f})"


def _figure(value: float | None, digits: int = 3) -> str:
    return "-" if value is None else f"{value:.{digits}f}"
