"""Where things are in a MEDS dataset, and what this project adds to it.

`export` writes these columns and files beyond MEDS 0.4, `reading` takes them where they are:

columns of data/**/*.parquet
    stay_id, position (from 1 within the stay), activity, detail, flag, source_subject_id (the id as
    it was before it became a number)
metadata/stays.parquet
    one row a stay: the attributes of the stays table that are no event (arrival, length of stay,
    acuity, ...), since minutes count from arrival and arrival need not be an event
metadata/edsim.json
    what an `Extract` says of the whole: triage activity, discharges, cap, time of day
"""

from __future__ import annotations

DATA = "data"
SPLITS_FILE = "metadata/subject_splits.parquet"
CODES_FILE = "metadata/codes.parquet"
DATASET_FILE = "metadata/dataset.json"
STAYS_FILE = "metadata/stays.parquet"
FACTS_FILE = "metadata/edsim.json"

MEDS_SPLITS = {"train": "train", "val": "tuning", "test": "held_out"}
"""Our parts by their names in MEDS."""

STAY, POSITION, SOURCE_SUBJECT = "stay_id", "position", "source_subject_id"
OWN_COLUMNS = (STAY, POSITION, "activity", "detail", "flag", SOURCE_SUBJECT)

BIRTH, DEATH = "MEDS_BIRTH", "MEDS_DEATH"
SEX_CODES = ("GENDER//", "SEX//")
