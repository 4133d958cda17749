"""What is shared holds aggregates only: no identifier, no single visit, no small cell."""

from __future__ import annotations

import json
import re
import zipfile
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from edsim.lab.cohort import Cohort, open_cohort
from edsim.report.material import Material, read_material
from edsim.report.share import HIDDEN, shareable, write_bundle
from edsim.tables.scores import ScoreSheet
from report.made_up_report import census, cohort, predicted, row, sheet, visits


def texts(bundle: Path) -> dict[str, str]:
    with zipfile.ZipFile(bundle) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def without_library(html: str) -> str:
    """The page without the charts' library, whose own numbers are not of interest."""
    scripts = re.findall(r"<script>.*?</script>", html, re.S)
    return html.replace(max(scripts, key=len, default="\0"), "")


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> tuple[Cohort, Path]:
    """A real cohort, scored by the command, with visits beside the scores."""
    pytest.importorskip("torch", reason="rollouts need torch")
    from edsim.cli import run

    folder = tmp_path_factory.mktemp("shared")
    where = str(folder / "C")
    build = ["cohort", "build", "synthetic", "--stays", "400", "--out", where]
    score = ["score", "markov", "--cohort", where, "--launches", "matched-200", "--draws", "2"]
    score += ["--metrics", "termination,jsd,crps,token_share_observed", "--populations", "every"]
    assert run(build) == 0
    assert run([*score, "--resamples", "20", "--out", str(folder / "S")]) == 0
    return open_cohort(folder / "C"), folder / "S"


def test_no_identifier_of_the_cohort_is_in_the_bundle(
    scored: tuple[Cohort, Path], tmp_path: Path
) -> None:
    opened, folder = scored
    material = read_material(folder)
    assert material.visits, "the folder has to hold identifiers for this test to mean anything"
    stays = opened.stays()
    ids = {*stays["stay_id"].to_list(), *stays["subject_id"].to_list()}
    write_bundle(material, tmp_path / "share.zip")
    for name, text in texts(tmp_path / "share.zip").items():
        words = set(re.findall(r"\w+", without_library(text)))
        assert not words & ids, name


def test_nothing_of_the_open_demo_of_mimic_is_in_its_bundle(
    open_data: Path, tmp_path: Path
) -> None:
    """By the commands, as restricted as the data it stands for: no number, moment or drug name."""
    pytest.importorskip("torch", reason="rollouts need torch")
    from edsim.cli import run

    ed, where, scores = open_data / "mimic-iv-fhir-demo-2.1.0-ed", tmp_path / "M", tmp_path / "S"
    build = ["cohort", "build", "mimic", "--ed", str(ed), "--out", str(where)]
    score = ["score", "ngram:3", "--cohort", str(where), "--launches", "all", "--draws", "2"]
    score += ["--populations", "acuity,sex,race", "--resamples", "20", "--out", str(scores)]
    assert [run(build), run(score)] == [0, 0]
    assert run(["report", str(scores), "--share", str(tmp_path / "share.zip")]) == 0
    opened, raw = open_cohort(where), pl.read_csv(ed / "edstays.csv.gz", infer_schema=False)
    numbers = {one for name in ("subject_id", "hadm_id", "stay_id") for one in raw[name] if one}
    moments = {one[:10] for name in ("intime", "outtime") for one in raw[name]}
    events = pl.read_parquet(where / "events.parquet").filter(
        pl.col("activity").str.contains("Med")
    )
    drugs = {one for one in events["detail"].drop_nulls() if len(one) > 6}
    assert opened.manifest.restricted and len(numbers) > 400 and moments and drugs
    for name, text in texts(tmp_path / "share.zip").items():
        said = without_library(text)
        assert not set(re.findall(r"\w+", said)) & numbers, name
        assert not [one for one in (*moments, *drugs) if one in said], name


def test_the_page_itself_holds_the_identifiers_that_the_bundle_does_not(
    scored: tuple[Cohort, Path],
) -> None:
    from edsim.report.page import page_of

    opened, folder = scored
    words = set(re.findall(r"\w+", page_of(read_material(folder)).html))
    assert words & set(opened.stays()["stay_id"].to_list())


def test_what_a_producer_brings_along_does_not_go_out(tmp_path: Path) -> None:
    brought = sheet(
        "/home/somebody/data/stay-30000000.rollouts.parquet",
        recipe={"checkpoint": "/data/stay-30000001", "layers": 2, "note": "stay-30000002"},
        cohort=cohort(path="/data/stay-30000003"),
    )
    material = Material(
        sheets=(replace(brought, producer="/data/30000004/model.npz"),),
        visits=(visits("a"),),
        censuses=(census("a"),),
        left_out=("stay-30000005",),
    )
    write_bundle(material, tmp_path / "share.zip")
    for name, text in texts(tmp_path / "share.zip").items():
        assert not re.findall(r"stay-3000000\d|/data/|30000004", without_library(text)), name


def small_groups(*sizes: int) -> ScoreSheet:
    rows = [
        row(
            "jsd",
            0.01,
            population="complaint",
            group=f"g{k}",
            n_launches=5 * n,
            n_stays=n,
            n_subjects=n,
        )
        for k, n in enumerate(sizes)
    ]
    return sheet("a", rows=rows)


@pytest.mark.parametrize(
    ("sizes", "shown"),
    [((9, 30, 40), {"g2"}), ((9, 8, 30), {"g2"}), ((10, 30), {"g0", "g1"}), ((3,), set())],
)
def test_a_small_cell_goes_and_a_second_one_where_the_total_would_tell(
    sizes: tuple[int, ...], shown: set[str]
) -> None:
    (safe,) = shareable(Material(sheets=(small_groups(*sizes),))).sheets
    rows = [one for one in safe.rows if one.population == "complaint"]
    assert {one.group for one in rows if one.value is not None} == shown
    hidden = [one for one in rows if one.value is None]
    assert all(one.note == HIDDEN and one.n_launches == one.n_subjects == 0 for one in hidden)


def test_small_losses_of_the_attrition_are_merged() -> None:
    steps = [
        {"rule": "all", "n_stays": 100, "n_subjects": 90, "n_events": 900, "note": ""},
        {"rule": "rare", "n_stays": 97, "n_subjects": 88, "n_events": 880, "note": ""},
        {"rule": "common", "n_stays": 50, "n_subjects": 40, "n_events": 400, "note": ""},
    ]
    (safe,) = shareable(Material(sheets=(sheet("a", cohort=cohort(attrition=steps)),))).sheets
    assert [step["rule"] for step in safe.cohort["attrition"]] == ["all", "rare; common"]


def test_the_list_says_what_is_in_the_bundle_and_the_bytes_are_the_same_each_time(
    tmp_path: Path,
) -> None:
    import hashlib

    material = Material(sheets=(sheet("a"), sheet("b")))
    for name in ("one.zip", "two.zip"):
        write_bundle(material, tmp_path / name)
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    found = texts(tmp_path / "one.zip")
    said = json.loads(found["CONTENTS.json"])
    assert {one["name"] for one in said["files"]} == found.keys() - {"CONTENTS.json"}
    for one in said["files"]:
        assert one["sha256"] == hashlib.sha256(found[one["name"]].encode()).hexdigest()


def test_shared_scores_are_read_back_as_score_sheets(tmp_path: Path) -> None:
    write_bundle(Material(sheets=(sheet("a"), sheet("b"))), tmp_path / "share.zip")
    with zipfile.ZipFile(tmp_path / "share.zip") as archive:
        archive.extractall(tmp_path / "unpacked")
    assert [one.producer for one in read_material(tmp_path / "unpacked").sheets] == ["a", "b"]


def test_a_token_that_few_have_goes_and_a_second_one_with_it() -> None:
    shares = [
        row("token_share_observed", 0.2, group=token, n_subjects=n)
        for token, n in zip(
            ("END", "Triage", "Vitals normal", "Vitals abnormal"), (90, 9, 20, 80), strict=True
        )
    ]
    never = row("token_share_observed", 0.0, group="Discharge home", n_subjects=0)
    bare = replace(sheet("a"), rows=(*shares, never))
    (safe,) = shareable(Material(sheets=(bare,))).sheets
    assert [one.group for one in safe.rows if one.value is not None] == [
        "END",
        "Vitals abnormal",
        "Discharge home",
    ]


def test_the_list_tells_predictions_from_rollouts_and_nobody_from_few(tmp_path: Path) -> None:
    nobody = row("token_share_observed", 0.0, group="Triage", n_subjects=0, n_launches=0)
    material = Material(
        sheets=(sheet("a", rows=(nobody,)),),
        open_loop=(predicted("a", 0.5),),
        censuses=(census("a"),),
    )
    write_bundle(material, tmp_path / "share.zip")
    found = texts(tmp_path / "share.zip")
    said = json.loads(found["CONTENTS.json"])
    assert said["smallest_group_subjects"] == 30
    assert "accuracy" in said["measures"] and "jsd" in said["measures"]
    assert [one["says"] for one in said["files"]][1:] == [
        "scores of rollouts of a",
        "scores of open-loop predictions of a",
    ]
    assert "The census is withheld" in found["report.html"]
    assert "No census lies in the folder" not in found["report.html"]
