"""XES through r4pm, after a look of our own at the document.

r4pm reads what it can and is silent about the rest: a file cut short gives the part that is there,
a time without an offset passes for UTC, and what it cannot parse it prints, content included. So
the document is first walked with the parser of the standard library, which finds all of that, and
r4pm's own output is kept from the terminal.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from xml.parsers import expat

from edsim.errors import BadInputError, MissingExtraError
from edsim.progress import Progress
from edsim.sources.eventlog.opening import OpenLog
from edsim.sources.plain_bytes import PlainBytes
from edsim.tables.extract import RawFile

if TYPE_CHECKING:
    import polars as pl

_EVENT_DEPTH, _ATTRIBUTE_DEPTH = 3, 4
_NESTED = {"list", "container"}


class Survey:
    """What the walk through a document has seen; attributes by the column they become."""

    def __init__(self) -> None:
        self.n_events = 0
        self.n_traces = 0
        self.n_empty_traces = 0
        self.case_names: set[str] = set()
        self.kinds: defaultdict[str, set[str]] = defaultdict(set)
        self.n_aware: defaultdict[str, int] = defaultdict(int)
        self.n_naive: defaultdict[str, int] = defaultdict(int)
        self.bad_booleans: defaultdict[str, int] = defaultdict(int)
        self.root = ""
        self.encoding: str | None = None
        self.has_doctype = False
        self._depth = 0
        self._prefix: str | None = None  # of the attributes at this place; None: not of interest
        self._n_events_before = 0

    def parser(self) -> expat.XMLParserType:
        """A parser that tells this survey what it meets."""
        parser = expat.ParserCreate()
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.XmlDeclHandler = self._declaration
        parser.StartDoctypeDeclHandler = self._doctype
        return parser

    def _declaration(self, _version: str, encoding: str | None, _standalone: int) -> None:
        self.encoding = encoding

    def _doctype(self, *_of_the_document: object) -> None:
        self.has_doctype = True

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        depth = self._depth
        if depth == _ATTRIBUTE_DEPTH and self._prefix == "":
            self._attribute(name, attributes.get("key", ""), attributes.get("value", ""))
        elif depth == _EVENT_DEPTH and self._prefix is not None:
            if name == "event":
                self.n_events += 1
                self._prefix = ""
            else:
                key = attributes.get("key", "")
                self._attribute(name, f"case:{key}", attributes.get("value", ""))
                if key == "concept:name":
                    self.case_names.add(attributes.get("value", ""))
        elif depth == 2 and name == "trace":
            self.n_traces += 1
            self._prefix = "case:"
            self._n_events_before = self.n_events
        elif depth == 1:
            self.root = name

    def _end(self, name: str) -> None:
        if self._depth == _EVENT_DEPTH and self._prefix == "" and name == "event":
            self._prefix = "case:"
        elif self._depth == 2 and self._prefix is not None:
            self._prefix = None
            self.n_empty_traces += self.n_events == self._n_events_before
        self._depth -= 1

    def _attribute(self, kind: str, column: str, value: str) -> None:
        self.kinds[column].add(kind)
        if kind == "date":
            if value.endswith(("Z", "z")) or "+" in value or "-" in value[10:]:
                self.n_aware[column] += 1
            elif value[4:5] == "-":  # what is no time at all is for the counting of the unreadable
                self.n_naive[column] += 1
        elif kind == "boolean" and value not in ("true", "false"):
            self.bad_booleans[column] += 1


def open_xes(path: Path, progress: Progress) -> OpenLog:
    """Walk through the document, then read it."""
    try:
        import r4pm
    except ImportError:
        raise MissingExtraError("r4pm", "xes", "reading an XES log") from None

    survey, raw = _walk(path, progress)
    progress.stage(f"reading {path.name}", survey.n_events, "events")
    try:
        with _muted():
            frame, _ = r4pm.df.import_xes(str(path))
    except Exception as error:  # r4pm raises nothing narrower
        raise BadInputError(
            f"{path.name} is well-formed XML, but r4pm cannot read it as XES "
            f"({type(error).__name__}). Does the file's name fit its form (.xes or .xes.gz)?"
        ) from None
    if frame.height != survey.n_events:
        raise BadInputError(
            f"{path.name} holds {survey.n_events} events, but r4pm reads {frame.height} of them. "
            "Export the log again, or as CSV."
        )
    progress.advance(survey.n_events)

    def rows(wanted: Sequence[str]) -> pl.DataFrame:
        return frame.select(_typed(frame[column], survey, path.name) for column in wanted)

    return OpenLog(raw, tuple(sorted(frame.columns)), rows, tuple(_odd(survey)))


def _odd(survey: Survey) -> Iterator[str]:
    """Sentences about cases that are not what they seem."""
    if survey.n_empty_traces:
        yield (
            f"{survey.n_empty_traces} of {survey.n_traces} cases hold no event and are left out."
        )
    n_doubles = survey.n_traces - len(survey.case_names)
    if n_doubles > 0:
        yield f"{n_doubles} of {survey.n_traces} cases bear the name of another: one with it."


def _walk(path: Path, progress: Progress) -> tuple[Survey, RawFile]:
    """Parse the whole document; what is not well-formed, complete XES in UTF-8 is refused."""
    survey, text = Survey(), PlainBytes(path)
    parser = survey.parser()
    n_read = 0
    try:
        for chunk in text:
            if not n_read:
                progress.stage(f"looking at {path.name}", path.stat().st_size, "bytes")
            parser.Parse(chunk, False)
            progress.advance(text.n_bytes - n_read)
            n_read = text.n_bytes
        parser.Parse(b"", True)
    except (expat.ExpatError, LookupError, ValueError) as error:
        raise BadInputError(_not_well_formed(path.name, survey, error)) from None
    if survey.root != "log":
        raise BadInputError(f"{path.name} is XML but not XES: its outermost element is not a log.")
    if survey.has_doctype:
        raise BadInputError(f"{path.name} has a document type definition, which XES does not know.")
    if (survey.encoding or "utf-8").lower() not in ("utf-8", "utf8", "us-ascii", "ascii"):
        raise BadInputError(
            f"{path.name} says that it is written in another encoding than UTF-8. Convert it with "
            "iconv and change its first line."
        )
    if survey.n_events == 0:
        raise BadInputError(f"{path.name} holds {survey.n_traces} cases and no event.")
    raw = RawFile(role="event log", name=path.name, n_bytes=text.n_bytes, sha256=text.sha256)
    return survey, raw


def _not_well_formed(name: str, survey: Survey, error: Exception) -> str:
    if not survey.root:
        return f"{name} is empty or not XML: an XES log begins with <?xml or <log."
    where = f" in line {error.lineno}" if isinstance(error, expat.ExpatError) else ""
    return (
        f"{name} is not well-formed XML{where}, after {survey.n_traces} cases and "
        f"{survey.n_events} events: it is damaged or cut short. Export or fetch it again."
    )


def _typed(values: pl.Series, survey: Survey, name: str) -> pl.Series:
    """A column as the document means it: with its zone, without r4pm's marks on mixed types."""
    import polars as pl

    column, kinds = values.name, survey.kinds[values.name]
    if kinds & _NESTED:
        raise BadInputError(f"the attribute '{column}' of {name} holds lists or containers.")
    if survey.bad_booleans[column]:
        raise BadInputError(
            f"{survey.bad_booleans[column]} values of the attribute '{column}' of {name} are "
            "called boolean and are neither true nor false."
        )
    if isinstance(values.dtype, pl.Datetime):
        aware, naive = survey.n_aware[column], survey.n_naive[column]
        if aware and naive:
            raise BadInputError(
                f"{aware} of {aware + naive} times in the attribute '{column}' of {name} carry an "
                "offset from UTC and the others do not: they cannot be put in one order. Export "
                "the log with one form of time."
            )
        return values.dt.replace_time_zone("UTC") if aware else values
    if len(kinds) > 1 and values.dtype == pl.String:
        if "date" in kinds:
            raise BadInputError(
                f"the attribute '{column}' of {name} is a date in some events only."
            )
        return values.str.replace(r'(?s)^"(.*)"$', "${1}")
    return values


@contextlib.contextmanager
def _muted() -> Iterator[None]:
    """Nothing the reader prints reaches the terminal: it quotes values it cannot parse."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = [os.dup(1), os.dup(2)]
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept[0], 1)
        os.dup2(kept[1], 2)
        for descriptor in (*kept, nowhere):
            os.close(descriptor)
