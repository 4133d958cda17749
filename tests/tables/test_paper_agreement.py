"""How our numbers are judged beside the paper's, worked by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from edsim.tables.paper import Panel, PaperCell, PaperValue
from edsim.tables.paper_agreement import AGREEMENTS, line_orders, with_agreement


def printed(value: str, unit: str = "share") -> PaperValue:
    return PaperValue(label="t", row="", column="", value=value, population="", unit=unit)


def cell(row: str, ours: float | None, paper: str | None, **said: object) -> PaperCell:
    made = PaperCell(
        row=row,
        column="Term.",
        ours=() if ours is None else (ours,),
        theirs=None if paper is None else printed(paper),
    )
    return replace(made, **said)  # type: ignore[arg-type]


def agreements(*cells: PaperCell, comparable: bool) -> list[str]:
    judged = with_agreement(Panel(cells=cells), comparable=comparable)
    return [one.agreement for one in judged.cells]


def test_numbers_of_the_papers_data_that_meet_within_rounding_are_the_same() -> None:
    assert agreements(cell("a", 0.4344, "0.434"), comparable=True) == ["same"]
    assert agreements(cell("a", 0.4351, "0.434"), comparable=True) == ["differs"]


def test_an_interval_of_ours_that_holds_the_papers_number_is_the_same() -> None:
    near = cell("a", 0.45, "0.434", low=0.43, high=0.47)
    assert agreements(near, comparable=True) == ["same"]
    assert agreements(replace(near, low=0.44), comparable=True) == ["differs"]


def test_the_same_number_of_other_data_is_no_agreement_by_itself() -> None:
    assert agreements(cell("a", 0.434, "0.434"), comparable=False) == [""]


def test_on_other_data_rows_that_keep_the_papers_order_agree_in_it() -> None:
    rows = [cell("a", 0.1, "0.434"), cell("b", 0.2, "0.599")]
    assert agreements(*rows, comparable=False) == ["same order", "same order"]


def test_one_row_on_the_wrong_side_differs_and_so_does_the_one_it_passed() -> None:
    rows = [cell("a", 0.3, "0.434"), cell("b", 0.2, "0.599"), cell("c", 0.9, "0.999")]
    assert agreements(*rows, comparable=False) == ["differs", "differs", "same order"]


def test_rows_that_our_spread_cannot_set_apart_are_undecided() -> None:
    rows = [
        cell("a", 0.3, "0.434", low=0.1, high=0.5),
        cell("b", 0.4, "0.599", low=0.2, high=0.6),
    ]
    assert agreements(*rows, comparable=False) == ["undecided", "undecided"]


def test_rows_that_the_papers_rounding_cannot_set_apart_have_no_order() -> None:
    rows = [cell("a", 0.9, "0.442"), cell("b", 0.1, "0.442")]
    assert agreements(*rows, comparable=False) == ["", ""]


def test_missing_numbers_get_no_verdict() -> None:
    rows = [cell("a", None, "0.434"), cell("b", 0.2, None)]
    assert agreements(*rows, comparable=True) == ["", ""]


def test_seeds_of_one_recipe_are_held_against_the_papers_range_and_have_no_order() -> None:
    seeds = [
        cell("T 1", 0.90, "0.432", alike="T"),
        cell("T 2", 0.50, "0.901", alike="T"),
        cell("L 1", 0.20, "0.300", alike="L"),
    ]
    assert agreements(*seeds, comparable=True) == ["same", "same", "same order"]
    assert line_orders(Panel(cells=tuple(seeds)))["Term."].n_pairs == 1


def test_pairs_of_a_column_are_counted_once() -> None:
    rows = [cell("a", 1.0, "1"), cell("b", 2.0, "3"), cell("c", 1.5, "5")]
    order = line_orders(Panel(cells=tuple(rows)))["Term."]
    assert (order.kept, order.turned, order.open) == (2, 1, 0)


def test_a_column_in_megabytes_and_gigabytes_has_one_unit() -> None:
    assert printed("1.27", "GB").spread().middle == pytest.approx(1270.0)
    large = replace(cell("7", 1270.0, None), theirs=printed("1.27", "GB"))
    small = replace(cell("6", 660.0, None), theirs=printed("660", "MB"))
    assert agreements(large, small, comparable=True) == ["same", "same"]


def test_what_was_chosen_has_no_verdict_and_no_order() -> None:
    seeds = [
        replace(cell("a", 2.0, None), theirs=printed("7", "setting")),
        replace(cell("b", 1.0, None), theirs=printed("3", "setting")),
    ]
    for comparable in (True, False):
        assert agreements(*seeds, comparable=comparable) == ["", ""]
    assert line_orders(Panel(cells=tuple(seeds)))["Term."].n_pairs == 0


def test_numbers_of_another_unit_have_no_order() -> None:
    rows = [
        replace(cell("LOS MAE", 300.0, None), theirs=printed("621", "minutes")),
        replace(cell("Rank correlation", 0.4, None), theirs=printed("-0.16", "rank correlation")),
    ]
    assert agreements(*rows, comparable=False) == ["", ""]
    assert line_orders(Panel(cells=tuple(rows)))["Term."].n_pairs == 0


def placed(row: str, column: str, ours: float, paper: str) -> PaperCell:
    return PaperCell(row=row, column=column, ours=(ours,), theirs=printed(paper))


def test_before_and_after_are_compared_along_their_row() -> None:
    cells = (
        placed("Termination", "Earlier", 0.2, "0.564"),
        placed("Termination", "Corrected", 0.7, "0.905"),
        placed("Non-termination", "Earlier", 0.1, "0.436"),
        placed("Non-termination", "Corrected", 0.3, "0.095"),
    )
    along = with_agreement(Panel(cells=cells, along_rows=True), comparable=False)
    found = [one.agreement for one in along.cells]
    assert found == ["same order", "same order", "differs", "differs"]
    orders = line_orders(along)
    assert {name: (one.kept, one.turned) for name, one in orders.items()} == {
        "Termination": (1, 0),
        "Non-termination": (0, 1),
    }


def test_a_number_that_can_be_no_other_has_no_verdict_but_a_place_in_the_order() -> None:
    one = printed("1", "times order-3")
    rows = [
        replace(cell("order 3", 1.0, None), theirs=replace(one, note="by definition")),
        replace(cell("T", 9.0, None), theirs=printed("136", "times order-3")),
    ]
    assert agreements(*rows, comparable=True) == ["", "same order"]
    assert agreements(*rows, comparable=False) == ["", "same order"]
    assert line_orders(Panel(cells=tuple(rows)))["Term."].kept == 1


def test_every_verdict_is_explained() -> None:
    assert set(AGREEMENTS) == {"same", "same order", "undecided", "differs"}
