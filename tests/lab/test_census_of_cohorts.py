"""A census of a cohort: every arriving stay once, real clocks only, kept and written."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

import edsim
from edsim.cli import run
from edsim.errors import BadCohortError, BadInputError, BadTableError
from edsim.lab import census as lab_census
from edsim.lab.census import census
from edsim.lab.cohort import Cohort
from edsim.sources.synthetic.calendar import FIRST_DAY

BEGIN, END = datetime(2020, 1, 2), datetime(2020, 1, 9)


@pytest.fixture(scope="module")
def cohort(tmp_path_factory: pytest.TempPathFactory) -> Cohort:
    out = tmp_path_factory.mktemp("census") / "C"
    source = edsim.SOURCES["synthetic"]
    edsim.build_cohort(source, source.options(stays=2000), out)
    return edsim.open_cohort(out)


def test_synthetic_stays_have_their_true_days_again(cohort: Cohort) -> None:
    moments = lab_census._moments(cohort)
    stays = cohort.stays()
    numbers = stays["stay_id"].cast(int).to_numpy() - 30_000_000
    assert np.array_equal(
        (moments - FIRST_DAY).astype("timedelta64[D]").astype(int), numbers // 150
    )
    shifted = stays["arrival"].to_numpy()
    assert np.array_equal(
        moments - moments.astype("datetime64[D]"), shifted - shifted.astype("datetime64[D]")
    )


def test_the_observed_census_is_that_of_the_stays_table(cohort: Cohort) -> None:
    found = census(cohort, ["ngram:2"], begin=BEGIN, end=END, draws=2)
    stays, moments = cohort.stays(), lab_census._moments(cohort)
    visits = cohort.visits()
    last = moments + (
        (visits.start + [visits.minutes[a:b].sum() for a, b in zip(visits.offsets, visits.offsets[1:], strict=False)]) * 60e6
    ).astype("timedelta64[us]")  # fmt: skip
    some = (stays["split"] == "test").to_numpy() & (moments >= np.datetime64(BEGIN)) & (moments < np.datetime64(END))  # fmt: skip
    assert found.n_stays == some.sum()
    for hour in found.producers[0].hours[::13]:
        now = np.datetime64(hour.time)
        assert hour.observed == (some & (moments <= now) & (now < last)).sum()
    assert [hour.warm_up for hour in found.producers[0].hours] == [True] * 48 + [False] * 120


def test_the_process_itself_foretells_better_than_a_marginal_model(cohort: Cohort) -> None:
    found = census(cohort, ["oracle", "marginal"], draws=20, beds=5, end=datetime(2020, 1, 12))
    oracle, marginal = found.producers
    assert oracle.crps is not None and marginal.crps is not None
    assert oracle.crps < marginal.crps
    assert oracle.privileged and not marginal.privileged
    again = census(cohort, ["marginal"], draws=20, beds=5, end=datetime(2020, 1, 12))
    assert again.producers[0] == marginal


def test_a_draw_that_the_cap_stopped_stays_to_the_end(cohort: Cohort) -> None:
    found = census(cohort, ["markov"], begin=BEGIN, end=END, draws=2, cap=1).producers[0]
    assert found.capped > 0.9
    assert found.bias is not None and found.bias > 10
    assert found.hours[-1].mean > found.hours[60].mean


def test_clocks_that_were_shifted_by_patient_are_refused(cohort: Cohort) -> None:
    for source in ("mimic", "mcmed"):
        other = Cohort(cohort.directory, replace(cohort.manifest, source=source))
        with pytest.raises(BadCohortError, match="dates of each patient are shifted"):
            census(other, ["markov"])
    with pytest.raises(BadCohortError, match="does not say whether"):
        census(Cohort(cohort.directory, replace(cohort.manifest, source="meds")), ["markov"])


def test_an_event_log_is_taken_at_its_word(cohort: Cohort) -> None:
    log = Cohort(cohort.directory, replace(cohort.manifest, source="eventlog", restricted=True))
    assert np.array_equal(lab_census._moments(log), cohort.stays()["arrival"].to_numpy())


def test_restricted_data_show_no_small_count(
    cohort: Cohort, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Cohort(cohort.directory, replace(cohort.manifest, restricted=True))
    hours = census(kept, ["markov"], begin=BEGIN, end=END, draws=2).producers[0].hours
    counts = [hour.observed for hour in hours]
    assert all((hour.crps is None) == (hour.observed is None) for hour in hours)
    assert None in counts and all(count is None or count == 0 or count >= 10 for count in counts)


@pytest.mark.parametrize("n_stays", [8, 30])
def test_of_few_people_nothing_is_told_that_gives_the_truth_away(
    cohort: Cohort, n_stays: int
) -> None:
    """The last arrivals: a foretold number, held against the truth, would tell what that was."""
    kept = Cohort(cohort.directory, replace(cohort.manifest, restricted=True))
    is_test = (cohort.stays()["split"] == "test").to_numpy()
    first = np.sort(lab_census._moments(cohort)[is_test])[-n_stays]
    begin = first.astype("datetime64[h]").astype(datetime)
    end = begin + timedelta(hours=60)
    found = census(kept, ["markov"], begin=begin, end=end, beds=3, draws=2)
    (one,) = found.producers
    truths = (found.n_stays, found.mean_observed, found.exceeded, one.crps, one.crps_low)
    truths += (one.crps_high, one.bias, one.within, one.exceed_brier)
    assert all((truth is None) == (n_stays < 10) for truth in truths)
    assert (one.hours == ()) == (n_stays < 10)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"beds": -3}, "0 beds or more, and not -3"),
        ({"draws": 1}, "at least 2 draws"),
        ({"begin": BEGIN, "end": datetime(2020, 1, 3)}, "first 48 hours are warm-up"),
        ({"begin": datetime(2031, 1, 1)}, "they arrive from 2020-01-01"),
        ({"begin": datetime.fromisoformat("2020-01-02T00:00+01:00"), "end": datetime.fromisoformat("2020-01-09T00:00+01:00")}, "without a zone"),
    ],
)  # fmt: skip
def test_periods_that_cannot_be_are_refused(
    cohort: Cohort, more: dict[str, object], said: str
) -> None:
    with pytest.raises(BadInputError, match=said):
        census(cohort, ["markov"], **more)  # type: ignore[arg-type]


def test_the_command_prints_and_writes_what_is_read_again(
    cohort: Cohort, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "january.census.json"
    command = ["census", "markov", "--cohort", str(cohort.directory), "--from", "2020-01-02"]
    command += ["--to", "2020-01-09", "--draws", "3", "--beds", "6", "--json", str(file)]
    assert run(command) == 0
    assert "P(over 6)" in capsys.readouterr().out
    assert run(command) == 2
    found = edsim.read_census(file)
    assert found == census(cohort, ["markov"], begin=BEGIN, end=END, draws=3, beds=6)
    file.write_text("{}")
    with pytest.raises(BadTableError, match="no census of schema version"):
        edsim.read_census(file)
    assert run(["census", "--cohort", str(cohort.directory)]) == 2
    assert "producers, such as ngram:3" in capsys.readouterr().err
