"""MEDS 0.4 datasets: read as a source, and written from a cohort (`export`).

In MEDS the subject is the patient; a stay is what a visit column names, or the whole subject.
"""

from __future__ import annotations

from edsim.progress import Progress
from edsim.sources.meds.options import MedsOptions
from edsim.sources.source import Source
from edsim.tables.extract import Extract


def read(options: MedsOptions, progress: Progress) -> Extract:
    """The stays and events of the dataset, in the form every source hands on."""
    from edsim.sources.meds import reading

    return reading.read(options, progress)


SOURCE = Source(
    name="meds",
    title="a MEDS 0.4 dataset with a visit column",
    options=MedsOptions,
    read=read,
    restricted=True,
    vocabularies=("activities",),
    no_common_clock="a MEDS dataset does not say whether the dates of its patients were shifted",
)
