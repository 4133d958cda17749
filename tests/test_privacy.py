from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from edsim.privacy import (
    Cell,
    hidden_parts,
    open_to_others,
    set_permissions,
    without_numbers,
    without_small_cells,
    without_small_counts,
    without_small_steps,
)
from edsim.tables.extract import Step


def steps_of(*counts: int) -> list[Step]:
    return [
        Step(rule=f"rule {i}", n_stays=n, n_subjects=n, n_events=10 * n)
        for i, n in enumerate(counts)
    ]


def test_a_single_small_cell_takes_its_smallest_neighbour_along() -> None:
    cells = [Cell("a", 900, 300), Cell("b", 40, 12), Cell("c", 9, 3)]
    shown, hidden = without_small_cells(cells)
    assert [cell.name for cell in shown] == ["a"]
    assert {cell.name for cell in hidden} == {"b", "c"}


def test_a_cell_of_nobody_hides_no_other() -> None:
    cells = [Cell("a", 900, 300), Cell("b", 40, 12), Cell("c", 9, 3), Cell("none", 0, 0)]
    assert [cell.name for cell in without_small_cells(cells)[0]] == ["a", "none"]


def test_two_small_cells_hide_each_other() -> None:
    cells = [Cell("a", 900, 300), Cell("b", 40, 12), Cell("c", 9, 3), Cell("d", 5, 5)]
    assert [cell.name for cell in without_small_cells(cells)[0]] == ["a", "b"]


def test_a_part_of_few_subjects_takes_another_part_along() -> None:
    parts = {
        name: {"stays": n, "subjects": n, "events": 10 * n}
        for name, n in {"train": 44, "val": 9, "test": 11}.items()
    }
    assert hidden_parts(parts, restricted=True) == {"val", "test"}
    assert hidden_parts(parts, restricted=False) == set()
    assert hidden_parts({"train": parts["train"], "test": parts["test"]}, restricted=True) == set()


def test_a_sentence_about_few_people_has_no_number_of_theirs() -> None:
    assert (
        without_numbers("1,204 of 1300 rows; mean 1.25e-03 minutes (expm1), top_k=3: 12.5% of 4")
        == "# of # rows; mean # minutes (expm1), top_k=3: #% of #"
    )


def test_ten_subjects_and_none_at_all_are_shown() -> None:
    cells = [Cell("a", 900, 10), Cell("b", 0, 0)]
    assert without_small_cells(cells) == (cells, [])


@pytest.mark.parametrize(
    "counts",
    [
        (100, 97, 50), (100, 50, 45), (100, 97), (100, 100, 97), (100, 99, 98, 97),
        (100, 50, 50, 45), (1000, 995, 900, 899, 500, 500, 491), (100, 60, 60, 60, 59),
    ],
)  # fmt: skip
def test_no_line_of_the_attrition_table_tells_a_small_loss(counts: tuple[int, ...]) -> None:
    shown = without_small_steps(steps_of(*counts))
    losses = [a.n_stays - b.n_stays for a, b in itertools.pairwise(shown)]
    assert all(loss == 0 or loss >= 10 for loss in losses)
    assert shown[-1].n_stays == counts[-1]
    rules = "; ".join(step.rule for step in shown).split("; ")
    assert rules == [f"rule {i}" for i in range(len(counts))]


@pytest.mark.parametrize(
    ("sentence", "shown"),
    [
        ("3 of 812 stays have no triage row.", "fewer than 10 of 812 stays have no triage row."),
        ("rows at or before arrival are kept (7 rows)", "rows at or before arrival are kept (fewer than 10 rows)"),
        ("13 of 812 stays", "13 of 812 stays"),
        ("1,003 rows and 1 row", "1,003 rows and fewer than 10 row"),
        ("1 acuity values of triage.csv", "fewer than 10 acuity values of triage.csv"),
        ("4 checks and medicine rows", "fewer than 10 checks and medicine rows"),
        ("2 launches, 3 rollouts", "fewer than 10 launches, fewer than 10 rollouts"),
        ("0 of 9 visits", "0 of fewer than 10 visits"),
        ("an acuity from 1 to 5; MIMICEL 2.1.0 rows", "an acuity from 1 to 5; MIMICEL 2.1.0 rows"),
    ],
)  # fmt: skip
def test_small_counts_in_sentences_are_said_roughly(sentence: str, shown: str) -> None:
    assert without_small_counts(sentence) == shown


def test_large_losses_are_left_as_they_are() -> None:
    steps = steps_of(100, 80, 80, 50)
    assert without_small_steps(steps) == steps


def test_restricted_files_are_for_the_owner_alone(tmp_path: Path) -> None:
    (tmp_path / "d" / "e").mkdir(parents=True)
    (tmp_path / "d" / "e" / "f").write_text("x")
    set_permissions(tmp_path / "d", restricted=False)
    assert open_to_others(tmp_path / "d")
    set_permissions(tmp_path / "d", restricted=True)
    assert open_to_others(tmp_path / "d") == []
