"""The synthetic visits as an extract, and who the visitors are."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from edsim.encoding.vocabulary import load
from edsim.errors import BadInputError
from edsim.progress import silent
from edsim.sources.synthetic import SOURCE, SyntheticOptions, calendar, people
from edsim.sources.synthetic.draws import TOKENS, Department, draw
from edsim.sources.synthetic.reading import stay_numbers
from edsim.tables.extract import EVENT_COLUMNS, STAY_COLUMNS, Extract

OPTIONS = SyntheticOptions(stays=3_000, seed=5)


@pytest.fixture(scope="module")
def extract() -> Extract:
    return SOURCE.read(OPTIONS, silent)


def test_importing_the_source_brings_in_neither_numba_nor_polars() -> None:
    code = "import sys, edsim.sources.synthetic; print({'numba', 'polars'} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "set()"


def test_the_extract_has_the_columns_of_the_contract(extract: Extract) -> None:
    assert tuple(extract.stays.columns) == STAY_COLUMNS
    assert tuple(extract.events.columns) == EVENT_COLUMNS
    assert extract.stays["stay_id"].is_sorted()
    assert extract.stays["stay_id"].n_unique() == extract.stays.height == 3_000
    assert extract.events["stay"].to_numpy().max() == 2_999
    assert extract.stays["split"].null_count() == 3_000
    assert extract.cap == 128
    assert extract.triage_activity in extract.events["activity"].unique()


def test_the_same_options_give_the_same_frames(extract: Extract) -> None:
    again = SOURCE.read(OPTIONS, silent)
    assert again.stays.equals(extract.stays)
    assert again.events.equals(extract.events)


def test_drawing_more_changes_no_stay_no_subject_and_no_event(extract: Extract) -> None:
    fewer = SOURCE.read(replace(OPTIONS, stays=400), silent)
    assert fewer.stays.equals(extract.stays.head(400))
    assert fewer.events.equals(extract.events.head(fewer.events.height))


def test_chunks_leave_no_trace(extract: Extract, monkeypatch: pytest.MonkeyPatch) -> None:
    from edsim.sources.synthetic import draws, reading

    monkeypatch.setattr(
        reading, "draw_chunks", lambda department, n: draws.draw_chunks(department, n, 701)
    )
    chunked = SOURCE.read(OPTIONS, silent)
    assert chunked.stays.equals(extract.stays)
    assert chunked.events.equals(extract.events)


def test_the_manifest_says_enough_to_draw_the_same_stays_again(extract: Extract) -> None:
    assert dict(extract.options) == {"stays": 3_000, "seed": 5, "per_day": 150, "drift": 0.0}
    numbers = stay_numbers(extract.stays["stay_id"].cast(pl.Int64).to_numpy())
    drawn = draw(Department(seed=extract.options["seed"], drift=extract.options["drift"]), numbers)
    assert np.array_equal(drawn.rows["second"] / 60, extract.events["minutes"].to_numpy())


def test_every_event_has_its_drawn_token_under_ed32(extract: Extract) -> None:
    vocabulary = load("ed32").resolve(None)
    kinds = extract.events.group_by("activity", "detail", "flag").len()
    assigned = vocabulary.assign(kinds)
    tokens = extract.events.join(
        assigned, on=["activity", "detail", "flag"], how="left", nulls_equal=True,
        maintain_order="left",
    )["token"]  # fmt: skip
    drawn = draw(Department(seed=5), np.arange(3_000))
    assert len(vocabulary) == 1 + len(TOKENS)
    assert np.array_equal(tokens.to_numpy(), drawn.rows["token"] + 1)
    assert not vocabulary.rule_is_fallback[
        assigned.filter(pl.col("activity").cast(str) == "Medicine reconciliation")["rule"]
    ].any()


def test_identical_rows_of_an_act_are_one_medicine(extract: Extract) -> None:
    events = extract.events.with_columns(item=pl.Series(draw_items()))
    acts = events.filter(pl.col("activity").cast(str) == "Medicine dispensations")
    names = acts.group_by("stay", "item").agg(pl.col("detail").n_unique().alias("n"))
    assert names["n"].max() == 1
    assert acts["detail"].n_unique() > 40


def draw_items() -> np.ndarray:
    return draw(Department(seed=5), np.arange(3_000)).rows["item"]


def test_length_of_stay_is_the_time_of_the_last_row(extract: Extract) -> None:
    last = extract.events.group_by("stay", maintain_order=True).agg(pl.col("minutes").last())
    assert last["minutes"].to_list() == extract.stays["los_minutes"].to_list()


def test_arrivals_lie_in_shifted_years_at_whole_minutes(extract: Extract) -> None:
    arrival = extract.stays["arrival"]
    assert arrival.dt.year().min() >= 2110
    assert arrival.dt.year().max() <= 2210
    assert (arrival.dt.second() == 0).all()


def test_subjects_keep_sex_race_period_and_birth_year_over_their_visits(extract: Extract) -> None:
    born = pl.col("arrival").dt.year() - pl.col("age")
    per_subject = extract.stays.group_by("subject_id").agg(
        pl.col("sex", "race_group", "period").n_unique(), born=born.n_unique(), n=pl.len()
    )
    assert per_subject["n"].max() > 2
    assert per_subject.select(pl.max("sex", "race_group", "period", "born")).row(0) == (1, 1, 1, 1)


def test_every_period_holds_subjects_even_of_few_stays(extract: Extract) -> None:
    counts = extract.stays.head(500)["period"].value_counts()
    assert set(counts["period"]) == set(calendar.PERIODS)
    assert counts["count"].min() > 50


def test_acuity_4_is_far_more_frequent_than_5_and_some_have_none(extract: Extract) -> None:
    counts = dict(extract.stays["acuity"].value_counts().iter_rows())
    assert counts[4] > 10 * counts[5] > 0
    assert 20 < counts[None] < 90


def test_subjects_come_back_as_often_as_published() -> None:
    numbers = np.arange(425_028)
    n_subjects = len(np.unique(calendar.first_stays(1, numbers)))
    assert n_subjects == pytest.approx(205_466, rel=0.02)


def test_a_subject_is_known_by_its_first_stay() -> None:
    numbers = np.arange(30_000)
    first = calendar.first_stays(2, numbers)
    assert (first <= numbers).all()
    assert (calendar.first_stays(2, first) == first).all()


def test_all_33_races_occur() -> None:
    races = people.races(1, np.arange(50_000))
    assert set(races) == set(range(33))
    assert len({name for name, _ in people.RACES}) == 33


def test_per_day_moves_dates_and_nothing_else(extract: Extract) -> None:
    busier = SOURCE.read(replace(OPTIONS, per_day=900), silent)
    assert busier.events.equals(extract.events)
    moved = busier.stays.drop("arrival", "age")
    assert moved.equals(extract.stays.drop("arrival", "age"))
    assert not busier.stays["arrival"].equals(extract.stays["arrival"])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"stays": 0}, "--stays 0"),
        ({"stays": 20_000_000}, "1 to 10,000,000"),
        ({"per_day": 0}, "--per-day 0"),
        ({"drift": -0.5}, "--drift -0.5"),
        ({"drift": float("nan")}, "--drift nan"),
    ],
)
def test_what_cannot_be_drawn_is_refused(change: dict[str, float], words: str) -> None:
    with pytest.raises(BadInputError, match=words):
        SOURCE.read(replace(OPTIONS, **change), silent)


def test_a_single_stay_can_be_drawn() -> None:
    one = SOURCE.read(SyntheticOptions(stays=1), silent)
    assert one.stays.height == 1
    assert one.events.height >= 3
