"""Visits of the second process written in the MC-MED layout, and read back by its source."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from edsim.cohort.contract import check_extract
from edsim.encoding.vocabulary import load
from edsim.errors import BadInputError, OutputError
from edsim.progress import silent
from edsim.sources.mcmed import read
from edsim.sources.mcmed.options import McmedOptions
from edsim.sources.synthetic import LAYOUTS, SyntheticOptions, mcmed_draws
from edsim.sources.synthetic.mcmed_draws import draw
from edsim.sources.synthetic.mcmed_files import write_mcmed
from edsim.sources.synthetic.mcmed_reading import harmonised, patient_ids, stay_numbers, visit_ids
from edsim.sources.synthetic.mcmed_tables import FILES
from edsim.tables.extract import Extract

OPTIONS = SyntheticOptions(stays=1_200, seed=5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("mcmed")
    LAYOUTS["mcmed"](directory, OPTIONS, silent)
    return directory


@pytest.fixture(scope="module")
def found(folder: Path) -> Extract:
    return read(McmedOptions(data=folder, splits="random"), silent)


def words(found: Extract) -> pl.DataFrame:
    return found.events.select(
        found.stays["stay_id"].gather(found.events["stay"]).alias("stay_id"),
        "minutes",
        pl.col("activity", "detail", "flag").cast(pl.String),
    )


def test_read_back_every_visit_has_exactly_the_drawn_rows_in_order(found: Extract) -> None:
    drawn = harmonised(draw(OPTIONS.seed, np.arange(OPTIONS.stays)))
    assert words(found).equals(drawn.sort("stay_id", maintain_order=True))
    check_extract(found)
    assert len({step.n_events for step in found.steps}) == 1


def test_every_kind_of_row_has_a_token_and_all_but_two_tokens_occur(found: Extract) -> None:
    vocabulary = load("mcmed").resolve()
    kinds = words(found).select("activity", "detail", "flag").unique()
    tokens = set(vocabulary.assign(kinds)["token"])
    missing = {vocabulary.tokens[t] for t in range(1, len(vocabulary.tokens)) if t not in tokens}
    assert missing <= {"Imaging result: other", "Departure: other"}
    assert "END" not in {vocabulary.tokens[t] for t in tokens}


def test_files_have_the_columns_of_the_release_in_order(folder: Path) -> None:
    for name, columns in FILES.items():
        with (folder / f"{name}.csv").open(newline="", encoding="utf-8") as stream:
            rows = list(csv.reader(stream))
        assert tuple(rows[0]) == columns
        assert len(rows) > 100
        assert {len(row) for row in rows} == {len(columns)}


def test_names_hold_commas_and_line_breaks_and_times_end_in_z(folder: Path) -> None:
    labs = pl.read_csv(folder / "labs.csv", infer_schema=False)
    assert labs["Component_name"].str.contains(",").any()
    assert labs["Component_name"].str.contains("\n").any()
    assert labs["Result_time"].str.contains(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$").all()
    assert labs["Component_abnormal"].null_count() > 0
    assert set(pl.read_csv(folder / "numerics.csv", infer_schema=False)["Source"]) == {
        "Chart",
        "Monitor",
    }


def test_ids_look_random_are_unique_and_lead_back_to_the_stay(found: Extract) -> None:
    ids = visit_ids(np.arange(100_000))
    assert ids.n_unique() == 100_000
    assert (ids.str.len_chars() == 8).all()
    assert not ids.is_sorted()
    assert np.array_equal(stay_numbers(ids.cast(pl.Int64).to_numpy()), np.arange(100_000))
    assert patient_ids(np.arange(1_000)).n_unique() == 1_000
    assert found.stays["subject_id"].n_unique() < found.stays.height


def test_both_splits_divide_patients(folder: Path, found: Extract) -> None:
    assert found.stays["split"].null_count() == 0
    shares = found.stays["split"].value_counts(normalize=True).sort("split")["proportion"]
    assert shares.to_list() == pytest.approx([0.1, 0.8, 0.1], abs=0.03)
    chrono = read(McmedOptions(data=folder, splits="chrono"), silent).stays
    assert chrono["split"].null_count() == 0
    for stays in (found.stays, chrono):
        assert stays.group_by("subject_id").agg(pl.col("split").n_unique())["split"].max() == 1


def test_stays_have_what_the_visits_file_says(found: Extract) -> None:
    stays = found.stays
    assert set(stays["disposition"]) == {"Discharge", "Observation", "Inpatient", "ICU"}
    assert set(stays["transport"]) == {"Self", "EMS"}
    assert stays["age"].min() >= 18
    assert stays["race_group"].n_unique() >= 5
    assert (
        stays["acuity"].null_count()
        == found.events.filter((pl.col("activity") == "Triage") & pl.col("detail").is_null()).height
    )


def test_the_same_seed_gives_the_same_bytes_whatever_the_chunks(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chunks = mcmed_draws.draw_chunks
    monkeypatch.setattr(
        "edsim.sources.synthetic.mcmed_files.draw_chunks", lambda seed, n: chunks(seed, n, 333)
    )
    write_mcmed(tmp_path, OPTIONS, silent)
    for path in folder.iterdir():
        if path.name == "numerics.csv":  # charted and streamed rows alternate by chunk
            assert sorted((tmp_path / path.name).open()) == sorted(path.open())
        else:
            assert (tmp_path / path.name).read_bytes() == path.read_bytes()


def test_zipped_files_read_the_same(tmp_path: Path) -> None:
    few = SyntheticOptions(stays=60, seed=5)
    write_mcmed(tmp_path, few, silent, compress=True)
    drawn = harmonised(draw(5, np.arange(60))).sort("stay_id", maintain_order=True)
    assert words(read(McmedOptions(data=tmp_path), silent)).equals(drawn)


def test_files_that_are_there_are_not_written_over(folder: Path) -> None:
    with pytest.raises(OutputError):
        write_mcmed(folder, OPTIONS, silent)


def test_what_cannot_be_drawn_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInputError):
        write_mcmed(tmp_path, SyntheticOptions(stays=0), silent)
