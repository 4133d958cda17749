"""Encoded visits: the fast path against one event after the other, and what each rule caught."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slow_reader import slow_match

from edsim.encoding import caught as caught_module
from edsim.encoding import kinds as kinds_module
from edsim.encoding.encode import encode, encode_each, read_vocabulary, write_encoded
from edsim.encoding.kinds import find_kinds
from edsim.encoding.vocabulary import Vocabulary, load
from edsim.errors import BadTableError, BadVocabularyError, OutputError

Event = tuple[float, str, str | None, str | None]

ACTIVITIES = ["Enter the ED", "Vital sign check", "Medicine dispensations", "Discharge from the ED"]
DETAILS = ["HOME", "WALK IN", "aspirin", "Morphine", "nothing known", "%"]
GAP = st.integers(0, 10**10).map(lambda microseconds: microseconds / 60_000_000)
EVENT = st.tuples(
    st.floats(0, 300, allow_nan=False),
    st.sampled_from(ACTIVITIES),
    st.none() | st.sampled_from(DETAILS),
    st.none() | st.sampled_from(["normal", "abnormal"]),
)
STAYS = st.lists(st.lists(EVENT, min_size=1, max_size=6), min_size=1, max_size=6)


def as_frame(stays: list[list[Event]], dtype: Any = pl.Categorical) -> pl.DataFrame:
    """The events table of stays whose events are (minutes, activity, detail, flag)."""
    rows = [
        (number, *event)
        for number, stay in enumerate(stays)
        for event in sorted(stay, key=lambda event: event[0])
    ]
    schema = {"stay": pl.UInt32, "minutes": pl.Float64, "activity": pl.String}
    schema |= {"detail": pl.String, "flag": pl.String}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    return frame.with_columns(pl.col("activity", "detail", "flag").cast(dtype))


def coded(column: pl.Series) -> pl.Series:
    """The same texts as an Enum that also holds texts that are not there."""
    return column.cast(pl.Enum(sorted({"unused", *column.drop_nulls()})))


def slow(stays: list[list[Event]], vocabulary: Vocabulary) -> tuple[list[int], list[float]]:
    """Tokens and gaps, one event after the other."""
    seen: dict[tuple[str | None, ...], int] = {}
    tokens: list[int] = []
    gaps: list[float] = []
    for stay in stays:
        before = None
        for minutes, *kind in sorted(stay, key=lambda event: event[0]):
            if tuple(kind) not in seen:
                rule = vocabulary.rules[slow_match(vocabulary.rules, tuple(kind))]
                seen[tuple(kind)] = rule.token
            tokens.append(seen[tuple(kind)])
            gaps.append(0.0 if before is None else float(np.float32(minutes - before)))
            before = minutes
        tokens.append(0)
        gaps.append(0.0)
    return tokens, gaps


@settings(deadline=None, max_examples=30)
@given(STAYS, st.sampled_from(["ed7", "ed32"]))
def test_whole_columns_are_encoded_as_one_event_after_the_other(
    stays: list[list[Event]], name: str
) -> None:
    vocabulary = load(name).resolve()
    frame = as_frame(stays)
    visits, _ = encode(frame, len(stays), vocabulary)
    tokens, gaps = slow(stays, vocabulary)
    assert visits.tokens.tolist() == tokens
    assert visits.minutes.tolist() == gaps
    assert visits.offsets.tolist() == np.cumsum([0] + [len(s) + 1 for s in stays]).tolist()
    assert visits.start.tolist() == [min(event[0] for event in stay) for stay in stays]
    assert visits.n_events().tolist() == [len(stay) for stay in stays]


def test_arrays_have_the_types_of_the_directory() -> None:
    visits, _ = encode(as_frame([[(0.0, "Enter the ED", None, None)]]), 1, load("ed7").resolve())
    types = [getattr(visits, name).dtype for name in ("tokens", "minutes", "offsets", "start")]
    assert types == [np.int16, np.float32, np.int64, np.float64]


def test_gaps_run_from_the_first_row_even_before_arrival() -> None:
    stay: list[Event] = [
        (-5.0, "Vital sign check", None, "normal"),
        (0.0, "Enter the ED", None, None),
    ]
    visits, _ = encode(as_frame([stay]), 1, load("ed7").resolve())
    assert visits.start.tolist() == [-5.0]
    assert visits.minutes.tolist() == [0.0, 5.0, 0.0]


@settings(deadline=None, max_examples=50)
@given(STAYS)
def test_kinds_give_every_row_its_own_texts_back(stays: list[list[Event]]) -> None:
    frame = as_frame(stays)
    found = find_kinds(frame)
    texts = frame.select(pl.col("activity", "detail", "flag").cast(pl.String))
    assert found.table.drop("n")[found.of_row.tolist()].equals(texts)
    assert found.table["n"].sum() == len(frame)
    assert found.table.drop("n").is_unique().all()


@settings(deadline=None, max_examples=50)
@given(STAYS)
def test_kinds_do_not_depend_on_how_texts_are_stored(stays: list[list[Event]]) -> None:
    texts = as_frame(stays, pl.String)
    other = texts.with_columns(coded(texts[name]) for name in ("activity", "detail", "flag"))
    for frame in (as_frame(stays), other):
        assert find_kinds(frame).table.equals(find_kinds(texts).table)
        assert (find_kinds(frame).of_row == find_kinds(texts).of_row).all()


def test_kinds_are_the_same_where_all_pairs_would_be_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stays = [[(0.0, a, d, None) for a in ACTIVITIES for d in DETAILS]] * 2
    quick = find_kinds(as_frame(stays))
    monkeypatch.setattr(kinds_module, "_SMALL", 0)
    monkeypatch.setattr(kinds_module, "_pairs", without_table(kinds_module._pairs))
    assert find_kinds(as_frame(stays)).table.equals(quick.table)


def without_table(pairs: Callable[..., Any]) -> Callable[..., Any]:
    """`_pairs` with so many possible codes that it has to sort."""

    def sparse(left: Any, n_left: int, right: Any, n_right: int) -> Any:
        return pairs(left * 1000, n_left * 1000, right, n_right)

    return sparse


def test_counted_kinds_are_those_of_the_rows_asked_for() -> None:
    frame = as_frame(
        [[(0.0, "Enter the ED", "WALK IN", None)], [(0.0, "Enter the ED", None, None)]]
    )
    train = find_kinds(frame).counted(np.array([True, False]))
    assert train.rows() == [("Enter the ED", "WALK IN", None, 1)]


@settings(deadline=None, max_examples=15)
@given(STAYS)
def test_what_rules_caught_is_counted_as_one_row_after_the_other(stays: list[list[Event]]) -> None:
    vocabulary = load("ed32").resolve()
    subjects = np.arange(len(stays)) // 2
    frame = as_frame(stays)
    _, caught = encode(frame, len(stays), vocabulary, subjects=subjects)
    rows: dict[int, list[int]] = defaultdict(list)
    other: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for stay, events in enumerate(stays):
        for _, *kind in events:
            rule = slow_match(vocabulary.rules, tuple(kind))
            rows[rule].append(stay)
            of_the_rest = "other" in vocabulary.tokens[vocabulary.rules[rule].token].split()
            if vocabulary.rules[rule].fallback or of_the_rest:
                other[*kind, not vocabulary.rules[rule].fallback].append(stay)
    for rule, token, written, n_rows, n_stays, n_subjects in caught.rules.iter_rows():
        found = rows[rule - 1]
        assert token == vocabulary.tokens[vocabulary.rules[rule - 1].token]
        assert written is not vocabulary.rules[rule - 1].fallback
        assert (n_rows, n_stays) == (len(found), len(set(found)))
        assert n_subjects == len({subjects[stay] for stay in found})
    listed = {(*row[:3], row[4]): row[5:] for row in caught.other.iter_rows()}
    assert listed == {
        kind: (len(found), len(set(found)), len({subjects[stay] for stay in found}))
        for kind, found in other.items()
    }
    unwritten = sum(len(found) for (*_, written), found in other.items() if not written)
    assert caught.share_other == unwritten / len(frame)


def test_counting_members_by_ticks_and_by_sorting_is_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    group = np.array([0, 0, 0, 2, 2], dtype=np.int32)
    member = np.array([4, 4, 999, 4, 5], dtype=np.uint32)
    for largest in (caught_module._LARGEST_TABLE, 0):
        monkeypatch.setattr(caught_module, "_LARGEST_TABLE", largest)
        assert caught_module._distinct(group, 3, member, 1000).tolist() == [2, 0, 2]


def test_the_most_frequent_of_the_others_come_first_and_subjects_may_be_unknown() -> None:
    stay: list[Event] = [
        (float(n), "Medicine dispensations", detail, None)
        for n, detail in enumerate(["rare thing", "common thing", "common thing"])
    ]
    _, caught = encode(as_frame([stay]), 1, load("ed32").resolve())
    assert caught.other.select("detail", "token", "n_rows", "n_subjects").rows() == [
        ("common thing", "Dispensation sedative and other", 2, None),
        ("rare thing", "Dispensation sedative and other", 1, None),
    ]


def test_several_vocabularies_share_the_clock_and_differ_in_tokens() -> None:
    frame = as_frame(
        [[(0.0, "Enter the ED", "AMBULANCE", None), (1.0, "Vital sign check", None, "abnormal")]]
    )
    vocabularies = [load("ed7").resolve(), load("ed32").resolve()]
    (first, _), (second, _) = encode_each(frame, 1, vocabularies)
    assert first.minutes is second.minutes
    assert [
        v.tokens[t] for v, e in zip(vocabularies, (first, second), strict=True) for t in e.tokens
    ] == [
        "Enter the ED",
        "Vital sign check",
        "END",
        "Enter ambulance or helicopter",
        "Vitals abnormal",
        "END",
    ]


ENTER: Event = (0.0, "Enter the ED", None, None)


@pytest.mark.parametrize(
    ("frame", "n_stays"),
    [
        (as_frame([[ENTER]]), 2),
        (as_frame([[ENTER], [ENTER]]), 1),
        (as_frame([[ENTER], [ENTER]]).reverse(), 2),
        (as_frame([[ENTER]]).head(0), 1),
    ],
    ids=["a stay without events", "an event without a stay", "out of order", "no events"],
)
def test_events_that_do_not_fit_the_stays_are_refused(frame: pl.DataFrame, n_stays: int) -> None:
    with pytest.raises(BadTableError, match="do not fit each other"):
        encode(frame, n_stays, load("ed7").resolve())


def test_time_that_runs_backwards_is_refused_by_row_number() -> None:
    frame = as_frame([[ENTER, (5.0, "Enter the ED", None, None)]])[[1, 0]]
    with pytest.raises(BadTableError, match=r"1 of 2 events come before .* first in row 1"):
        encode(frame, 1, load("ed7").resolve())


def test_no_stays_make_empty_arrays() -> None:
    visits, caught = encode(as_frame([[ENTER]]).head(0), 0, load("ed7").resolve())
    assert len(visits) == 0
    assert len(visits.tokens) == 0
    assert np.isnan(caught.share_other)


def test_written_visits_are_read_back(tmp_path: Path) -> None:
    vocabulary = load("ed7").resolve()
    visits, _ = encode(as_frame([[ENTER, (2.5, "Vital sign check", None, None)]]), 1, vocabulary)
    directory = tmp_path / "encoded" / "ed7"
    write_encoded(directory, visits, vocabulary)
    for name in ("tokens", "minutes", "offsets", "start"):
        again = np.load(directory / f"{name}.npy", allow_pickle=False)
        assert again.tolist() == getattr(visits, name).tolist()
    assert read_vocabulary(directory) == vocabulary
    assert sorted(path.name for path in directory.iterdir()) == [
        "minutes.npy",
        "offsets.npy",
        "start.npy",
        "tokens.npy",
        "vocabulary.json",
    ]


def test_where_nothing_can_be_written_the_message_says_why(tmp_path: Path) -> None:
    vocabulary = load("ed7").resolve()
    visits, _ = encode(as_frame([[ENTER]]), 1, vocabulary)
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="ed7' cannot be written: not a directory"):
        write_encoded(tmp_path / "file" / "ed7", visits, vocabulary)


def test_a_vocabulary_file_that_is_gone_or_changed_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadTableError, match="edsim cohort check"):
        read_vocabulary(tmp_path)
    (tmp_path / "vocabulary.json").write_text(
        load("ed7").resolve().to_json().replace("Enter", "Exit", 1)
    )
    with pytest.raises(BadVocabularyError, match="damaged"):
        read_vocabulary(tmp_path)
