"""A place in a TOML document: reads values of a known type, or says where and what is wrong."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from edsim.errors import BadVocabularyError


@dataclass(frozen=True, slots=True)
class Place:
    """Where in which file we are; the file's own words may stand in a message, data never do."""

    file: str
    where: str

    def error(self, problem: str) -> BadVocabularyError:
        """An error that begins with this place."""
        return BadVocabularyError(f"{self.file}, {self.where}: {problem}")

    def only(self, table: Mapping[str, Any], keys: Iterable[str]) -> None:
        """Refuse keys that mean nothing here."""
        keys = tuple(keys)
        for key in table:
            if key not in keys:
                raise self.error(
                    f"unknown key '{key}'{near(key, keys)}. Known here: {', '.join(keys)}."
                )

    def tables(
        self, content: Mapping[str, Any], key: str, *, needed: bool = True
    ) -> list[Mapping[str, Any]]:
        """The tables written under `[[key]]`."""
        found = content.get(key, [])
        if not isinstance(found, list) or not all(isinstance(t, Mapping) for t in found):
            raise self.error(f"'{key}' is written as a table under [[{key}]], in double brackets.")
        if needed and not found:
            raise self.error(f"there is no [[{key}]]. A vocabulary needs at least one.")
        return found

    def text(self, table: Mapping[str, Any], key: str, default: str | None = None) -> str:
        """A text."""
        value = table.get(key, default)
        if value is None:
            raise self.error(f"'{key}' is missing.")
        if not isinstance(value, str):
            raise self.error(f"'{key}' must be a text in quotation marks.")
        return value

    def yes(self, table: Mapping[str, Any], key: str) -> bool:
        """True or false; false where it is not written."""
        value = table.get(key, False)
        if not isinstance(value, bool):
            raise self.error(f"'{key}' must be true or false, without quotation marks.")
        return value

    def count(self, table: Mapping[str, Any], key: str, default: int | None = None) -> int:
        """A whole number of at least 1."""
        value = table.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise self.error(f"'{key}' must be a whole number of at least 1.")
        return value

    def texts(self, value: object, key: str) -> tuple[str, ...]:
        """A text or a list of texts, none of them empty."""
        values = value if isinstance(value, list) else [value]
        if not values:
            raise self.error(f"'{key}' is an empty list. Give it a text, or remove the line.")
        for v in values:
            if not isinstance(v, str):
                raise self.error(f"'{key}' must be a text in quotation marks or a list of texts.")
            if not v.strip():
                raise self.error(f"'{key}' holds an empty text, which would fit anything.")
        return tuple(values)


def near(wrong: str, known: Iterable[str]) -> str:
    """' (did you mean 'x'?)' where something known is close to what was written."""
    close = difflib.get_close_matches(wrong, list(known), n=1, cutoff=0.7)
    return f" (did you mean '{close[0]}'?)" if close else ""
