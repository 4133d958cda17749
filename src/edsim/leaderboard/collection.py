"""The entries of a board: a folder of score sheets, in groups of what may be compared.

Whoever adds an entry changes no other, so entries can be proposed one by one, as files. What is
said of the same cohort, launches and reference has to agree from one entry to the next.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from edsim.errors import BadInputError, BadTableError, OutputError
from edsim.leaderboard.entry import problems_of, shareable
from edsim.report.material import is_open_loop
from edsim.tables.scores import (
    SUFFIX,
    ScoreSheet,
    read_sheet,
    sheet_as_text,
    sheet_from_bytes,
)
from edsim.tables.whole_file import whole_file

ENTRIES = "entries"
SETTINGS = "board.json"
LARGEST_FILE = 8_000_000
"""Bytes; nothing larger is read."""
_CLOSE = 1e-6


class Setting(NamedTuple):
    """Only numbers of one setting stand beside each other."""

    content_hash: str
    vocabulary_sha256: str
    launches: str
    cap: int


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of the board."""

    name: str
    sheet: ScoreSheet

    @property
    def setting(self) -> Setting:
        """What it may be compared within."""
        sheet = self.sheet
        return Setting(
            str(sheet.cohort.get("content_hash", "")),
            sheet.vocabulary_sha256,
            sheet.launches,
            sheet.cap,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """`board.json`, where a board has one: its title, and the cohorts it takes."""

    title: str = "Simulators of emergency-department visits"
    cohorts: tuple[str, ...] = ()
    """Content hashes; none is any."""


@dataclass(frozen=True, slots=True)
class Looked:
    """A board that was looked at: what is fine, and what is wrong with the rest."""

    settings: Settings
    entries: list[Entry]
    problems: dict[str, list[str]]
    """By the file's name."""


def look_at(board: Path) -> Looked:
    """Every entry of a board with what is wrong with it."""
    settings = read_settings(board)
    folder = board / ENTRIES
    if not folder.is_dir():
        raise BadInputError(
            f"'{board}' is no leaderboard: it has no folder '{ENTRIES}'. Begin one with: edsim "
            "board add SCORES --board DIR"
        )
    entries: list[Entry] = []
    problems: dict[str, list[str]] = {}
    for path in sorted(folder.iterdir()):
        try:
            if path.is_symlink() or not path.is_file() or not path.name.endswith(SUFFIX):
                raise BadTableError(f"it is no *{SUFFIX} file.")
            _refuse_large(path.stat().st_size)
            entry = Entry(path.name, read_sheet(path))
        except BadTableError as error:
            problems[path.name] = [str(error)]
            continue
        found = [*problems_of(entry.sheet), *_foreign(entry, settings)]
        found = found or [*_at_odds(entry, entries)]
        if found:
            problems[path.name] = found
        else:
            entries.append(entry)
    return Looked(settings, entries, problems)


def read_settings(board: Path) -> Settings:
    """`board.json`; the defaults without one."""
    path = board / SETTINGS
    if not path.exists():
        return Settings()
    try:
        said = json.loads(path.read_bytes())
    except (OSError, ValueError):
        said = None
    fits = isinstance(said, dict) and said.keys() <= {"title", "cohorts"}
    title = said.get("title", Settings().title) if fits else None
    cohorts = said.get("cohorts", []) if fits else None
    if not isinstance(title, str) or not isinstance(cohorts, list):
        raise BadInputError(
            f'{SETTINGS} is to be {{"title": TEXT, "cohorts": [CONTENT HASH, ...]}}; both may be '
            "left out."
        )
    return Settings(title=title, cohorts=tuple(str(one) for one in cohorts))


def add(sources: Sequence[Path], board: Path, *, name: str = "") -> list[str]:
    """Put the sheets of files, folders and share bundles on a board: all of them, or none.

    What is never shared is taken out first. The names of the new entries are given back.
    """
    sheets = [pair for source in sources for pair in _sheets_of(source)]
    looked = look_at(board) if (board / ENTRIES).is_dir() else Looked(Settings(), [], {})
    if name and len(sheets) > 1:
        raise BadInputError(f"one name was given for {len(sheets)} score files.")
    accepted = list(looked.entries)
    new: list[Entry] = []
    refused: list[str] = []
    for said, sheet in sheets:
        safe = shareable(sheet)
        entry = Entry(_file_name(safe, name), safe)
        there = any(one.name == entry.name for one in accepted)
        found = (
            ["it is on the board already."]
            if there
            else [*problems_of(safe), *_foreign(entry, looked.settings)]
        )
        found = found or [*_at_odds(entry, accepted)]
        refused += [f"{said}: {sentence}" for sentence in found]
        accepted.append(entry)
        new.append(entry)
    if refused:
        raise BadInputError("\n  ".join(["nothing was added to the board:", *refused]))
    for entry in new:
        path = board / ENTRIES / entry.name
        if path.exists():
            raise OutputError(f"'{path}' is already there.")
        with whole_file(path, restricted=False) as stream:
            stream.write(sheet_as_text(entry.sheet).encode())
    return [entry.name for entry in new]


def in_groups(entries: Sequence[Entry]) -> dict[Setting, list[Entry]]:
    """Entries by what may be compared; the groups with most entries first."""
    groups: dict[Setting, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(entry.setting, []).append(entry)
    return dict(sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])))


def _foreign(entry: Entry, settings: Settings) -> Iterator[str]:
    if settings.cohorts and entry.setting.content_hash not in settings.cohorts:
        yield (
            f"its cohort is none of the {len(settings.cohorts)} that this board takes (by content "
            f"hash, in {SETTINGS})."
        )


def _at_odds(entry: Entry, others: Sequence[Entry]) -> Iterator[str]:
    """What an entry says of the cohort, the launches and the reference otherwise than others do."""
    sheet = entry.sheet
    for other in others:
        if other.setting.content_hash == entry.setting.content_hash:
            sizes = ("n_stays", "n_subjects", "n_events", "restricted", "source")
            if any(sheet.cohort.get(size) != other.sheet.cohort.get(size) for size in sizes):
                yield f"it says other sizes of the same cohort than {other.name}."
                return
        if other.setting != entry.setting:
            continue
        if other.sheet.tokens != sheet.tokens:
            yield f"it has other tokens of the same vocabulary than {other.name}."
        if _population(other.sheet) != _population(sheet):
            yield f"it was scored on another number of the same launches than {other.name}."
        apart = _references_apart(sheet, other.sheet)
        if apart:
            yield (
                f"the order-3 reference of {apart[0]}"
                + (f" and {len(apart) - 1} more" if len(apart) > 1 else "")
                + f" differs from that of {other.name}. Score again with the same version."
            )
        return


def _population(sheet: ScoreSheet) -> tuple[int, int, int] | None:
    row = sheet.find("termination")
    return None if row is None else (row.n_launches, row.n_stays, row.n_subjects)


REFERENCES = ("termination", "reached_discharge", "jsd", "jsd_triples", "occupancy_mae")
"""Measures of the first draw alone: their reference is the same however many draws were made."""


def _references_apart(sheet: ScoreSheet, other: ScoreSheet) -> list[str]:
    apart = []
    for metric in REFERENCES:
        rows = [one.find(metric) for one in (sheet, other)]
        ours, theirs = (None if row is None else row.reference for row in rows)
        if ours is None or theirs is None:
            continue
        if not math.isclose(ours, theirs, rel_tol=_CLOSE, abs_tol=_CLOSE):
            apart.append(metric)
    return apart


def _file_name(sheet: ScoreSheet, name: str) -> str:
    """From the producer, and the content: two entries with one name have the same numbers."""
    said = name or "-".join([sheet.producer, *([sheet.rule] if sheet.rule != "vanilla" else [])])
    plain = "-".join(re.findall(r"[A-Za-z0-9_.]+", said)).strip(".-")[:60] or "entry"
    digest = hashlib.sha256(sheet_as_text(sheet).encode()).hexdigest()
    return f"{plain}-{digest[:8]}{SUFFIX}"


def _sheets_of(source: Path) -> Iterator[tuple[str, ScoreSheet]]:
    """The sheets of a file, of a folder and below, or of a bundle of `edsim report --share`.

    What lies in a folder or a bundle may be for a report: scores of predictions are passed over.
    """
    if not source.is_dir() and source.suffix != ".zip":
        yield source.name, _read(source)
        return
    found = list(_bundled(source) if source.suffix == ".zip" else _in_folder(source))
    of_rollouts = [(name, sheet) for name, sheet in found if not is_open_loop(sheet)]
    if not of_rollouts:
        raise BadInputError(f"'{source}' holds scores of predictions only; a board is of rollouts.")
    yield from of_rollouts


def _in_folder(folder: Path) -> Iterator[tuple[str, ScoreSheet]]:
    paths = sorted(folder.rglob(f"*{SUFFIX}"))
    if not paths:
        raise BadInputError(f"'{folder}' holds no *{SUFFIX} file.")
    for path in paths:
        yield path.name, _read(path)


def _read(path: Path) -> ScoreSheet:
    try:
        _refuse_large(path.stat().st_size)
    except OSError:
        raise BadInputError(f"there is no score file or folder at '{path}'.") from None
    return read_sheet(path)


def _bundled(path: Path) -> Iterator[tuple[str, ScoreSheet]]:
    try:
        with zipfile.ZipFile(path) as bundle:
            files = [one for one in bundle.infolist() if one.filename.endswith(SUFFIX)]
            if not files:
                raise BadInputError(f"'{path}' holds no *{SUFFIX} file.")
            for one in files:
                _refuse_large(one.file_size)
                name = one.filename.rsplit("/", 1)[-1]
                yield name, sheet_from_bytes(bundle.read(one), name)
    except (OSError, zipfile.BadZipFile):
        raise BadInputError(f"'{path}' is no bundle of `edsim report --share`.") from None


def _refuse_large(n_bytes: int) -> None:
    if n_bytes > LARGEST_FILE:
        raise BadTableError(
            f"it takes {n_bytes / 1e6:.0f} MB; at most {LARGEST_FILE / 1e6:.0f} are read."
        )
