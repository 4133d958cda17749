"""`edsim cohort`: build one from a source, look at it, check it, export it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import App, Group, Parameter

from edsim.cli.console import console
from edsim.cli.progress import shown_progress
from edsim.sources import SOURCES
from edsim.sources.source import Source

cohort = App(name="cohort", help="Build, show, check and export cohorts.")
build = App(name="build", help="Build a cohort from a source (each has flags of its own).")
cohort.command(build)


@dataclass(frozen=True, kw_only=True)
class BuildFlags:
    """Flags that every source shares."""

    out: Path
    "Directory to make. It is there whole or not at all."
    split: Literal["auto", "subject", "temporal", "given"] = "auto"
    "By subject 70/15/15; by calendar period; as the data bring it; auto: as given, or by subject."
    split_seed: int = 0
    "Seed of the keyed hash that divides the subjects."
    train_until: int = 2013
    "Temporal split: last year of the training period."
    test_from: int = 2017
    "Temporal split: first year of the test period."
    vocabulary: tuple[str, ...] = ()
    "Vocabularies to encode with, by name or as a TOML file; the source's own by default."
    open_data: str | None = None
    'Say that the data are open, and under which licence ("ODbL 1.0"): lifts the restriction.'
    overwrite: bool = False
    "Replace the directory if it is there."


_SHARED = Group("Flags of every source", sort_key=2)


def _run_build(source: Source, options: Any, flags: BuildFlags) -> None:
    from edsim.cli.show import show_manifest
    from edsim.cohort.splits import SplitRule
    from edsim.lab.build import CohortSettings, build_cohort

    settings = CohortSettings(
        split=SplitRule(
            kind=flags.split,
            seed=flags.split_seed,
            train_until=flags.train_until,
            test_from=flags.test_from,
        ),
        vocabularies=flags.vocabulary,
        open_data=flags.open_data,
    )
    with shown_progress() as progress:
        manifest = build_cohort(
            source,
            options,
            flags.out,
            settings=settings,
            overwrite=flags.overwrite,
            progress=progress,
        )
    show_manifest(console, manifest)
    console.print(f"\nWritten to {flags.out}", markup=False, soft_wrap=True)
    console.print(f"More: edsim cohort show {flags.out}", markup=False, soft_wrap=True)


def _build_command(source: Source) -> Callable[..., None]:
    """The command of one source: its own options and the shared flags, side by side."""

    def command(options: Any = None, *, flags: Any) -> None:
        _run_build(source, source.options() if options is None else options, flags)

    group = Group(f"Flags of {source.name}", sort_key=1)
    own = Annotated[source.options, Parameter(name="*", group=group)]  # type: ignore[name-defined]
    command.__annotations__ = {
        "options": own,
        "flags": Annotated[BuildFlags, Parameter(name="*", group=_SHARED)],
        "return": None,
    }
    needed = [
        field
        for field in fields(source.options)
        if field.default is MISSING and field.default_factory is MISSING
    ]
    if needed:  # without a default for the whole, the command line asks for what is missing
        command.__defaults__ = None
    command.__doc__ = f"Build a cohort from {source.title}."
    command.__name__ = source.name
    return command


for _source in SOURCES.values():
    build.command(_build_command(_source), name=_source.name)


@cohort.command
def show(directory: Path, /, *, vocabulary: str | None = None) -> None:
    """Say what is in a cohort: its origin, who was left out, splits, launches, vocabularies.

    Published figures stand beside ours where the source has them. Of data under a use agreement
    no cell of fewer than ten subjects is shown.

    Parameters
    ----------
    directory
        A cohort made by `edsim cohort build`.
    vocabulary
        Also tell what each rule of this vocabulary caught, and what no written rule fits.
    """
    from edsim.cli.show import show_cohort
    from edsim.lab.cohort import open_cohort

    show_cohort(console, open_cohort(directory), vocabulary)


@cohort.command
def check(directory: Path, /) -> int:
    """Verify all of a cohort: every file's hash, the tables' contract, splits, encodings, launches.

    Exit code 1 if anything is wrong.

    Parameters
    ----------
    directory
        A cohort made by `edsim cohort build`.
    """
    from edsim.cli.show import show_checks
    from edsim.errors import BadInputError
    from edsim.lab.check import check_cohort

    if not directory.is_dir():
        raise BadInputError(f"there is no folder '{directory}', so there is no cohort to check.")
    with shown_progress() as progress:
        findings = check_cohort(directory, progress)
    show_checks(console, findings)
    return 0 if all(finding.passed for finding in findings) else 1


@cohort.command
def launches(
    directory: Path,
    /,
    *,
    launches: str | None = None,
    csv: bool = False,
    out: Path | None = None,
    vocabulary: str | None = None,
) -> None:
    """List the launch sets, or write the prefixes of one for another tool to continue.

    The text has the columns stay_id, prefix_length, position, activity (token name) and minutes
    (gap before the event), one row per event of each prefix.

    Parameters
    ----------
    directory
        A cohort made by `edsim cohort build`.
    launches
        With --csv: the launch set, such as triage, all, or matched-N for any N; matched-1000 if
        none is named.
    csv
        Write the prefixes as comma-separated text, to standard output or to --out.
    out
        File to write; compressed if its name ends in .gz.
    vocabulary
        Vocabulary of the token names; the cohort's first by default.
    """
    from edsim.cli.show import show_launches
    from edsim.errors import BadInputError
    from edsim.lab.cohort import open_cohort
    from edsim.lab.export import write_prefixes
    from edsim.privacy import hidden_parts

    opened = open_cohort(directory)
    if not csv and out is None:
        if launches is not None:
            raise BadInputError(
                f"nothing was asked of launch set '{launches}': --csv writes its prefixes."
            )
        show_launches(console, opened.manifest)
        return
    name = launches or "matched-1000"
    with shown_progress() as progress:
        n = write_prefixes(opened, name, out, vocabulary=vocabulary, progress=progress)
    if out is not None:
        split = opened.manifest.split["parts"]
        hidden = hidden_parts(split, restricted=opened.manifest.restricted)
        how_many = "Some" if hidden else f"{n:,}"
        console.print(f"{how_many} prefixes written to {out}", markup=False, soft_wrap=True)


@cohort.command
def coverage(
    directory: Path,
    /,
    *,
    orders: int = 7,
    vocabulary: str | None = None,
    json: Path | None = None,
) -> None:
    """Count the contexts of the training split by order, and how much of the test they cover.

    Parameters
    ----------
    directory
        A cohort made by `edsim cohort build`.
    orders
        Highest order, up to 7.
    vocabulary
        Vocabulary of the events; the cohort's first by default.
    json
        A file for the same as a score sheet, such as coverage.scores.json.
    """
    from edsim.cli.show_rollouts import show_coverage
    from edsim.lab.cohort import open_cohort
    from edsim.lab.coverage_sheet import coverage_sheet
    from edsim.lab.producers import coverage_of
    from edsim.tables.scores import write_sheet

    opened = open_cohort(directory)
    with shown_progress() as progress:
        lines = coverage_of(opened, orders, vocabulary, progress)
    show_coverage(console, lines)
    if json is not None:
        write_sheet(coverage_sheet(opened, lines, vocabulary), json)
        console.print(f"Written to {json}", markup=False, soft_wrap=True)


@cohort.command
def export(directory: Path, /, *, meds: Path) -> None:
    """Write a cohort as a MEDS 0.4 dataset; `edsim cohort build meds` reads it back.

    Parameters
    ----------
    directory
        A cohort made by `edsim cohort build`.
    meds
        Directory to make.
    """
    from edsim.lab.cohort import open_cohort
    from edsim.lab.export import export_meds

    with shown_progress() as progress:
        export_meds(open_cohort(directory), meds, progress)
    console.print(f"Written to {meds}", markup=False, soft_wrap=True)
