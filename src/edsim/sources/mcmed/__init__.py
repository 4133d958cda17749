"""The source `mcmed`: MC-MED 1.0.1, harmonised into one stream of events per visit.

| activity | when | detail | flag |
| --- | --- | --- | --- |
| Arrival | Arrival_time | Means_of_arrival | |
| Triage | Arrival_time (it has no time of its own) | acuity 1 to 5 | triage vital signs |
| Roomed | Roomed_time | | |
| Vital signs charted | first Chart row of a minute in numerics | | normal, abnormal |
| Order | Order_time of orders | Procedure_name | kind, see `labels.ORDER_KINDS` |
| Medication given | First_admin_time of a medication order | Procedure_name | |
| Lab result | Result_time of labs, one a component | Display_name (panel) | normal, abnormal |
| Imaging result | Result_time of rads | Study | |
| Disposition decision | Dispo_time | | |
| Departure | Departure_time | ED_dispo | |

A stay runs from Arrival to Departure: events outside are left out and counted. Same-second events
stand in the order of this table, rows of one file in its order. Home medicines and past history
have dates only and are no events. The reasons are in docs/decisions/30-mcmed-events.md.
"""

from __future__ import annotations

from edsim.progress import Progress
from edsim.sources.mcmed.options import McmedOptions
from edsim.sources.source import Source
from edsim.tables.extract import Extract


def read(options: McmedOptions, progress: Progress) -> Extract:
    """The visits of MC-MED in the form every source hands on."""
    from edsim.sources.mcmed.extract import extract

    return extract(options, progress)


SOURCE = Source(
    name="mcmed",
    title="MC-MED 1.0.1 (PhysioNet, credentialed)",
    options=McmedOptions,
    read=read,
    restricted=True,
    vocabularies=("mcmed",),
    no_common_clock="the dates of each patient are shifted by an amount of their own, so that "
    "patients who seem to be there together were not",
)
