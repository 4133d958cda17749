"""Made-up event logs for the tests of the event-log source."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from edsim.progress import silent
from edsim.sources.eventlog import SOURCE, EventLogOptions
from edsim.tables.extract import Extract

Row = tuple[str, str, str]

ROWS: list[Row] = [
    ("NA", "arrive", "2024-03-01 10:00:00+01:00"),
    ("NA", "test", "2024-03-01 10:05:30+01:00"),
    ("NA", "scan", "2024-03-01 10:05:30+01:00"),
    ("NA", "leave", "2024-03-01 11:00:00+01:00"),
    ("007", "arrive", "2024-07-01 10:00:00+02:00"),
    ("007", "leave", "2024-07-01 10:30:00+02:00"),
]
"""Two cases of four and two events, in winter and in summer; `test` and `scan` at one time."""


def read_log(path: Path, **flags: Any) -> Extract:
    """What the source makes of a log."""
    return SOURCE.read(EventLogOptions(log=path, **flags), silent)


def write_csv(
    path: Path,
    rows: Iterable[Row] = ROWS,
    *,
    header: str = "case_id,activity,timestamp",
    end: str = "\n",
    encoding: str = "utf-8",
) -> Path:
    """A CSV log, zipped where its name ends in .gz."""
    separator = next((s for s in ";\t|" if s in header), ",")
    text = end.join([header, *(separator.join(row) for row in rows)]) + end
    content = text.encode(encoding)
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def write_xes(path: Path, rows: Iterable[Row] = ROWS, *, more: str = "") -> Path:
    """The same log as XES, cases in the order of their first row; `more` goes into every event."""
    traces: dict[str, list[Row]] = {}
    for row in rows:
        traces.setdefault(row[0], []).append(row)
    text = '<?xml version="1.0" encoding="UTF-8"?>\n<log xes.version="1.0">\n'
    for case, events in traces.items():
        text += f'<trace><string key="concept:name" value="{case}"/>\n'
        for _, activity, time in events:
            text += f'<event><string key="concept:name" value="{activity}"/>'
            text += f'<date key="time:timestamp" value="{time.replace(" ", "T")}"/>{more}</event>\n'
        text += "</trace>\n"
    content = (text + "</log>\n").encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def activities(extract: Extract, stay: str) -> list[str]:
    """The activities of one stay, in order."""
    row = extract.stays["stay_id"].to_list().index(stay)
    events = extract.events
    return events.filter(events["stay"] == row)["activity"].cast(str).to_list()


def minutes(extract: Extract, stay: str) -> list[float]:
    """The minutes of one stay's events."""
    row = extract.stays["stay_id"].to_list().index(stay)
    events = extract.events
    return events.filter(events["stay"] == row)["minutes"].to_list()
