"""No rule of ed32 files a medicine where a clinician would not."""

from __future__ import annotations

import csv
from pathlib import Path

import polars as pl
import pytest

from edsim.encoding.vocabulary import Vocabulary, load

ACTIVITY = {"dispensation": "Medicine dispensations", "reconciliation": "Medicine reconciliation"}
ROWS = list(csv.DictReader((Path(__file__).parent / "medicines.csv").open(encoding="utf-8")))


@pytest.fixture(scope="module")
def ed32() -> Vocabulary:
    return load("ed32").resolve()


def kinds(*rows: tuple[str, str | None, str | None]) -> pl.DataFrame:
    schema = dict.fromkeys(("activity", "detail", "flag"), pl.String)
    return pl.DataFrame(rows, schema=schema, orient="row")


def names(vocabulary: Vocabulary, table: pl.DataFrame) -> list[str]:
    return [vocabulary.tokens[token] for token in vocabulary.assign(table)["token"]]


def test_the_table_of_medicines_holds_every_class_and_no_medicine_twice() -> None:
    assert len(ROWS) >= 60
    assert len({(r["kind"], r["name"], r["etc_class"]) for r in ROWS}) == len(ROWS)
    assert len({(r["kind"], r["expected"]) for r in ROWS}) == 7 + 8


@pytest.mark.parametrize("row", ROWS, ids=lambda r: f"{r['kind']}: {r['name']}")
def test_a_named_medicine_is_filed_where_a_clinician_looks_for_it(
    ed32: Vocabulary, row: dict[str, str]
) -> None:
    table = kinds((ACTIVITY[row["kind"]], row["name"], row["etc_class"] or None))
    assert names(ed32, table) == [f"{row['kind'].capitalize()} {row['expected']}"]


def demo(folder: Path) -> pl.DataFrame:
    """Home and dispensed medicines of the open demo, one row per kind with its number of rows."""
    source = folder / "mimic-iv-fhir-demo-2.1.0-ed"
    home = pl.read_csv(source / "medrecon.csv.gz", infer_schema=False).select(
        activity=pl.lit("Medicine reconciliation"),
        detail=pl.col("name").str.strip_chars(),
        flag=pl.col("etcdescription").str.strip_chars(),
    )
    given = pl.read_csv(source / "pyxis.csv.gz", infer_schema=False).select(
        activity=pl.lit("Medicine dispensations"),
        detail=pl.col("name").str.strip_chars(),
        flag=pl.lit(None, pl.String),
    )
    return pl.concat([home, given]).group_by("activity", "detail", "flag").agg(n=pl.len())


@pytest.mark.parametrize("activity", ACTIVITY.values())
def test_at_most_five_percent_of_the_demo_match_no_written_rule(
    ed32: Vocabulary, open_data: Path, activity: str
) -> None:
    assigned = ed32.assign(demo(open_data).filter(pl.col("activity") == activity))
    unwritten = ed32.rule_is_fallback[assigned["rule"].to_numpy()]
    assert assigned["n"].sum() > 1_000
    assert assigned["n"].filter(unwritten).sum() <= 0.05 * assigned["n"].sum()


def test_every_medicine_class_of_the_demo_is_met(ed32: Vocabulary, open_data: Path) -> None:
    found = set(names(ed32, demo(open_data)))
    assert len({n for n in found if n.startswith("Reconciliation")}) == 7
    assert len({n for n in found if n.startswith("Dispensation")}) == 8


def test_ed182_refines_ed32_on_the_demo(ed32: Vocabulary, open_data: Path) -> None:
    table = demo(open_data)
    ed182 = load("ed182").resolve(table)
    assert 32 < len(ed182) <= 182
    assert ed182.tokens[:32] == ed32.tokens
    coarse, fine = names(ed32, table), names(ed182, table)
    assert all(f == c or f.startswith(f"{c}: ") for c, f in zip(coarse, fine, strict=True))


def test_what_is_not_a_medicine_is_told_by_transport_acuity_and_disposition(
    ed32: Vocabulary,
) -> None:
    table = kinds(
        ("Enter the ED", "WALK IN", None),
        ("Enter the ED", "HELICOPTER", None),
        ("Enter the ED", "UNKNOWN", None),
        ("Triage in the ED", "1", None),
        ("Triage in the ED", "5", None),
        ("Triage in the ED", None, None),
        ("Vital sign check", None, "normal"),
        ("Vital sign check", None, "abnormal"),
        ("Discharge from the ED", "LEFT WITHOUT BEING SEEN", None),
        ("Discharge from the ED", "EXPIRED", None),
    )
    assert names(ed32, table) == [
        "Enter walk-in",
        "Enter ambulance or helicopter",
        "Enter other",
        "Triage acuity 1",
        "Triage acuity 4 to 5 or not recorded",
        "Triage acuity 4 to 5 or not recorded",
        "Vitals normal",
        "Vitals abnormal",
        "Discharge left without being seen",
        "Discharge expired or other",
    ]


def test_all_discharge_tokens_are_marked(ed32: Vocabulary) -> None:
    marked = {ed32.tokens[token] for token in ed32.discharges}
    assert marked == {name for name in ed32.tokens if name.startswith("Discharge ")}
    assert len(ed32) == 32
    assert len(marked) == 7
