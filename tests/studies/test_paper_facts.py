"""What tables say of cohorts, and what they must not say of one whose data are restricted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from edsim.cohort.manifest import hash_file
from edsim.errors import BadCohortError
from edsim.lab.build import build_cohort
from edsim.lab.cohort import Cohort, open_cohort
from edsim.metrics.score_rows import SMALL
from edsim.sources import SOURCES
from edsim.studies.paper import facts
from edsim.studies.paper.book import Book
from edsim.studies.paper.cohorts import panels as cohort_panels
from edsim.studies.paper.harness import panels as harness_panels
from edsim.studies.paper.launch_context import panels as context_panels
from edsim.studies.paper.scales import SMOKE
from edsim.studies.results import Results
from edsim.studies.runs import Run
from edsim.tables.facts import VocabularyFacts
from edsim.tables.paper import Panel
from edsim.tables.scores import ScoreRow


@pytest.fixture(scope="module")
def cohort(tmp_path_factory: pytest.TempPathFactory) -> Cohort:
    folder = tmp_path_factory.mktemp("facts") / "C"
    build_cohort(SOURCES["synthetic"], SOURCES["synthetic"].options(stays=500), folder)
    return open_cohort(folder)


def restricted(cohort: Cohort, **more: object) -> Cohort:
    return Cohort(cohort.directory, replace(cohort.manifest, restricted=True, **more))  # type: ignore[arg-type]


def book_of(cohort: Cohort) -> Book:
    return Book(Results(cohort, temporal=cohort, external=cohort), SMOKE)


def stays_with_a_discharge_behind(cohort: Cohort, run: Run) -> tuple[set[int], set[int]]:
    visits, discharges = cohort.visits(), set(cohort.vocabulary().discharges)
    launches = np.asarray(cohort.launches(run.launches)).tolist()
    behind = [
        bool(discharges & set(visits.tokens[visits.offsets[stay] :][:length].tolist()))
        for stay, length in launches
    ]
    some = {stay for (stay, _), has in zip(launches, behind, strict=True) if has}
    return some, {stay for (stay, _), has in zip(launches, behind, strict=True) if not has}


def test_launches_of_few_subjects_are_not_counted_of_restricted_data(cohort: Cohort) -> None:
    seen = set()
    for n in (20, 60, 400, 1_200):
        run = Run(producer="ngram:3", launches=f"matched-{n}")
        some, others = stays_with_a_discharge_behind(cohort, run)
        subjects = cohort.stays()["subject_id"].to_list()
        sizes = [len({subjects[stay] for stay in side}) for side in (some, others)]
        hidden = any(0 < size < 10 for size in sizes)
        counted, why = facts.discharged_before(book_of(cohort), run)
        assert counted is not None and why == ""
        expected = (None, SMALL) if hidden else (counted, "")
        assert facts.discharged_before(book_of(restricted(cohort)), run) == expected
        if hidden:
            with pytest.raises(BadCohortError, match="fewer than 10 subjects"):
                facts.share_discharged_before(book_of(restricted(cohort)), run)
        seen.add(hidden)
    assert seen == {True, False}


def test_launches_that_can_only_end_are_counted_in_subjects_too(
    cohort: Cohort, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With each token in turn as the one that nothing follows."""
    real = VocabularyFacts.open(cohort.encoded("ed32"))
    run, hidden = Run(producer="ngram:3", launches="matched-400"), set()
    for token in range(1, len(real.tokens)):
        transitions = np.ones_like(real.transitions)
        transitions[token] = 0
        ends = replace(real, transitions=transitions)
        monkeypatch.setattr(VocabularyFacts, "open", lambda _, ends=ends: ends)
        counted, _ = facts.only_end_allowed(book_of(cohort), run)
        found = facts.only_end_allowed(book_of(restricted(cohort)), run)
        assert counted is not None and found in ((None, SMALL), (counted, ""))
        assert found == (None, SMALL) or not 0 < counted < 10
        hidden.add(found[0] is None)
    assert hidden == {True, False}


def test_long_visits_of_few_subjects_are_no_share_of_restricted_data(cohort: Cohort) -> None:
    n_events = np.sort(cohort.stays()["n_events"].to_numpy())
    for behind, shown in ((3, False), (60, True)):
        most = int(n_events[-behind - 1])
        assert facts.share_longer_than(book_of(cohort), most, "main")[0]
        found, why = facts.share_longer_than(book_of(restricted(cohort)), most, "main")
        assert (found is not None) == shown and (why == "") == shown


def values(panels: list[Panel]) -> dict[tuple[str, str], tuple[tuple[float, ...], str]]:
    return {(c.row, c.column): (c.ours, c.note) for panel in panels for c in panel.cells}


def without_triage(cohort: Cohort, n: int, folder: Path) -> Cohort:
    """The same cohort with n test stays taken from its launches at triage."""
    (folder / "launches").mkdir(parents=True)
    for path in cohort.directory.iterdir():
        if path.name not in ("launches", "artifacts"):
            (folder / path.name).symlink_to(path)
    at_triage = np.asarray(cohort.launches("triage"))
    np.save(folder / "launches" / "all.npy", cohort.launches("all"))
    np.save(folder / "launches" / "triage.npy", at_triage[n:])
    said = {**cohort.manifest.launches, "triage": {"n": len(at_triage) - n, "wanted": 1}}
    files = {k: v for k, v in cohort.manifest.files.items() if not k.startswith("launches/")}
    for name in ("all", "triage"):
        files[f"launches/{name}.npy"] = hash_file(folder / "launches" / f"{name}.npy")
    return Cohort(folder, replace(cohort.manifest, launches=said, files=files))


def test_the_few_test_stays_without_acuity_are_told_by_no_cell(
    cohort: Cohort, tmp_path: Path
) -> None:
    few = without_triage(cohort, 4, tmp_path / "few")
    open_counts = facts.launch_counts(book_of(few))
    assert open_counts.triage == len(few.launches("triage")) and open_counts.note == ""
    closed = facts.launch_counts(book_of(restricted(few)))
    assert closed == facts.LaunchCounts(open_counts.launches, None, open_counts.stays, SMALL)
    cells = values(context_panels(book_of(restricted(few))))
    for row, column in (
        ("Triage launches", "Number"),
        ("Test stays with acuity", "Share"),
        ("Non-triage launches", "Number"),
        ("Non-triage launches", "Share"),
    ):
        assert cells[row, column] == ((), SMALL)
    many = without_triage(cohort, 30, tmp_path / "many")
    assert facts.launch_counts(book_of(restricted(many))).triage == len(many.launches("triage"))


def test_a_small_part_of_the_split_is_not_counted_nor_one_beside_it(cohort: Cohort) -> None:
    parts = {name: dict(counts) for name, counts in cohort.manifest.split["parts"].items()}
    parts["test"] |= {"subjects": 7, "stays": 8}
    small = restricted(cohort, split={**cohort.manifest.split, "parts": parts})
    cells = values(cohort_panels(book_of(small)))
    for key in (
        ("MIMIC", "Test stays"),
        ("MIMIC", "Test prefixes"),
        ("Split", "Test"),
        ("Split", "Validation"),
    ):
        assert cells[key] == ((), SMALL), key
    assert cells["Split", "Train"][0] and cells["MIMIC", "Stays"][0]


def test_a_few_stays_that_were_left_out_are_not_told_by_a_difference(cohort: Cohort) -> None:
    first = replace(cohort.manifest.attrition[0], n_stays=cohort.manifest.n_stays + 3)
    lost = restricted(cohort, attrition=(first, *cohort.manifest.attrition[1:]))
    cells = values(cohort_panels(book_of(lost)))
    assert cells["MC-MED", "Stays before eligibility"] == ((), SMALL)
    assert values(cohort_panels(book_of(cohort)))["MC-MED", "Stays before eligibility"][0]


def test_what_a_difference_would_tell_is_not_shown_either(
    cohort: Cohort, monkeypatch: pytest.MonkeyPatch
) -> None:
    from edsim.studies.paper import harness

    def refused(book: Book, run: Run) -> float:
        raise BadCohortError(SMALL)

    class Empty(Book):
        def score(self, run: Run, metric: str, **more: object) -> ScoreRow:  # type: ignore[override]
            return ScoreRow(metric=metric, value=None, note="not asked here")

        def score_with(self, run: Run, defect: str, metric: str) -> ScoreRow:
            return ScoreRow(metric=metric, value=0.5)

    monkeypatch.setattr(harness, "share_discharged_before", refused)
    book = Empty(Results(cohort, external=cohort), SMOKE)
    (panel,) = [p for p in harness_panels(book) if p.title.endswith("external site")]
    cells = values([panel])
    assert cells["RD", "Earlier"] == ((), SMALL)
    assert cells["Launches already discharged, percent", "Observed"] == ((), SMALL)
