"""The source `mimic`: MIMICEL 2.1.0, or the same log built from the MIMIC-IV-ED tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from edsim.progress import Progress
from edsim.sources.mimic.options import MimicOptions
from edsim.sources.source import Source
from edsim.tables.extract import Extract
from edsim.tables.published import PublishedRow

if TYPE_CHECKING:
    import polars as pl


def read(options: MimicOptions, progress: Progress) -> Extract:
    """The visits of MIMIC-IV-ED in the form every source hands on."""
    from edsim.sources.mimic.extract import extract

    return extract(options, progress)


def published(stays: pl.LazyFrame, events: pl.LazyFrame) -> list[PublishedRow]:
    """The published figures of MIMICEL beside those of a cohort of ours."""
    from edsim.sources.published_mimicel import published_figures

    return published_figures(stays, events)


SOURCE = Source(
    name="mimic",
    title="MIMIC-IV-ED 2.2, by way of MIMICEL 2.1.0",
    options=MimicOptions,
    read=read,
    restricted=True,
    vocabularies=("ed32", "ed7"),
    published=published,
    no_common_clock="the dates of each patient are shifted by an amount of their own, so that "
    "patients who seem to be there together were not",
)
