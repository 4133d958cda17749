"""The build of a MIMIC cohort written plainly with pandas: the reference that the fast one equals.

Nobody uses it to work with. `edsim bench cohort` times it beside the real build, and a test holds
the two to the same tokens, gaps, splits and launches. It does the same job: read mimicel.csv and
edstays, judge vital signs, drop and order rows by the MIMICEL rules, divide subjects, encode with
ed7 and ed32, write tables and arrays.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from edsim import seeds
from edsim.encoding.vocabulary import load

if TYPE_CHECKING:
    import pandas as pd

ORDER = (
    "Enter the ED",
    "Vital sign check",
    "Triage in the ED",
    "Medicine reconciliation",
    "Medicine dispensations",
    "Discharge from the ED",
)
LIMITS = {
    "temperature": (36.0, 38.0),
    "heartrate": (50, 110),
    "resprate": (10, 22),
    "o2sat": (94, 100),
    "sbp": (90, 180),
}
VALID = {
    "temperature": (26.0, 45.0),
    "heartrate": (0, 350),
    "resprate": (0, 300),
    "o2sat": (0, 100),
    "sbp": (0, 375),
}


def build(raw: Path, out: Path) -> int:
    """Build a cohort from `raw/mimicel.csv` and `raw/ed/edstays.csv`; the number of events."""
    import pandas as pd

    stays = pd.read_csv(raw / "ed" / "edstays.csv", dtype=str, keep_default_na=False)
    log = pd.read_csv(raw / "mimicel.csv", dtype=str, keep_default_na=False)
    for name in ("ed/edstays.csv", "mimicel.csv"):
        hashlib.sha256((raw / name).read_bytes()).hexdigest()
    stays["arrival"] = pd.to_datetime(stays["intime"])
    stays["departure"] = pd.to_datetime(stays["outtime"])
    stays = stays[stays["departure"] > stays["arrival"]].sort_values("stay_id")
    stays["split"] = [_part(subject) for subject in stays["subject_id"]]

    log["time"] = pd.to_datetime(log["timestamps"])
    log["rank"] = log["activity"].map({name: i for i, name in enumerate(ORDER)})
    log["detail"] = log.apply(_detail, axis=1)
    log["flag"] = log.apply(_flag, axis=1)
    log["seq"] = pd.to_numeric(log["seq_num"]).fillna(0)
    log = log.merge(stays[["stay_id", "arrival", "split"]], on="stay_id")
    log = log.sort_values(["stay_id", "time", "rank", "seq"], kind="stable")
    log["minutes"] = (log["time"] - log["arrival"]) / pd.Timedelta(minutes=1)
    log["position"] = log.groupby("stay_id").cumcount() + 1

    out.mkdir(parents=True, exist_ok=True)
    stays.to_parquet(out / "stays.parquet")
    columns = ["stay_id", "position", "minutes", "activity", "detail", "flag"]
    log[columns].to_parquet(out / "events.parquet")
    for name in ("ed7", "ed32"):
        _encode(log, name, out / name)
    test = log[log["split"] == "test"][["stay_id", "position"]]
    np.save(out / "launches.npy", test["position"].to_numpy())
    (out / "n_events").write_text(str(len(log)))
    return len(log)


def _part(subject: str) -> str:
    chance = seeds.key("split", 0, subject) / 2**64
    return "train" if chance < 0.70 else "val" if chance < 0.85 else "test"


def _detail(row: pd.Series[Any]) -> str | None:
    column = {
        "Enter the ED": "arrival_transport",
        "Triage in the ED": "acuity",
        "Medicine reconciliation": "name",
        "Medicine dispensations": "name",
        "Discharge from the ED": "disposition",
    }.get(row["activity"])
    text = row[column].strip() if column else ""
    if row["activity"] == "Triage in the ED" and text:
        return str(int(float(text)))
    return text or None


def _flag(row: pd.Series[Any]) -> str | None:
    if row["activity"] == "Medicine reconciliation":
        return row["etcdescription"].strip() or None
    if row["activity"] != "Vital sign check":
        return None
    for name, (low, high) in LIMITS.items():
        if row[name] == "":
            continue
        value = float(row[name])
        if name == "temperature" and not 25 <= value <= 45:
            value = (value - 32) * 5 / 9
        if VALID[name][0] <= value <= VALID[name][1] and not low <= value <= high:
            return "abnormal"
    return "normal"


def _encode(log: pd.DataFrame, name: str, out: Path) -> None:
    import polars as pl

    kinds = log[["activity", "detail", "flag"]].drop_duplicates()
    table = pl.DataFrame(
        {column: [None if v != v else v for v in kinds[column]] for column in kinds.columns},
        schema=dict.fromkeys(kinds.columns, pl.String),
    )
    assigned = load(name).resolve().assign(table)
    token_of = dict(zip(table.rows(), assigned["token"].to_list(), strict=True))
    tokens: list[int] = []
    gaps: list[float] = []
    for _, visit in log.groupby("stay_id", sort=False):
        before = None
        for activity, detail, flag, minutes in zip(
            visit["activity"], visit["detail"], visit["flag"], visit["minutes"], strict=True
        ):
            key = (activity, None if detail != detail else detail, None if flag != flag else flag)
            tokens.append(token_of[key])
            gaps.append(0.0 if before is None else minutes - before)
            before = minutes
        tokens.append(0)
        gaps.append(0.0)
    out.mkdir(exist_ok=True)
    np.save(out / "tokens.npy", np.array(tokens, dtype=np.int16))
    np.save(out / "minutes.npy", np.array(gaps, dtype=np.float32))


if __name__ == "__main__":
    build(Path(sys.argv[1]), Path(sys.argv[2]))
