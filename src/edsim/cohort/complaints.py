"""Chief complaints as groups: the commonest first-named complaints of the training split.

Free text never reaches the cohort on disk: a stay keeps the name of its group, "other" where its
complaint is not among the groups, and null where none was recorded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

N_GROUPS = 20
OTHER = "other"
"""Complaints that are in no group, and those recorded as just that: grouping groups anew is to
change nothing, as when a cohort comes back from another format."""
MIN_SUBJECTS = 10
"""A complaint of fewer training subjects is no group: its name could point to a person."""


def group_complaints(stays: pl.DataFrame) -> tuple[pl.Series, list[str]]:
    """The complaint group of every stay, and the groups by falling number of subjects."""
    import polars as pl

    named = stays.select("subject_id", "split", complaint=_first_named(pl.col("chief_complaint")))
    groups = (
        named.filter((pl.col("split") == "train") & (pl.col("complaint") != OTHER))
        .group_by("complaint")
        .agg(pl.col("subject_id").n_unique().alias("n"))
        .filter(pl.col("n") >= MIN_SUBJECTS)
        .sort(["n", "complaint"], descending=[True, False])
        .head(N_GROUPS)["complaint"]
    )
    column = named.select(
        pl.when(pl.col("complaint").is_null() | pl.col("complaint").is_in(groups.implode()))
        .then(pl.col("complaint"))
        .otherwise(pl.lit(OTHER))
        .alias("chief_complaint_group")
    )
    return column.to_series(), groups.to_list()


def _first_named(complaint: pl.Expr) -> pl.Expr:
    """The first of comma-separated complaints in lower case, letters and digits only."""
    import polars as pl

    text = (
        complaint.str.split(",")
        .list.first()
        .str.to_lowercase()
        .str.replace_all(r"[^\p{L}\p{N}]+", " ")
        .str.strip_chars()
    )
    return pl.when(text == "").then(None).otherwise(text)
