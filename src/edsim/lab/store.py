"""Where everything lies that can be made again: fitted and trained models, rollouts, scores.

A thing is asked for by all that decides its content, and is found by the hash of that, or made.
Beside it stands a manifest: the inputs, the version of the code, how long it took and how much
memory. Two processes that ask for the same thing make it once; one that is killed leaves nothing
under the thing's name, and the next to ask begins where shards or epochs were left.

A cohort's store is its folder `artifacts/`. It is no part of the cohort: the cohort's hashes do
not cover it, and replacing the cohort removes it.
"""

from __future__ import annotations

import errno
import glob
import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from edsim import __version__
from edsim.cohort.manifest import ARTIFACTS
from edsim.errors import BadTableError, OutputError
from edsim.lab.cohort import Cohort
from edsim.lab.locks import only_one
from edsim.lab.measured import Spent, measured
from edsim.privacy import set_permissions
from edsim.progress import Progress, silent
from edsim.tables.whole_file import cannot_write, whole_file

MADE = ".made.json"
"""Ending of the manifest that stands beside a thing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Something that is wanted: what kind of thing, and all that decides its content."""

    kind: str
    """Folder of the store: `models`, `runs`, `rollouts`, `scores`."""
    name: str
    """For people; two things may share it."""
    inputs: Mapping[str, Any]
    """JSON values only. Neither a path nor a host is an input."""
    ending: str = ""
    """Of a file, such as `.rollouts.parquet`; a folder has none."""
    units: float = 0.0
    """How much work it is (rollouts, or training events), from which rates are known."""
    counted: str = ""
    """What work of the same speed is called, as `gru_all` or `ngram:3`."""

    @property
    def key(self) -> str:
        """SHA-256 of kind and inputs."""
        text = json.dumps({"kind": self.kind, **self.inputs}, sort_keys=True, allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def file_name(self) -> str:
        """Name, hash and ending."""
        name = re.sub(r"[^\w.@=+-]+", "-", self.name).strip("-.")[:80]
        return f"{name}-{self.key[:12]}{self.ending}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """The manifest of a thing."""

    kind: str
    name: str
    inputs: Mapping[str, Any] = field(default_factory=dict)
    code_version: str = ""
    seconds: float = 0.0
    peak_mib: float = 0.0
    units: float = 0.0
    counted: str = ""


@dataclass(frozen=True, slots=True)
class Store:
    """A folder of things that can be made again."""

    folder: Path
    restricted: bool

    def path(self, asked: Asked) -> Path:
        """Where the thing lies, or will."""
        return self.folder / asked.kind / asked.file_name

    def lock_path(self, asked: Asked) -> Path:
        """The lock that whoever makes the thing holds."""
        path = self.path(asked)
        return path.with_name(f".{path.name}.lock")

    def holds(self, asked: Asked) -> bool:
        """Whether it is there."""
        return self.path(asked).exists()

    def get(
        self,
        asked: Asked,
        make: Callable[[Path], None],
        progress: Progress = silent,
        *,
        beside: Callable[[Path, Path], None] = lambda made, path: None,
    ) -> Path:
        """The path of the thing; where it is missing, `make` writes the path it is given.

        That path is the same each time, so that work kept beside it is found again. `beside` writes
        what stands beside the thing, from where it was made and under the path it will have.
        """
        path = self.path(asked)
        if path.exists():
            return path
        self._prepare(path.parent)

        def waiting() -> None:
            progress.notice(f"another process is making {asked.name}; waiting for it.")

        with only_one(self.lock_path(asked), waiting):
            if not path.exists():
                self._make(asked, make, beside, path)
        return path

    def manifests(self, kind: str) -> Iterator[Made]:
        """What is known of all things of a kind; unreadable manifests are passed over."""
        for path in sorted((self.folder / kind).glob(f"*{MADE}")):
            try:
                yield Made(**json.loads(path.read_bytes()))
            except (OSError, ValueError, TypeError):
                continue

    def manifest(self, asked: Asked) -> Made:
        """The manifest of a thing that is there."""
        path = manifest_path(self.path(asked))
        try:
            return Made(**json.loads(path.read_bytes()))
        except (OSError, ValueError, TypeError):
            raise BadTableError(
                f"'{path.name}' cannot be read. Remove it and the file it stands beside; they are "
                "made again."
            ) from None

    def _make(
        self,
        asked: Asked,
        make: Callable[[Path], None],
        beside: Callable[[Path, Path], None],
        path: Path,
    ) -> None:
        partial = path.with_name(f".{path.name}.partial")
        _remove(partial)
        _remove_unfinished(path.parent, asked.file_name.removesuffix(asked.ending))
        try:
            with measured() as spent:
                make(partial)
            set_permissions(partial, restricted=self.restricted)
            beside(partial, path)
            self._write_manifest(asked, spent, path)
            partial.replace(path)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EROFS):
                raise
            raise cannot_write(path, error) from None
        finally:
            _remove(partial)

    def _write_manifest(self, asked: Asked, spent: Spent, path: Path) -> None:
        """Before the thing itself gets its name, so that nothing is there without one."""
        said = {
            "kind": asked.kind,
            "name": asked.name,
            "inputs": asked.inputs,
            "code_version": __version__,
            "seconds": spent.seconds,
            "peak_mib": spent.peak_mib,
            "units": asked.units,
            "counted": asked.counted,
        }
        with whole_file(manifest_path(path), restricted=self.restricted) as stream:
            stream.write(json.dumps(said, indent=1, sort_keys=True).encode() + b"\n")

    def _prepare(self, folder: Path) -> None:
        mode = 0o700 if self.restricted else 0o777
        try:
            for place in (self.folder, folder):
                place.mkdir(mode=mode, exist_ok=True, parents=True)
        except OSError as error:
            if error.errno not in (errno.EROFS, errno.EACCES, errno.EPERM):
                raise cannot_write(folder, error) from None
        if not os.access(folder, os.W_OK):
            raise OutputError(
                f"'{folder}' cannot be written. What is made of a cohort, such as fitted models, "
                "is kept in its folder: copy the cohort to a place where you may write."
            )


def store_of(cohort: Cohort) -> Store:
    """The store of a cohort."""
    return Store(cohort.directory / ARTIFACTS, cohort.manifest.restricted)


def manifest_path(path: Path) -> Path:
    """The manifest that stands beside a thing."""
    return path.with_name(path.name + MADE)


def cohort_inputs(cohort: Cohort, vocabulary: str) -> dict[str, Any]:
    """What every thing made of encoded visits is decided by."""
    return {
        "cohort": cohort.manifest.content_hash,
        "vocabulary": cohort.manifest.vocabularies[vocabulary]["sha256"],
    }


def _remove_unfinished(folder: Path, stem: str) -> None:
    """What a killed process was writing of a thing, or beside it; whoever has the lock may."""
    for old in folder.glob(f".*{glob.escape(stem)}*.partial-*"):
        old.unlink(missing_ok=True)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
