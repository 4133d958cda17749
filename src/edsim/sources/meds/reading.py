"""From a MEDS dataset to an `Extract`, shard by shard.

Rows without a time (static), without a visit, and the births and deaths that MEDS reserves codes
for are no events of a visit: they are left out and counted. Sex and age are taken from them where
they are written in the usual codes.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from edsim.errors import BadInputError
from edsim.progress import Progress
from edsim.sources.assemble import number_stays, order_numbered, stay_numbers
from edsim.sources.meds import layout
from edsim.sources.meds.dataset import Dataset, open_dataset
from edsim.sources.meds.options import MedsOptions
from edsim.sources.meds.shards import Columns, Shard, read_shard
from edsim.tables.extract import STAY_COLUMNS, Extract, Step

if TYPE_CHECKING:
    import polars as pl

USUAL_VISITS = ("stay_id", "visit_id", "encounter_id", "csn")


def read(options: MedsOptions, progress: Progress) -> Extract:
    """Every visit of the dataset as a stay."""
    dataset = open_dataset(options.directory)
    columns = _columns(dataset, options)
    progress.stage("reading the shards", len(dataset.shards), "files")
    shards = []
    for path in dataset.shards:
        shards.append(read_shard(dataset, path, columns))
        progress.advance(1)
    progress.stage("putting events in order")
    counts, stays, events = _joined(shards, columns)
    facts = dataset.facts()
    stays, notices = _with_attributes(stays, dataset)
    stays = number_stays(stays.drop("subject"), name="the dataset")
    events = _ordered(events, shards, stays)
    discharges = options.discharge or tuple(facts.get("discharges", ()))
    _check_discharges(events, options.discharge)
    notices = [*_choices(columns, options), *notices]
    return Extract(
        source="meds",
        version="MEDS 0.4 dataset",
        stays=stays,
        events=events,
        steps=_steps(counts, stays, events),
        raw_files=dataset.raw_files(progress),
        options=_settings(columns, options, discharges),
        notices=tuple(notices),
        triage_activity=facts.get("triage_activity"),
        discharges=discharges,
        cap=facts.get("cap"),
        time_of_day=options.local_times or bool(facts.get("time_of_day", False)),
    )


def _columns(dataset: Dataset, options: MedsOptions) -> Columns:
    """Which columns say what, by flag or because they are the ones that `export` writes."""
    own = all(name in dataset.columns for name in ("activity", "detail", "flag"))
    by_default = {name: name if own else None for name in ("activity", "detail", "flag")}
    named = {name: getattr(options, name) or column for name, column in by_default.items()}
    return Columns(
        visit=None if options.subject_is_visit else _visit(dataset, options.visit),
        position=layout.POSITION if layout.POSITION in dataset.columns and own else None,
        source_subject=layout.SOURCE_SUBJECT if layout.SOURCE_SUBJECT in dataset.columns else None,
        **named,
    )


def _visit(dataset: Dataset, given: str | None) -> str:
    if given is not None:
        return given
    found = [column for column in dataset.columns if column.lower() in USUAL_VISITS]
    if len(found) == 1:
        return found[0]
    what = "several columns that could name the visit" if found else "no column with a usual name"
    raise BadInputError(
        f"the dataset has {what} for the visit; it has {', '.join(dataset.columns)}. Say which "
        "with --visit, or take every subject as one visit with --subject-is-visit."
    )


def _joined(
    shards: list[Shard], columns: Columns
) -> tuple[dict[str, int], pl.DataFrame, pl.DataFrame]:
    """All shards as one: what was left out, one row a visit, and the events."""
    import polars as pl

    subjects = pl.concat(shard.subjects for shard in shards)
    n_torn = len(subjects) - subjects.n_unique()
    if n_torn:
        raise BadInputError(
            f"{n_torn} of {subjects.n_unique()} subjects are in more than one file of data/. MEDS "
            "has every subject in one file: write the dataset again."
        )
    counts = {name: sum(shard.counts[name] for shard in shards) for name in shards[0].counts}
    stays = pl.concat(shard.stays for shard in shards)
    if stays.is_empty():
        raise BadInputError(
            f"the dataset holds no event of a visit: of {counts['rows']} rows {counts['static']} "
            f"have no time and {counts['no_visit']} no visit."
        )
    n_double = stays.height - stays["stay_id"].n_unique()
    if n_double:
        raise BadInputError(
            f"{n_double} visits belong to more than one subject (column '{columns.visit}'). Is it "
            "the right column?"
        )
    return counts, stays, pl.concat(shard.events for shard in shards)


def _with_attributes(stays: pl.DataFrame, dataset: Dataset) -> tuple[pl.DataFrame, list[str]]:
    """The visits with what the metadata know of them, and with their part of the split."""
    import polars as pl

    notices: list[str] = []
    given = dataset.table(layout.STAYS_FILE, STAY_COLUMNS[:1] + STAY_COLUMNS[2:-1])
    if given is not None:
        stays = stays.select("stay_id", "subject", "subject_id").join(
            given.with_columns(pl.col("stay_id").cast(pl.String)), on="stay_id", how="left"
        )
        n_unknown = stays["arrival"].null_count()
        if n_unknown or given.height != stays.height:
            raise BadInputError(
                f"{layout.STAYS_FILE} does not fit data/: {n_unknown} visits are not in it, and it "
                f"has {given.height} rows for {stays.height} visits. Write the dataset again."
            )
    splits = dataset.table(layout.SPLITS_FILE, ("subject_id", "split"))
    if splits is not None:
        stays, n_other = _with_split(stays, splits)
        if n_other:
            notices.append(
                f"{n_other} of {stays.height} visits are in no part called train, tuning or "
                f"held_out in {layout.SPLITS_FILE}; they have no part of the given split."
            )
    return stays, notices


def _with_split(stays: pl.DataFrame, splits: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    import polars as pl

    n_double = splits.height - splits["subject_id"].n_unique()
    if n_double:
        raise BadInputError(
            f"{n_double} subjects stand more than once in {layout.SPLITS_FILE}. A subject belongs "
            "to one part of the split."
        )
    ours = {theirs: name for name, theirs in layout.MEDS_SPLITS.items()}
    splits = splits.select(
        pl.col("subject_id").alias("subject"),
        pl.col("split").cast(pl.String).replace_strict(ours, default=None).alias("split"),
    )
    joined = stays.join(splits, on="subject", how="left", maintain_order="left")
    return joined, joined["split"].null_count()


def _ordered(events: pl.DataFrame, shards: list[Shard], stays: pl.DataFrame) -> pl.DataFrame:
    """The events under the final numbers of their stays, times as minutes since arrival."""
    import polars as pl

    final = stay_numbers(pl.concat(shard.stays["stay_id"] for shard in shards), stays["stay_id"])
    first = 0
    numbers = []
    for shard in shards:
        numbers.append(final.slice(first, shard.stays.height).gather(shard.events["visit"]))
        first += shard.stays.height
    numbered = events.with_columns(pl.concat(numbers).alias("stay"))
    return order_numbered(numbered, stays, ties=("position",))


def _check_discharges(events: pl.DataFrame, discharges: tuple[str, ...]) -> None:
    known = set(events["activity"].unique().cast(str).to_list())
    unknown = [activity for activity in discharges if activity not in known]
    if unknown:
        raise BadInputError(
            f"the dataset has no activity {', '.join(map(repr, unknown))}, which --discharge "
            "names. Names are compared letter by letter."
        )


def _choices(columns: Columns, options: MedsOptions) -> list[str]:
    said = []
    if columns.visit is not None and options.visit is None:
        said.append(f"the visit is the column '{columns.visit}' (another one: --visit).")
    if columns.activity is None:
        said.append("the activity is what stands before the first // of a code.")
    return said


def _steps(counts: dict[str, int], stays: pl.DataFrame, events: pl.DataFrame) -> tuple[Step, Step]:
    said = {
        "static": "without a time",
        "no_visit": "without a visit",
        "reserved": "of birth or death",
    }
    found = [f"{counts[name]} rows {what}" for name, what in said.items() if counts[name]]
    left_out = f"left out: {', '.join(found)}" if found else ""
    n_stays, n_subjects = stays.height, stays["subject_id"].n_unique()
    return (
        Step(
            rule="rows of the dataset",
            n_stays=n_stays,
            n_subjects=counts["subjects"],
            n_events=counts["rows"],
        ),
        Step(
            rule="events of a visit",
            n_stays=n_stays,
            n_subjects=n_subjects,
            n_events=events.height,
            note=left_out,
        ),
    )


def _settings(
    columns: Columns, options: MedsOptions, discharges: tuple[str, ...]
) -> dict[str, Any]:
    return asdict(columns) | {"discharge": discharges, "local_times": options.local_times}
