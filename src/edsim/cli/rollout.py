"""`edsim rollout`, `rollouts` and `check`: make rollouts, look at them, certify them."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from cyclopts import App

from edsim.cli.console import console
from edsim.cli.progress import shown_progress

rollouts = App(name="rollouts", help="Show rollouts files, or convert them.")


def rollout(
    producer: str | None = None,
    /,
    *,
    cohort: Path,
    out: Path | None = None,
    assemble: Path | None = None,
    launches: str = "matched-100k",
    rule: str = "vanilla",
    draws: int = 1,
    seed: int = 0,
    cap: int | None = None,
    vocabulary: str | None = None,
    clock: str | None = None,
    device: str = "cpu",
    batch: int | None = None,
    workers: int = 1,
    overwrite: bool = False,
) -> None:
    """Continue the visits of a cohort from every launch of a set, feeding on generated events.

    Finished parts are kept in a hidden folder beside the file until all are there: a command that
    was stopped, run again, makes only what is missing.

    Parameters
    ----------
    producer
        marginal, markov, ngram:2 to ngram:7, semi_markov, oracle, RECIPE@SEED such as gru@1
        (trained where it is missing), a checkpoint's path, blend:W:A+B (weight W of B), or a
        simulator of yours as module:object or file.py:object.
    cohort
        A cohort made by `edsim cohort build`.
    out
        File to write; .rollouts.parquet is added where it has no ending. By default named after
        the producer, here.
    assemble
        In place of a producer: a folder of shards made by `python -m edsim.rollout` elsewhere.
    launches
        Launch set: all, matched-N, triage, late, long-prefix, val-N.
    rule
        Decoding rule: vanilla, greedy, temperature=T, top_k=K, top_p=P, repetition_penalty=R,
        self_loop_cap=M, process_mask, or several joined by +.
    draws
        Continuations of each launch.
    seed
        Seed of the rollout's chance; training seeds are another matter.
    cap
        Most generated events, END included; the cohort's own by default.
    vocabulary
        Vocabulary to simulate in; the cohort's first by default.
    clock
        Where a neural simulator's gaps come from: median or sampled (regression heads), lattice
        (joint), bins (decoder); the first that its heads have by default.
    device
        Where a model is trained and runs: cpu, or cuda.
    batch
        Rows that run side by side; what suits by default. Changes speed and memory only.
    workers
        Processes that share the work; changes speed, never the result.
    overwrite
        Replace the file if it is there.
    """
    from edsim.cli.show_rollouts import FEW, show_rollouts
    from edsim.errors import BadInputError, OutputError
    from edsim.lab.assembling import assembled
    from edsim.lab.cohort import open_cohort
    from edsim.lab.few_people import few_people
    from edsim.lab.rollouts import RolloutSettings, roll_out_to

    if (producer is None) == (assemble is None):
        raise BadInputError("give either a producer, such as ngram:3, or --assemble with a folder.")
    out = _with_ending(out or Path(_as_file_name(producer or str(assemble))))
    if out.exists() and not overwrite:
        raise OutputError(f"'{out}' is already there. Choose another --out, or use --overwrite.")
    opened = open_cohort(cohort)
    settings = RolloutSettings(
        launches=launches,
        rule=rule,
        seed=seed,
        draws=draws,
        cap=cap,
        vocabulary=vocabulary,
        clock=clock,
        device=device,
        batch=batch,
        workers=workers,
    )
    with shown_progress() as progress:
        if assemble is not None:
            made = assembled(opened, assemble, out, vocabulary)
        else:
            assert producer is not None
            made = roll_out_to(opened, producer, out, settings, progress)
    show_rollouts(console, made, FEW if few_people(opened, made.launches) else "")
    console.print(f"\nWritten to {out}", markup=False, soft_wrap=True)


def _as_file_name(producer: str) -> str:
    """The producer's name without folders, and a dash for what no file's name should hold."""
    return "-".join(re.findall(r"[\w.]+", Path(producer).name)).strip(".-")


def _with_ending(out: Path) -> Path:
    """The file as later commands know it; text and other forms are converted from it."""
    from edsim.errors import BadInputError

    if out.name.endswith(".parquet"):
        return out
    if out.name.endswith((".csv", ".csv.gz")):
        raise BadInputError(
            f"'{out.name}': rollouts are made as .rollouts.parquet. Turn that into text with: "
            "edsim rollouts convert"
        )
    return out.with_name(f"{out.name}.rollouts.parquet")


@rollouts.command
def show(file: Path, /, *, cohort: Path | None = None) -> None:
    """Say what a rollouts file holds: who made it, how, and how its visits end.

    Parameters
    ----------
    file
        A .rollouts.parquet file.
    cohort
        The cohort its rollouts continue. Of restricted data nothing is counted without it: only
        the cohort knows how many subjects there are.
    """
    from edsim.cli.show_rollouts import FEW, UNKNOWN, show_rollouts
    from edsim.errors import BadInputError
    from edsim.tables.rollouts_file import read_rollouts

    if file.is_dir() or file.name.endswith((".csv", ".csv.gz")):
        raise BadInputError(
            f"'{file.name}' is {'a folder' if file.is_dir() else 'text'}, and this shows "
            ".rollouts.parquet files. Turn it into one with: edsim rollouts convert"
        )
    if cohort is None:
        rollouts = read_rollouts(file)
        show_rollouts(console, rollouts, UNKNOWN if rollouts.header.restricted else "")
        return
    from edsim.lab.cohort import open_cohort
    from edsim.lab.few_people import few_people
    from edsim.lab.rollouts_files import read_any

    opened = open_cohort(cohort)
    rollouts = read_any(file, opened)
    show_rollouts(console, rollouts, FEW if few_people(opened, rollouts.launches) else "")


@rollouts.command
def convert(
    source: Path,
    target: Path,
    /,
    *,
    cohort: Path,
    vocabulary: str | None = None,
    cap: int | None = None,
) -> None:
    """Convert between the Parquet file, long CSV and the MEDS trajectory schema.

    Parameters
    ----------
    source
        .rollouts.parquet, .csv or .csv.gz, or a folder of MEDS trajectories.
    target
        The file to write; its ending says the form. Without an ending: a folder of MEDS
        trajectories.
    cohort
        The cohort the rollouts continue.
    vocabulary
        Vocabulary of the token names, if the source does not say; the cohort's first by default.
    cap
        Most events of a row, if the source does not say; the cohort's own by default.
    """
    import warnings

    from edsim.lab.cohort import open_cohort
    from edsim.lab.few_people import few_people
    from edsim.lab.rollouts_files import read_any, write_any

    opened = open_cohort(cohort)
    with warnings.catch_warnings(record=True) as losses:
        warnings.simplefilter("always", UserWarning)
        table = read_any(source, opened, vocabulary, cap)
        write_any(table, target, opened)
    for loss in losses:
        print(f"note: {loss.message}", file=sys.stderr)
    n = "Few" if few_people(opened, table.launches) else f"{len(table):,}"
    console.print(f"{n} rollouts written to {target}", markup=False, soft_wrap=True)


def check(
    producer: str,
    /,
    *,
    cohort: Path,
    launches: str | None = None,
    vocabulary: str | None = None,
    cap: int | None = None,
    clock: str | None = None,
    device: str = "cpu",
) -> int:
    """Certify a simulator or a rollouts file: named checks, each with its reason.

    Exit code 1 if a check fails.

    Parameters
    ----------
    producer
        A producer as in `edsim rollout`, or a rollouts file (.parquet, .csv, .csv.gz).
    cohort
        A cohort made by `edsim cohort build`.
    launches
        Of a file: the launch set it has to hold in full.
    vocabulary
        Vocabulary to check in; the cohort's first by default.
    cap
        Of a simulator: most events of a row; the cohort's own by default.
    clock
        Of a neural simulator: median, sampled, lattice or bins, as in `edsim rollout`.
    device
        Where a model is trained and runs: cpu, or cuda.
    """
    from edsim.cli.show_rollouts import show_verdicts
    from edsim.lab.certify import certify
    from edsim.lab.cohort import open_cohort

    opened = open_cohort(cohort)
    with shown_progress() as progress:
        verdicts = certify(
            opened, producer, launches, vocabulary, cap, progress, clock=clock, device=device
        )
    show_verdicts(console, verdicts)
    return 1 if any(verdict.outcome == "fail" for verdict in verdicts) else 0
