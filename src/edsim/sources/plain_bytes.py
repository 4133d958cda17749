"""The bytes of a text file, decompressed and checked while they pass.

One reading gives everything that only bytes can tell: size, SHA-256, whole gzip data, UTF-8, no
NUL. What the text says is for `records` and `files`.
"""

from __future__ import annotations

import codecs
import hashlib
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from edsim.errors import BadInputError

CHUNK = 1 << 20
_PLAIN_CHUNK = 1 << 22
GZIP = b"\x1f\x8b"
_MARK = codecs.BOM_UTF8


def opened(path: Path) -> BinaryIO:
    """The file for reading, or the message that says why not."""
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise BadInputError(
                f"'{path}' is a pipe or a device, and a file is read more than once: write it to a "
                "file first."
            )
        return path.open("rb")
    except FileNotFoundError:
        raise BadInputError(f"there is no file at '{path}'.") from None
    except IsADirectoryError:
        raise BadInputError(f"'{path}' is a folder; a file is needed.") from None
    except PermissionError:
        raise BadInputError(f"'{path}' cannot be read: permission denied.") from None
    except OSError as error:
        raise BadInputError(f"'{path}' cannot be read: {error.strerror}.") from None


class PlainBytes:
    """Iterates over the text of a file; what was learned is complete when the end is reached."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.n_bytes = 0
        """Bytes read from the file so far, before decompression."""
        self.had_mark = False
        """Whether the text began with a byte-order mark, which is left out."""
        self._digest = hashlib.sha256()

    @property
    def sha256(self) -> str:
        """Of the bytes read so far."""
        return self._digest.hexdigest()

    def __iter__(self) -> Iterator[bytes]:
        decoder = codecs.getincrementaldecoder("utf-8")()
        n_before = 0
        for chunk in self._without_mark():
            self._check(chunk, decoder, n_before)
            n_before += len(chunk)
            yield chunk
        self._check(b"", decoder, n_before, final=True)
        if not n_before:
            raise BadInputError(f"{self.path.name} is empty.")

    def _check(
        self, chunk: bytes, decoder: codecs.IncrementalDecoder, n_before: int, final: bool = False
    ) -> None:
        pending = bool(decoder.getstate()[0])
        try:
            if pending or not chunk.isascii():
                decoder.decode(chunk, final=final)
        except UnicodeDecodeError as error:
            raise BadInputError(
                f"{self.path.name} is not UTF-8 text: byte {n_before + error.start + 1} of its "
                "text belongs to another encoding, such as Latin-1 or UTF-16. Convert it, for "
                "example with: iconv -f LATIN1 -t UTF-8"
            ) from None
        if b"\x00" in chunk:
            raise BadInputError(f"{self.path.name} holds NUL bytes: it is not a text file.")

    def _without_mark(self) -> Iterator[bytes]:
        head = b""
        chunks = self._decompressed()
        for chunk in chunks:
            head += chunk
            if len(head) >= len(_MARK):
                break
        if head.startswith(_MARK):
            self.had_mark = True
            head = head[len(_MARK) :]
        if head:
            yield head
        yield from chunks

    def _decompressed(self) -> Iterator[bytes]:
        raw = self._raw()
        first = next(raw, b"")
        if not first.startswith(GZIP):
            if first:
                yield first
            yield from raw
            return
        unzip = zlib.decompressobj(wbits=31)
        rest = first
        try:
            while True:
                while rest:
                    if unzip.eof:  # several gzip members in one file, or padding with zeros
                        rest = rest.lstrip(b"\x00")
                        if not rest:
                            break
                        unzip = zlib.decompressobj(wbits=31)
                    plain = unzip.decompress(rest, _PLAIN_CHUNK)
                    rest = unzip.unused_data if unzip.eof else unzip.unconsumed_tail
                    if plain:
                        yield plain
                rest = next(raw, b"")
                if not rest:
                    break
        except zlib.error:
            raise BadInputError(
                f"{self.path.name} is damaged: its gzip data cannot be read. Fetch it again and "
                "compare it with its published checksum."
            ) from None
        yield from self._drained(unzip)

    def _drained(self, unzip: zlib._Decompress) -> Iterator[bytes]:
        """What the decompressor still held back, and whether it had come to an end."""
        plain = unzip.flush() if not unzip.eof else b""
        if plain:
            yield plain
        if not unzip.eof:
            raise BadInputError(
                f"{self.path.name} is cut short: its gzip data end early. Fetch it again and "
                "compare it with its published checksum."
            )

    def _raw(self) -> Iterator[bytes]:
        with opened(self.path) as stream:
            while chunk := self._read(stream):
                self._digest.update(chunk)
                self.n_bytes += len(chunk)
                yield chunk

    def _read(self, stream: BinaryIO) -> bytes:
        try:
            return stream.read(CHUNK)
        except OSError as error:
            raise BadInputError(
                f"{self.path.name} cannot be read to its end: {error.strerror}."
            ) from None
