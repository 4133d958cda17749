"""Raw data in: each source is one module with a `SOURCE`, and `SOURCES` is the list of them.

A source reads raw files (or draws visits) and returns an `Extract`. It decides what an event is,
in which order same-time events stand, and who is left out; it knows nothing of splits, tokens
and directories.
"""

from edsim.sources import eventlog, mcmed, meds, mimic, synthetic
from edsim.sources.source import Source

SOURCES: dict[str, Source] = {
    source.name: source
    for source in (
        synthetic.SOURCE,
        mimic.SOURCE,
        mcmed.SOURCE,
        eventlog.SOURCE,
        meds.SOURCE,
    )
}
