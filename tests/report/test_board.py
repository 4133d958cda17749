"""Ranks, drawings and sentences of the board follow the scores."""

from __future__ import annotations

from edsim.report.board import board_of, ranks_by
from edsim.report.criteria import CRITERIA, loss_interval, shown_interval
from edsim.report.entries import entries_of
from edsim.report.finding import finding, firmness, verdict
from edsim.report.theme import STAR, series
from edsim.tables.scores import ScoreSheet
from report.made_up_report import predicted, row, sheet

MIX = next(one for one in CRITERIA if one.metric == "jsd")
DURATION = next(one for one in CRITERIA if one.metric == "duration_ratio")
ENDING = next(one for one in CRITERIA if one.metric == "termination")


def say(*sheets: ScoreSheet, open_loop: tuple[ScoreSheet, ...] = ()) -> str:
    return finding(board_of(entries_of(sheets, open_loop)))


def test_a_rank_is_by_distance_and_the_oracle_has_none() -> None:
    entries = entries_of(
        [
            sheet("near", jsd=0.001, duration=1.3),
            sheet("far", jsd=0.1, duration=0.95),
            sheet("oracle", jsd=0.0001, duration=1.0, privileged=True),
        ]
    )
    assert [entry.label for entry in entries] == ["far", "near", "oracle"]
    assert ranks_by(MIX, entries) == [2, 1, None]
    assert ranks_by(DURATION, entries) == [1, 2, None]
    board = board_of(entries)
    assert [line.entry.label for line in board.lines] == ["near", "far", "oracle"]
    assert board.first == "jsd"


def test_equal_losses_share_a_rank() -> None:
    entries = entries_of([sheet("a", jsd=0.01), sheet("b", jsd=0.01), sheet("c", jsd=0.02)])
    assert ranks_by(MIX, entries) == [1, 1, 3]


def test_an_interval_that_overlaps_the_first_is_marked() -> None:
    board = board_of(
        entries_of([sheet("a", jsd=0.010), sheet("b", jsd=0.011), sheet("c", jsd=0.5)])
    )
    cells = {line.entry.label: line.cells["jsd"] for line in board.lines}
    assert (cells["a"].level, cells["b"].level, cells["c"].level) == (False, True, False)


def test_the_interval_of_a_divergence_is_drawn_where_the_raw_value_is() -> None:
    """The sheet takes the noise of .004 off; floor and reference are raw, so it is put back."""
    said = row("jsd", 0.010, corrected=0.006, low=0.005, high=0.008)
    interval = shown_interval(said)
    assert interval is not None
    assert [round(end, 6) for end in interval] == [0.009, 0.012]


def test_the_loss_interval_starts_at_zero_where_the_right_value_lies_inside() -> None:
    inside = row("duration_ratio", 1.0, low=0.8, high=1.25)
    beside = row("duration_ratio", 0.5, low=0.4, high=0.6)
    assert loss_interval(DURATION, inside) is not None
    assert loss_interval(DURATION, inside)[0] == 0.0  # type: ignore[index]
    low, high = loss_interval(DURATION, beside) or (0.0, 0.0)
    assert round(low, 3) == 0.511
    assert round(high, 3) == 0.916


def test_places_on_a_drawing_are_in_order_and_inside() -> None:
    board = board_of(entries_of([sheet("a", jsd=0.002), sheet("b", jsd=0.2)]))
    a, b = (line.cells["jsd"] for line in board.lines)
    assert a.at is not None and b.at is not None and a.reference is not None
    assert 0 <= a.at < a.reference < b.at <= 100
    ending = board.lines[0].cells["termination"]
    assert ending.target is not None and ending.zone is not None
    assert ending.zone[0] <= ending.target <= ending.zone[1]


def test_a_criterion_without_numbers_is_named_with_its_reason() -> None:
    few = sheet("a", rows=())
    rows = tuple(one for one in few.rows if one.metric != "crps")
    from dataclasses import replace

    note = "needs at least two draws of each launch"
    board = board_of(entries_of([replace(few, rows=(*rows, row("crps", None, note=note)))]))
    assert "crps" not in [one.metric for one in board.criteria]
    assert f"Forecast: {note}" in board.missing


def test_the_finding_is_the_gap_where_accuracies_are_alike_and_divergences_are_not() -> None:
    sheets = (sheet("gru@1", jsd=0.3, seed=1), sheet("ngram:3", jsd=0.01))
    alike = (predicted("gru@1", 0.57), predicted("ngram:3", 0.55))
    assert say(*sheets, open_loop=alike) == (
        "ngram:3 and gru@1 guess the next event almost equally often (55 % and 57 %), yet the visits "
        "that gru@1 generates are 30 times further from the record."
    )
    unlike = (predicted("gru@1", 0.7), predicted("ngram:3", 0.55))
    assert "guess" not in say(*sheets, open_loop=unlike)


def test_without_accuracies_the_finding_says_who_leads_in_what() -> None:
    said = say(sheet("mixed", jsd=0.001, duration=0.5), sheet("timely", jsd=0.1, duration=0.99))
    assert said == (
        "mixed is closest to the record on 3 of the 5 questions that tell the simulators apart; "
        "timely leads on duration and occupancy."
    )


def test_one_producer_or_only_the_oracle_still_has_a_finding() -> None:
    assert say(sheet("a", jsd=0.02, termination=0.5, duration=0.5)) == (
        "a: 50.0 % of its visits end; its event mix is .020 nats from the record, 2 times the "
        "order-3 model's distance; its visits are 50 % shorter than true ones."
    )
    assert "Only the oracle" in say(sheet("oracle", privileged=True))


def test_a_lead_that_chance_can_explain_is_said_to_be_one() -> None:
    close = (sheet("a", jsd=0.010, duration=0.8), sheet("b", jsd=0.011, duration=0.801))
    assert say(*close) == (
        "No simulator is clearly best: a comes first on 3 of the 5 questions that tell the "
        "simulators apart, each time within chance of another."
    )
    assert firmness(board_of(entries_of(close))) == "b comes first on duration and occupancy."
    apart = (sheet("a", jsd=0.001, duration=0.99), sheet("b", jsd=0.4, duration=0.2))
    assert say(*apart).startswith("a is closest to the record in all that tells them apart")
    assert firmness(board_of(entries_of(apart))) == (
        "Each lead stands clear of the next one's interval."
    )


def test_names_differ_and_seeds_of_a_recipe_are_one_family() -> None:
    entries = entries_of(
        [
            sheet("gru@1", seed=1),
            sheet("gru@2", seed=2),
            sheet("gru@1", seed=1, rule="top-k=4"),
            sheet("own"),
            sheet("own"),
            sheet("own", clock="median"),
        ]
    )
    assert [entry.label for entry in entries] == [
        "gru@1",
        "gru@1 · top-k=4",
        "gru@2",
        "own · sampled clock (1)",
        "own · sampled clock (2)",
        "own · median clock",
    ]
    assert [entry.family for entry in entries][:3] == ["gru", "gru · top-k=4", "gru"]
    assert entries[0].colour == entries[2].colour != entries[1].colour
    assert (entries[0].shape, entries[0].colour) != (entries[1].shape, entries[1].colour)


def test_the_oracle_has_a_look_of_its_own() -> None:
    (oracle,) = entries_of([sheet("oracle", privileged=True)])
    assert (oracle.shape, oracle.colour) == (STAR, series(0))


def test_a_verdict_is_what_diagnose_found_or_the_numbers() -> None:
    from edsim.tables.verdicts import Verdict

    found = Verdict(producer="a", fault="clock bias", sentence="Gaps are too long.")
    fine = Verdict(producer="a", fault="", sentence="Nothing found.")
    (one,) = entries_of([sheet("a", verdicts=(found,))])
    assert [(mark.sign, mark.fault) for mark in verdict(one)] == [("✕", "clock bias")]
    (one,) = entries_of([sheet("a", verdicts=(fine,))])
    assert [(mark.sign, mark.fault) for mark in verdict(one)] == [("✓", "no fault")]
    (one,) = entries_of([sheet("a")])
    assert verdict(one)[0].fault == "not diagnosed"
    assert "its event mix is .010 nats" in verdict(one)[0].sentence


def test_no_fault_is_no_tick_where_a_measure_is_clearly_off() -> None:
    from edsim.tables.verdicts import Verdict

    fine = Verdict(producer="a", fault="", sentence="Nothing found.")
    discharged = row("reached_discharge", 0.7, low=0.66, high=0.74, target="0.95")
    (one,) = entries_of([sheet("a", jsd=0.05, duration=0.5, verdicts=(fine,), rows=(discharged,))])
    (mark,) = verdict(one)
    assert (mark.sign, mark.fault) == ("◦", "no known fault")
    assert mark.sentence == (
        "Nothing found. Yet clearly off: discharge 70.0 % (right is 95.0 %); event mix .050 (order "
        "3: .010); order .15 (order 3: .030); duration .50 (right is 1.00)."
    )


def test_a_wide_interval_that_reaches_what_is_right_is_not_clearly_off() -> None:
    from edsim.tables.verdicts import Verdict

    fine = Verdict(producer="a", fault="", sentence="Nothing found.")
    unsure = row("reached_discharge", 0.7, low=0.4, high=0.93, target="0.95")
    (one,) = entries_of([sheet("a", verdicts=(fine,), rows=(unsure,))])
    assert verdict(one)[0].sign == "✓"


def test_too_few_stays_are_no_tick_either() -> None:
    from dataclasses import replace

    from edsim.tables.verdicts import Verdict

    few = Verdict(producer="a", fault="", sentence="Too few stays to tell anything.")
    said = sheet("a", verdicts=(few,))
    rows = tuple(replace(one, n_stays=5) for one in said.rows)
    (one,) = entries_of([replace(said, rows=rows)])
    assert [(mark.sign, mark.fault) for mark in verdict(one)] == [("◦", "not diagnosed")]
