"""Where the rows of delimited text begin and end, before any parser sees them.

A parser fills short rows up and swallows the rest of a file behind a quotation mark that is never
closed. Here every row is counted and its fields with it, so that such a file is refused with the
number of the row; and text is cut between rows only, so that it can be parsed piece by piece.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from edsim.errors import BadInputError

if TYPE_CHECKING:
    from collections.abc import Callable
_LONGEST_RECORD = 1 << 26
_LONGEST_LINE = 1 << 16
_PIECE = 1 << 24
"""Bytes for one round of the parser; memory of this size is used again and not mapped anew."""

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}

# The state of a walk. Modes: 0 at the start of a field, 1 in bare text, 2 in quotes, 3 behind them.
_MODE, _COMMAS, _RECORDS, _BLANK, _RAGGED, _FIRST_RAGGED, _STRAY, _FIRST_STRAY = range(8)
_IN_QUOTES = 2


def _walk(text: Any, state: Any, n_columns: int, separator: int) -> int:
    """Go over `text` byte by byte; the index after the last row that ends in it (0: none ends).

    Compiled by `_compiled`. `state` carries on from one piece of text to the next.
    """
    mode, commas, records, blank = state[0], state[1], state[2], state[3]
    end = 0
    for i in range(text.size):
        byte = text[i]
        if mode == 2:  # inside quotes: nothing but a quote matters
            if byte == 34:
                mode = 3
        elif byte == separator:
            commas += 1
            mode = 0
        elif byte == 10:
            end = i + 1
            if mode == 0 and commas == 0 and n_columns > 1:
                blank += 1
                continue
            records += 1
            if commas + 1 != n_columns or blank > 0:
                state[4] += 1
                if state[5] == 0:
                    state[5] = records
            commas = 0
            mode = 0
            blank = 0
        elif byte == 34 and (mode == 0 or mode == 3):
            mode = 2
        elif byte != 13:
            if byte == 34 or mode == 3:  # a quote inside bare text, or text behind a closed quote
                state[6] += 1
                if state[7] == 0:
                    state[7] = records + 1
            mode = 1
    state[0], state[1], state[2], state[3] = mode, commas, records, blank
    return end


_compiled_walk: list[Callable[..., int]] = []


def _compiled() -> Callable[..., int]:
    """`_walk` as machine code that lets other threads run; made once."""
    if not _compiled_walk:
        from edsim.compiled import compiled

        _compiled_walk.append(compiled(_walk))
    return _compiled_walk[0]


@dataclass(frozen=True, slots=True)
class Piece:
    """Whole rows of a table, without the header."""

    text: bytes
    n_rows: int


class Records:
    """The rows of one delimited text: its header at once, its rows piece by piece."""

    def __init__(self, chunks: Iterable[bytes], *, name: str, separator: str | None = ",") -> None:
        self.name = name
        self.n_rows = 0
        """Rows of the pieces given out so far."""
        self.n_blank = 0
        """Blank lines after them; anywhere else they are an error."""
        self._chunks = iter(chunks)
        line, self._rest = self._first_line()
        if separator is None:
            separator = max(DELIMITERS, key=lambda d: len(self._fields(line, d)))
        self.separator = separator
        self.columns = self._fields(line, separator)

    def _first_line(self) -> tuple[str, bytes]:
        head = b""
        for chunk in self._chunks:
            head += chunk
            if b"\n" in head or len(head) > _LONGEST_RECORD:
                break
        line, _, rest = head.partition(b"\n")
        return line.decode().rstrip("\r"), rest

    def _fields(self, line: str, separator: str) -> tuple[str, ...]:
        if "\r" in line:
            raise BadInputError(
                f"{self.name} has line ends of old Macintosh computers (a return alone), which end "
                "no row here. Convert it, for example with: tr '\\r' '\\n'"
            )
        fields = (
            next(csv.reader([line], delimiter=separator), []) if len(line) < _LONGEST_LINE else []
        )
        if not any(field.strip() for field in fields) or line.count('"') % 2:
            raise BadInputError(f"{self.name} has no header row that can be read.")
        return tuple(field.strip() for field in fields)

    def __iter__(self) -> Iterator[Piece]:
        walk = _compiled()
        shape = len(self.columns), ord(self.separator)
        state = np.zeros(8, dtype=np.int64)
        tail = b""
        for chunk in self._texts():
            end = walk(np.frombuffer(chunk, dtype=np.uint8), state, *shape)
            self._check(state)
            if not end:
                tail += chunk
                if len(tail) > _LONGEST_RECORD:
                    raise self._unclosed()
                continue
            yield self._piece(tail + chunk[:end], state)
            tail = chunk[end:]
        if tail:
            if state[_MODE] == _IN_QUOTES:
                raise self._unclosed()
            walk(np.frombuffer(b"\n", dtype=np.uint8), state, *shape)
            self._check(state)
            yield self._piece(tail, state)

    def _texts(self) -> Iterator[bytes]:
        """The text after the header in pieces that are worth a parser's while."""
        gathered = [self._rest] if self._rest else []
        size = len(self._rest)
        for chunk in self._chunks:
            gathered.append(chunk)
            size += len(chunk)
            if size >= _PIECE:
                yield b"".join(gathered)
                gathered, size = [], 0
        if gathered:
            yield b"".join(gathered)

    def _piece(self, text: bytes, state: NDArray[np.int64]) -> Piece:
        n_rows = int(state[_RECORDS]) - self.n_rows
        self.n_rows += n_rows
        self.n_blank = int(state[_BLANK])
        if len(self.columns) > 1:  # blank lines at the end; with one column they are missing values
            text = text.rstrip(b"\r\n")
        return Piece(text.replace(b"\r\n", b"\n") if b"\r" in text else text, n_rows)

    def _check(self, state: NDArray[np.int64]) -> None:
        if state[_STRAY]:
            raise BadInputError(
                f"{self.name} has a quotation mark in the middle of a field, first in data row "
                f"{state[_FIRST_STRAY]}. A field that holds one is put in quotation marks and the "
                "one inside is doubled. Compare the file with its published checksum."
            )
        if state[_RAGGED]:
            raise BadInputError(
                f"{self.name} has rows with more or fewer fields than its {len(self.columns)} "
                f"columns, first in data row {state[_FIRST_RAGGED]}. Compare the file with its "
                "published checksum, or export it again."
            )

    def _unclosed(self) -> BadInputError:
        return BadInputError(
            f"{self.name} has a quotation mark that is never closed, after data row "
            f"{self.n_rows}. Compare the file with its published checksum."
        )
