"""The raw files: layout, agreement with each other, and the way back."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import polars as pl
import pytest

from edsim.errors import OutputError
from edsim.progress import silent
from edsim.sources import mimic
from edsim.sources.mimic import MimicOptions
from edsim.sources.synthetic import LAYOUTS, SOURCE, SyntheticOptions, mimic_files
from edsim.sources.synthetic.mimic_files import write_mimic
from edsim.tables.extract import Extract

OPTIONS = SyntheticOptions(stays=1_200, seed=2)

MIMICEL_COLUMNS = [
    *("stay_id", "subject_id", "hadm_id", "timestamps", "activity", "gender", "race"),
    *("arrival_transport", "disposition", "seq_num", "icd_code", "icd_version", "icd_title"),
    *("temperature", "heartrate", "resprate", "o2sat", "sbp", "dbp", "pain", "acuity"),
    *("chiefcomplaint", "rhythm", "name", "gsn", "ndc", "etc_rn", "etccode", "etcdescription"),
    *("med_rn", "gsn_rn"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("raw")
    LAYOUTS["mimic"](directory, OPTIONS, silent)
    return directory


@pytest.fixture(scope="module")
def drawn() -> Extract:
    return SOURCE.read(OPTIONS, silent)


def table(path: Path) -> pl.DataFrame:
    return pl.read_csv(path, infer_schema=False)


def plain(extract: Extract) -> pl.DataFrame:
    return extract.events.with_columns(pl.col("activity", "detail", "flag").cast(pl.String))


def test_mimicel_has_its_31_columns_and_fills_those_of_each_activity(folder: Path) -> None:
    log = table(folder / "mimicel.csv")
    assert log.columns == MIMICEL_COLUMNS
    always = {"stay_id", "subject_id", "timestamps", "activity"}
    filled = {
        "Enter the ED": {"gender", "race", "arrival_transport"},
        "Triage in the ED": {
            *("temperature", "heartrate", "resprate", "o2sat", "sbp", "dbp", "pain", "acuity"),
            "chiefcomplaint",
        },
        "Vital sign check": {
            *("temperature", "heartrate", "resprate", "o2sat", "sbp", "dbp", "pain", "rhythm"),
        },
        "Medicine reconciliation": {"name", "gsn", "ndc", "etc_rn", "etccode", "etcdescription"},
        "Medicine dispensations": {"name", "gsn", "med_rn", "gsn_rn"},
        "Discharge from the ED": {
            *("disposition", "seq_num", "icd_code", "icd_version", "icd_title"),
        },
    }
    for activity, columns in filled.items():
        rows = log.filter(pl.col("activity") == activity)
        nonempty = {c for c in log.columns if rows[c].null_count() < rows.height}
        assert nonempty - {"hadm_id"} == always | columns


def test_the_tables_have_the_columns_of_release_2_2(folder: Path) -> None:
    with (folder / "ed" / "vitalsign.csv").open() as lines:
        assert next(csv.reader(lines)) == [
            *("subject_id", "stay_id", "charttime", "temperature", "heartrate", "resprate"),
            *("o2sat", "sbp", "dbp", "rhythm", "pain"),
        ]
    counts = {name: table(folder / "ed" / f"{name}.csv").height for name in ("edstays", "triage")}
    assert counts == {"edstays": 1_200, "triage": 1_200}
    patients = table(folder / "hosp" / "patients.csv")
    stays = table(folder / "ed" / "edstays.csv")
    assert sorted(patients["subject_id"]) == sorted(stays["subject_id"].unique())


@pytest.mark.parametrize("route", ["tables", "mimicel", "both", "file order"])
def test_read_back_every_event_is_the_drawn_one(folder: Path, drawn: Extract, route: str) -> None:
    options = {
        "tables": MimicOptions(ed=folder / "ed", hosp=folder / "hosp"),
        "mimicel": MimicOptions(mimicel=folder / "mimicel.csv", hosp=folder / "hosp"),
        "both": MimicOptions(
            ed=folder / "ed", mimicel=folder / "mimicel.csv", hosp=folder / "hosp"
        ),
        "file order": MimicOptions(
            mimicel=folder / "mimicel.csv", hosp=folder / "hosp", ties="file"
        ),
    }[route]
    back = mimic.SOURCE.read(options, silent)
    assert plain(back).equals(plain(drawn))
    assert back.stays.equals(drawn.stays)


def test_a_check_is_normal_or_abnormal_by_its_values_alone(folder: Path, drawn: Extract) -> None:
    """The flag that reading finds is the drawn one, Celsius entries and gaps among the values."""
    checks = table(folder / "ed" / "vitalsign.csv")
    assert 0.3 < checks["temperature"].null_count() / checks.height < 0.42
    heat = checks["temperature"].cast(pl.Float64)
    assert heat.filter(heat < 45).len() > 0
    flags = drawn.events.filter(pl.col("activity").cast(str) == "Vital sign check")["flag"]
    assert flags.len() == checks.height


def test_codes_are_text_with_their_leading_zeros(folder: Path) -> None:
    medicines = table(folder / "ed" / "medrecon.csv")
    assert set(medicines["gsn"].str.len_chars()) == {6}
    assert medicines["gsn"].str.starts_with("0").any()
    assert set(medicines["ndc"].str.len_chars()) == {1, 11}
    assert set(medicines["etccode"].str.len_chars()) == {8}
    codes = table(folder / "ed" / "diagnosis.csv")
    assert "07070" in set(codes["icd_code"])
    assert set(codes["icd_version"]) == {"9", "10"}


def test_numbers_within_a_stay_count_as_in_the_release(folder: Path) -> None:
    codes = table(folder / "ed" / "diagnosis.csv")
    per_stay = codes.group_by("stay_id", maintain_order=True).agg("seq_num", "icd_code")
    for numbers, names in per_stay.select("seq_num", "icd_code").iter_rows():
        assert numbers == [str(i + 1) for i in range(len(numbers))]
        assert len(set(names)) == len(names)
    given = table(folder / "ed" / "pyxis.csv")
    acts = given.group_by("stay_id", "med_rn").agg(pl.col("name").n_unique(), "gsn_rn")
    assert acts["name"].max() == 1
    assert all(
        found == [str(i + 1) for i in range(len(found))] for found in acts["gsn_rn"].to_list()
    )
    home = table(folder / "ed" / "medrecon.csv")
    second = home.with_row_index().filter(pl.col("etc_rn") == "2")
    before = home[second["index"] - 1]
    assert second["name"].equals(before["name"])
    assert set(before["etc_rn"]) == {"1"}


def test_a_stay_without_any_code_still_has_a_discharge_row(tmp_path: Path) -> None:
    write_mimic(tmp_path, SyntheticOptions(stays=4_000, seed=2), silent)
    log = table(tmp_path / "mimicel.csv")
    bare = log.filter(
        (pl.col("activity") == "Discharge from the ED") & pl.col("icd_code").is_null()
    )
    assert 1 <= bare.height <= 40
    coded = set(table(tmp_path / "ed" / "diagnosis.csv")["stay_id"])
    assert not coded & set(bare["stay_id"])


def test_admissions_have_a_hospital_number_as_often_as_published(folder: Path) -> None:
    stays = table(folder / "ed" / "edstays.csv")
    admitted = pl.col("disposition") == "ADMITTED"
    assert stays.filter(admitted)["hadm_id"].null_count() < 10
    elsewhere = stays.filter(~admitted)
    assert 0.1 < 1 - elsewhere["hadm_id"].null_count() / elsewhere.height < 0.25


def test_chunks_and_repetition_leave_the_same_bytes(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mimic_files, "CHUNK", 333)
    write_mimic(tmp_path, OPTIONS, silent)
    for path in sorted(folder.rglob("*.csv")):
        assert (tmp_path / path.relative_to(folder)).read_bytes() == path.read_bytes()


def test_compressed_files_hold_the_same_and_are_reproducible(folder: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_mimic(tmp_path / name, OPTIONS, silent, compress=True)
    one, two = (tmp_path / n / "ed" / "pyxis.csv.gz" for n in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()
    assert gzip.decompress(one.read_bytes()) == (folder / "ed" / "pyxis.csv").read_bytes()


def test_files_that_are_there_are_not_written_over(folder: Path) -> None:
    before = (folder / "mimicel.csv").stat().st_mtime_ns
    with pytest.raises(OutputError, match="cannot be written"):
        write_mimic(folder, OPTIONS, silent)
    assert (folder / "mimicel.csv").stat().st_mtime_ns == before
