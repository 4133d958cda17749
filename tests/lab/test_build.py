from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from edsim.cohort.splits import SplitRule
from edsim.encoding.encode import encode
from edsim.errors import BadCohortError, BadInputError, OutputError
from edsim.lab.build import CohortSettings, build_cohort
from edsim.lab.check import check_cohort
from edsim.lab.cohort import Cohort, open_cohort
from edsim.progress import Progress
from edsim.sources.source import Source
from edsim.tables.extract import Extract
from made_up import extract_of


@dataclass(frozen=True, kw_only=True)
class Options:
    n: int = 120


def read(options: Options, progress: Progress) -> Extract:
    return extract_of([f"p{i // 2}" for i in range(options.n)])


SOURCE = Source(
    name="made-up",
    title="made-up visits",
    options=Options,
    read=read,
    restricted=True,
    vocabularies=("ed7", "ed32"),
)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("lab") / "cohort"
    build_cohort(SOURCE, Options(), out)
    return out


def test_a_built_cohort_passes_every_check(built: Path) -> None:
    findings = check_cohort(built)
    assert all(finding.passed for finding in findings), findings
    assert {f.name for f in findings} >= {"files", "content", "split", "encoded ed32"}


def test_tables_have_the_documented_columns(built: Path) -> None:
    stays = pl.read_parquet(built / "stays.parquet")
    events = pl.read_parquet(built / "events.parquet")
    assert stays.columns[:3] == ["stay_id", "subject_id", "split"]
    assert events.columns == ["stay_id", "position", "minutes", "activity", "detail", "flag"]
    assert events.schema["activity"] == pl.String
    assert events["position"].to_list()[:8] == [1, 2, 3, 4, 1, 2, 3, 4]
    assert stays["n_events"].sum() == events.height == 480


def test_arrays_are_readable_with_numpy_alone_and_end_every_stay(built: Path) -> None:
    tokens = np.load(built / "encoded" / "ed7" / "tokens.npy")
    offsets = np.load(built / "encoded" / "ed7" / "offsets.npy")
    assert (tokens[offsets[1:] - 1] == 0).all()
    assert tokens.dtype == np.int16 and len(tokens) == 480 + 120


def test_restricted_cohorts_are_for_their_owner_alone(built: Path) -> None:
    for path in [built, *built.rglob("*")]:
        assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("licence", ["", "  "])
def test_a_licence_without_a_name_lifts_nothing(licence: str) -> None:
    with pytest.raises(BadInputError, match="--open-data needs the name"):
        CohortSettings(open_data=licence)


def test_open_data_lifts_the_restriction_and_is_stored(tmp_path: Path) -> None:
    settings = CohortSettings(open_data="ODbL 1.0")
    manifest = build_cohort(SOURCE, Options(), tmp_path / "c", settings=settings)
    assert not manifest.restricted
    assert open_cohort(tmp_path / "c").manifest.open_data == "ODbL 1.0"


def test_same_input_same_bytes(built: Path, tmp_path: Path) -> None:
    build_cohort(SOURCE, Options(), tmp_path / "again")
    for path in sorted(p for p in built.rglob("*") if p.is_file()):
        assert path.read_bytes() == (tmp_path / "again" / path.relative_to(built)).read_bytes()


def test_launch_sets_are_stored_and_others_are_drawn(built: Path) -> None:
    cohort = open_cohort(built)
    every = {tuple(row) for row in cohort.launches("all")}
    some = {tuple(row) for row in cohort.launches("matched-7")}
    assert len(some) == 7 and some < every
    n_test = int((cohort.stays()["split"] == "test").sum())
    assert len(every) == 4 * n_test
    assert cohort.launches("triage")[:, 1].tolist() == [2] * n_test


def test_prefix_and_suffix_make_the_whole_visit(built: Path) -> None:
    visits = open_cohort(built).visits("ed32")
    launches = open_cohort(built).launches("all")
    prefixes, suffixes = visits.prefixes(launches), visits.suffixes(launches)
    for i in range(0, len(launches), 7):
        row, length = launches[i]
        whole = visits.tokens[visits.offsets[row] : visits.offsets[row + 1]]
        seen = prefixes.tokens[prefixes.offsets[i] : prefixes.offsets[i + 1]]
        assert [*seen, *suffixes.row(i)] == whole.tolist()
        assert len(seen) == length
    total = prefixes.elapsed_minutes() + suffixes.total_minutes()
    assert total == pytest.approx(90.0, abs=1e-4)


@pytest.mark.parametrize("position", ["first", "middle", "last"])
def test_a_single_flipped_byte_is_found_in_every_file(
    built: Path, tmp_path: Path, position: str
) -> None:
    import shutil

    for path in sorted(p.relative_to(built) for p in built.rglob("*") if p.is_file()):
        copy = tmp_path / "copy"
        shutil.copytree(built, copy)
        content = bytearray((copy / path).read_bytes())
        where = {"first": 0, "middle": len(content) // 2, "last": len(content) - 1}[position]
        content[where] ^= 1
        (copy / path).write_bytes(content)
        assert not all(finding.passed for finding in check_cohort(copy)), path
        shutil.rmtree(copy)


@pytest.mark.parametrize(
    ("file", "read"),
    [
        ("stays.parquet", Cohort.stays),
        ("events.parquet", Cohort.events),
        ("events.parquet", Cohort.scan_events),
        ("encoded/ed32/tokens.npy", lambda cohort: cohort.visits("ed32")),
        ("encoded/ed32/minutes.npy", lambda cohort: cohort.visits("ed32")),
        ("encoded/ed32/facts.npz", lambda cohort: cohort.visits("ed32")),
        ("encoded/split.npy", Cohort.visits),
        ("encoded/known.npz", Cohort.visits),
        ("launches/all.npy", lambda cohort: cohort.launches("all")),
    ],
)
def test_what_has_changed_is_refused_where_it_is_read(
    built: Path, tmp_path: Path, file: str, read: Callable[[Cohort], object]
) -> None:
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(built, copy)
    read(open_cohort(copy))
    content = bytearray((copy / file).read_bytes())
    content[len(content) // 2] ^= 1
    (copy / file).write_bytes(content)
    with pytest.raises(BadCohortError, match="is not as it was"):
        read(open_cohort(copy))


def test_missing_and_added_files_are_found(built: Path, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(built, tmp_path / "copy")
    (tmp_path / "copy" / "notes.txt").write_text("mine")
    (tmp_path / "copy" / "launches" / "late.npy").unlink()
    text = " ".join(finding.detail for finding in check_cohort(tmp_path / "copy"))
    assert "notes.txt" in text and "late.npy" in text


def test_a_cohort_that_lies_consistently_is_found(built: Path, tmp_path: Path) -> None:
    """Files and manifest agree, but the encoded visits are not those of the events."""
    import shutil

    from edsim.cohort.manifest import hash_files, read_manifest, write_manifest

    copy = tmp_path / "copy"
    shutil.copytree(built, copy)
    tokens = np.load(copy / "encoded" / "ed7" / "tokens.npy")
    tokens[1] = tokens[0]
    np.save(copy / "encoded" / "ed7" / "tokens.npy", tokens)
    write_manifest(dataclasses.replace(read_manifest(copy), files=hash_files(copy)), copy)
    failed = [finding.name for finding in check_cohort(copy) if not finding.passed]
    assert failed == ["encoded ed7"]


def test_what_is_there_is_not_replaced_unless_asked(built: Path) -> None:
    with pytest.raises(OutputError, match="--overwrite"):
        build_cohort(SOURCE, Options(), built)


def test_overwrite_replaces_the_whole_directory(tmp_path: Path) -> None:
    build_cohort(SOURCE, Options(), tmp_path / "c")
    (tmp_path / "c" / "stray").write_text("x")
    build_cohort(SOURCE, Options(n=90), tmp_path / "c", overwrite=True)
    assert open_cohort(tmp_path / "c").manifest.n_stays == 90
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c"]


def test_a_failing_source_leaves_nothing_and_keeps_what_was_there(tmp_path: Path) -> None:
    def broken(options: Options, progress: Progress) -> Extract:
        raise BadCohortError("no")

    build_cohort(SOURCE, Options(), tmp_path / "c")
    with pytest.raises(BadCohortError):
        build_cohort(
            dataclasses.replace(SOURCE, read=broken), Options(), tmp_path / "c", overwrite=True
        )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c"]
    assert open_cohort(tmp_path / "c").manifest.n_stays == 120


def test_the_cap_of_a_source_without_one_follows_the_rule(tmp_path: Path) -> None:
    def without(options: Options, progress: Progress) -> Extract:
        return dataclasses.replace(read(options, progress), cap=None)

    manifest = build_cohort(dataclasses.replace(SOURCE, read=without), Options(), tmp_path / "c")
    assert manifest.cap == 8  # four events and END are five


def test_the_other_vocabularies_of_a_cohort_do_not_change_its_hash(tmp_path: Path) -> None:
    few = build_cohort(SOURCE, Options(), tmp_path / "a")
    more = build_cohort(
        SOURCE, Options(), tmp_path / "b", settings=CohortSettings(vocabularies=("ed182",))
    )
    assert few.content_hash == more.content_hash
    assert list(more.vocabularies) == ["ed182"]


def test_another_split_is_another_cohort(tmp_path: Path) -> None:
    one = build_cohort(SOURCE, Options(), tmp_path / "a")
    two = build_cohort(
        SOURCE, Options(), tmp_path / "b", settings=CohortSettings(split=SplitRule(seed=5))
    )
    assert one.content_hash != two.content_hash


def test_a_vocabulary_that_is_not_there_is_named_before_anything_is_read(tmp_path: Path) -> None:
    def never(options: Options, progress: Progress) -> Extract:
        raise AssertionError("the source was read")

    with pytest.raises(Exception, match="ed33"):
        build_cohort(
            dataclasses.replace(SOURCE, read=never), Options(), tmp_path / "c",
            settings=CohortSettings(vocabularies=("ed33",)),
        )  # fmt: skip


def test_asking_for_a_vocabulary_the_cohort_lacks_says_how_to_get_it(built: Path) -> None:
    with pytest.raises(BadCohortError, match="--vocabulary ed182"):
        open_cohort(built).visits("ed182")


def test_something_else_than_a_cohort_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadCohortError, match="edsim cohort build"):
        open_cohort(tmp_path)
    (tmp_path / "cohort.json").write_text(json.dumps({"schema_version": 1}))
    with pytest.raises(BadCohortError, match="changed"):
        open_cohort(tmp_path)


def test_the_encoded_visits_are_those_of_the_events(built: Path) -> None:
    cohort = open_cohort(built)
    made, _ = encode(cohort.events(), 120, cohort.vocabulary("ed32"))
    assert np.array_equal(made.tokens, cohort.visits("ed32").tokens)


def test_a_file_in_the_way_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(OutputError, match="cannot be written"):
        build_cohort(SOURCE, Options(), tmp_path / "file" / "c")
