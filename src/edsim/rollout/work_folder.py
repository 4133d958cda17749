"""The folder in which a long rollout keeps its finished shards, and what they are shards of.

A shard is written to a temporary name and renamed: under its own name it is whole. The manifest
holds everything that decides the content; a folder of other work is refused.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from edsim.errors import BadTableError, OutputError
from edsim.tables.visits import Launches, Suffixes
from edsim.tables.whole_file import whole_file

_MANIFEST, _LAUNCHES = "work.json", "launches.npy"


@dataclass(frozen=True, slots=True)
class WorkFolder:
    """An opened work folder."""

    directory: Path
    decides: Mapping[str, Any]
    """Everything that decides the content."""
    launches: Launches
    shards: tuple[slice, ...]
    """The launches of each shard."""

    @classmethod
    def make(
        cls, directory: Path, decides: Mapping[str, Any], launches: Launches, *, per_shard: int
    ) -> WorkFolder:
        """A new folder, or the one that is there if it is of the same work."""
        decides = json.loads(json.dumps(decides))
        if (directory / _MANIFEST).exists():
            folder = cls.open(directory)
            differ = [name for name in decides if decides[name] != folder.decides.get(name)]
            if differ:
                raise OutputError(
                    f"'{directory}' holds unfinished shards of other rollouts: "
                    f"{', '.join(differ)} {'differ' if len(differ) > 1 else 'differs'}. Remove "
                    "that folder, or choose another place."
                )
            _remove_leftovers(directory)
            return folder
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        _remove_leftovers(directory)
        if any(path.name != _LAUNCHES and not _is_partial(path) for path in directory.iterdir()):
            raise OutputError(f"'{directory}' holds something else. Choose another folder.")
        with whole_file(directory / _LAUNCHES, restricted=True) as stream:
            np.save(stream, launches)
        with whole_file(directory / _MANIFEST, restricted=True) as stream:
            manifest = {"launches_per_shard": per_shard, "decides": decides}
            stream.write(json.dumps(manifest, indent=1).encode())
        return cls.open(directory)

    @classmethod
    def open(cls, directory: Path) -> WorkFolder:
        """A folder that is there."""
        try:
            manifest = json.loads((directory / _MANIFEST).read_bytes())
            launches = np.load(directory / _LAUNCHES, allow_pickle=False)
            decides, per_shard = manifest["decides"], manifest["launches_per_shard"]
        except (OSError, ValueError, KeyError) as error:
            raise BadTableError(
                f"'{directory}' is no folder of rollout shards: {_MANIFEST} or {_LAUNCHES} cannot "
                f"be read ({type(error).__name__})."
            ) from None
        shards = (slice(i, i + per_shard) for i in range(0, len(launches), per_shard))
        return cls(directory, decides, launches, tuple(shards))

    def missing(self) -> list[int]:
        """The shards that are not finished."""
        return [i for i in range(len(self.shards)) if not self._path(i).exists()]

    def write(self, number: int, suffixes: Suffixes) -> None:
        """Finish a shard."""
        with whole_file(self._path(number), restricted=True) as stream:
            np.savez(
                stream,
                tokens=suffixes.tokens,
                minutes=suffixes.minutes,
                offsets=suffixes.offsets,
            )

    def read(self, number: int) -> Suffixes:
        """A finished shard."""
        path = self._path(number)
        try:
            with np.load(path, allow_pickle=False) as arrays:
                return Suffixes(arrays["tokens"], arrays["minutes"], arrays["offsets"])
        except Exception as error:  # a broken zip file raises what it likes
            raise BadTableError(
                f"{path.name} cannot be read ({type(error).__name__}). Remove it and run the "
                "rollout again: only this shard is made anew."
            ) from None

    def _path(self, number: int) -> Path:
        return self.directory / f"shard-{number:06d}.npz"


@contextmanager
def plain_messages(directory: Path) -> Iterator[None]:
    """The operating system's refusals as messages about the folder."""
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno).lower() if error.errno else type(error).__name__
        raise OutputError(
            f"rolling out into '{directory}' stopped: {reason}. Finished shards are kept; run the "
            "same again to go on."
        ) from error


def remove_work_folder(directory: Path) -> None:
    """Remove a folder whose work is done; killed in the midst, what is left can be gone on with.

    The manifest goes after the shards: without it they would be nobody's.
    """
    with suppress(OSError):
        for path in directory.iterdir():
            if path.name not in (_MANIFEST, _LAUNCHES):
                path.unlink()
        (directory / _MANIFEST).unlink()
    shutil.rmtree(directory, ignore_errors=True)


def _is_partial(path: Path) -> bool:
    return path.name.startswith(".") and ".partial-" in path.name


def _remove_leftovers(directory: Path) -> None:
    """Partial files of processes that are no more; a number in use again leaves one in peace."""
    for partial in filter(_is_partial, directory.iterdir()):
        owner = partial.name.rpartition("-")[2]
        try:
            os.kill(int(owner), 0)
        except (ProcessLookupError, ValueError):
            partial.unlink(missing_ok=True)
        except PermissionError:
            pass
