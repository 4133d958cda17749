"""Reading a study file: TOML that a person writes, and messages that say what is wrong in it."""

from __future__ import annotations

import difflib
import json
import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from edsim.errors import BadInputError
from edsim.studies.study import Entry, Study, Synthetic

_PARTS = {"models": Entry, "synthetic": Synthetic}
_WANTED = {
    "int": "a whole number",
    "float": "a number",
    "string": "a text in quotes",
    "bool": "true or false",
    "tuple": "a list in [ ]",
    "dataclass": "a table of settings",
}


@dataclass(frozen=True, slots=True)
class StudyFile:
    """A study and the file it was read from."""

    path: Path
    study: Study

    @property
    def cohort(self) -> Path:
        """Directory of the cohort."""
        return self.path.parent / self.study.cohort

    @property
    def results(self) -> Path:
        """Folder of the results."""
        return self.path.parent / (self.study.results or self.path.stem)


def read_study(path: Path) -> StudyFile:
    """Read a study file; everything wrong with its form is said at once, line by line."""
    from pydantic import ValidationError

    text = _text_of(path)
    try:
        said = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadInputError(f"{path.name} is not TOML: {_lower(str(error))}.") from None
    if isinstance(said.get("models"), list):
        said["models"] = [{"name": one} if isinstance(one, str) else one for one in said["models"]]
    try:
        study: Study = _adapter().validate_json(json.dumps(said, default=str), strict=True)
    except ValidationError as error:
        lines = [_in_words(one, text, path.name) for one in error.errors(include_url=False)]
        raise BadInputError("\n".join(dict.fromkeys(lines))) from None
    except BadInputError as error:
        raise BadInputError(f"{path.name}: {error}") from None
    return StudyFile(path, study)


def near(word: str, known: Iterable[str]) -> str:
    """The nearest known word, as a question; empty where none is near.

    >>> near("lunches", ["launches", "draws"])
    " Did you mean 'launches'?"
    """
    close = difflib.get_close_matches(word, list(known), n=1)
    return f" Did you mean '{close[0]}'?" if close else ""


@cache
def _adapter() -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(Study)


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise BadInputError(f"{path.name} is not a text file.") from None
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise BadInputError(f"'{path}' cannot be read: {reason}.") from None


def _in_words(error: Any, text: str, file: str) -> str:
    """One fault that pydantic found, as our messages are."""
    loc = [one for one in error["loc"] if isinstance(one, str)]
    key, inside = loc[-1], loc[:-1]
    where = f"{file}{_line_of(loc, text)}"
    number = next((one + 1 for one in error["loc"] if isinstance(one, int)), "")
    owner = f" of `{inside[0]}` {number}".rstrip() if inside else ""
    if error["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        known = [one.name for one in fields(_PARTS.get(inside[0], Study) if inside else Study)]
        return f"{where}: there is no key '{key}'{owner}.{near(key, known)} {_all(known, owner)}"
    if error["type"] in ("missing", "missing_argument"):
        return f"{file}: `{key}`{owner} is missing."
    if error["type"] == "literal_error":
        return f"{where}: `{key}`{owner} is {error['ctx']['expected']}."
    wanted = next((w for kind, w in _WANTED.items() if error["type"].startswith(kind)), "")
    return f"{where}: `{key}`{owner} has to be {wanted or _lower(error['msg'])}."


def _all(known: Sequence[str], owner: str) -> str:
    return f"{'There' if owner else 'A study'} may {'be' if owner else 'have'} {', '.join(known)}."


def _line_of(keys: Sequence[str], text: str) -> str:
    """Where the last of some keys first stands behind those before it."""
    lines, at = text.splitlines(), 0
    for key in keys:
        pattern = re.compile(rf"(^|[{{,\[\s]){re.escape(key)}\s*[=\]]")
        at = next((i for i, line in enumerate(lines) if i >= at and pattern.search(line)), -1)
        if at < 0:
            return ""
    return f", line {at + 1}"


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]
