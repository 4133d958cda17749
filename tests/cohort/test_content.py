from __future__ import annotations

import polars as pl

from edsim.cohort.content import coded, content_hash
from made_up import events_of, stays_of

ROWS = [(0, 0.0, "b", None, "x"), (0, 1.5, "a", "y", None), (1, 0.0, "b", "y", "x")]


def test_the_hash_does_not_depend_on_how_texts_are_held() -> None:
    stays, events = stays_of(["p", "q"]), events_of(ROWS)
    text = events.with_columns(pl.col("activity", "detail", "flag").cast(pl.String))
    enum = events.with_columns(
        pl.col("activity").cast(pl.String).cast(pl.Enum(["unused", "b", "a"]))
    )
    assert content_hash(stays, events) == content_hash(stays, text) == content_hash(stays, enum)


def test_every_change_changes_the_hash() -> None:
    stays, events = stays_of(["p", "q"]), events_of(ROWS)
    hashes = {content_hash(stays, events), content_hash(stays_of(["p", "r"]), events)}
    for column, value in ((1, 0.25), (2, "c"), (3, "other"), (4, None)):
        for row in range(3):
            changed = [list(r) for r in ROWS]
            changed[row][column] = value
            hashes.add(content_hash(stays, events_of([tuple(r) for r in changed])))  # type: ignore[misc]
    assert len(hashes) == 2 + 4 * 3 - 1  # one of the flags was null already


def test_missing_and_empty_are_not_the_same() -> None:
    stays = stays_of(["p"])
    assert content_hash(stays, events_of([(0, 0.0, "a", None, None)])) != content_hash(
        stays, events_of([(0, 0.0, "a", "", None)])
    )


def test_codes_are_ranks_of_sorted_texts() -> None:
    codes, texts = coded(pl.Series(["z", None, "a", "z", "é"]))
    assert texts == ["a", "z", "é"]
    assert codes.tolist() == [1, -1, 0, 1, 2]


def test_a_column_of_nothing_has_no_texts() -> None:
    codes, texts = coded(pl.Series([None, None], dtype=pl.String))
    assert (codes.tolist(), texts) == ([-1, -1], [])
