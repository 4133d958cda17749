"""`edsim predict`: what a simulator says of the next event, open loop, as a file."""

from __future__ import annotations

from pathlib import Path

from edsim.cli.console import console
from edsim.cli.progress import shown_progress


def predict(
    producer: str,
    /,
    *,
    cohort: Path,
    out: Path,
    launches: str = "all",
    vocabulary: str | None = None,
    device: str = "cpu",
    overwrite: bool = False,
) -> None:
    """Ask a simulator at every launch what comes next; nothing it says is fed back.

    `edsim score FILE --cohort C` then says how good the predictions are.

    Parameters
    ----------
    producer
        A simulator as in `edsim rollout`; not one that runs by itself, such as the oracle.
    cohort
        A cohort made by `edsim cohort build`.
    out
        File to write, such as ngram3.predictions.parquet.
    launches
        Launch set: all, matched-N, triage, late, long-prefix, val-N.
    vocabulary
        Vocabulary to predict in; the cohort's first by default.
    device
        Where a model runs: cpu, or cuda.
    overwrite
        Replace the file if it is there.
    """
    from edsim.errors import BadInputError, OutputError
    from edsim.lab.cohort import open_cohort
    from edsim.lab.few_people import few_people
    from edsim.lab.predictions import kept_predictions, write
    from edsim.tables.predictions import SUFFIX

    if not out.name.endswith(SUFFIX):
        raise BadInputError(f"a predictions file is named *{SUFFIX}, which '{out.name}' is not.")
    if out.exists() and not overwrite:
        raise OutputError(f"'{out}' is already there. Choose another --out, or use --overwrite.")
    opened = open_cohort(cohort)
    with shown_progress() as progress:
        made = kept_predictions(
            opened,
            producer,
            launches=launches,
            vocabulary=vocabulary,
            device=device,
            progress=progress,
        )
    write(made, out, opened)
    n, right = len(made), float((made.rank == 1).mean())
    few = few_people(opened, made.launches)
    said = "Few predictions" if few else f"{n:,} predictions, {right:.1%} of them right,"
    console.print(
        f"{said} written to {out}",
        markup=False,
        soft_wrap=True,
    )
