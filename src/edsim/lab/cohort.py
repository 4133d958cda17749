"""A cohort on disk, opened: its manifest at once, its tables and arrays when they are asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from edsim.cohort.manifest import Manifest, hash_file, read_manifest
from edsim.cohort.tables import EVENTS_FILE, STAYS_FILE, read_events, read_stays, scan_events
from edsim.encoding.encode import read_vocabulary
from edsim.encoding.launches import launch_set, wanted_launches
from edsim.encoding.vocabulary import Vocabulary
from edsim.errors import BadCohortError
from edsim.lab.launching import launch_stays
from edsim.tables.visits import Launches, Visits

if TYPE_CHECKING:
    import polars as pl

_ARRAYS = ("tokens.npy", "minutes.npy", "offsets.npy", "start.npy")
_SHARED = ("stay_ids.npy", "split.npy", "known.npz")


@dataclass(frozen=True, slots=True)
class Cohort:
    """A directory made by `build_cohort`."""

    directory: Path
    manifest: Manifest

    def unchanged(self, *names: str) -> None:
        """Raise unless these files of the cohort are as they were when it was built."""
        for name in names:
            path = self.directory / name
            try:
                found = path.stat()
            except OSError:
                continue  # whoever reads it says that it is missing
            if _hash(path, found.st_mtime_ns, found.st_size) != self.manifest.files.get(name):
                raise BadCohortError(
                    f"{name} is not as it was when the cohort was built. `edsim cohort check` "
                    "tells all that has changed; build the cohort again."
                )

    def stays(self) -> pl.DataFrame:
        """One row a stay, sorted by id as text."""
        self.unchanged(STAYS_FILE)
        return read_stays(self.directory)

    def events(self) -> pl.DataFrame:
        """All events with the stay's row number in place of its id."""
        self.unchanged(EVENTS_FILE)
        return read_events(self.directory, self.stays())

    def scan_events(self) -> pl.LazyFrame:
        """The events table with ids, lazily."""
        self.unchanged(EVENTS_FILE)
        return scan_events(self.directory)

    def vocabulary_name(self, name: str | None = None) -> str:
        """`name` if the cohort is encoded with it; its first vocabulary where none is named."""
        names = list(self.manifest.vocabularies)
        if name is None:
            return names[0]
        if name not in names:
            raise BadCohortError(
                f"the cohort is not encoded with vocabulary '{name}'; it has {', '.join(names)}. "
                f"Build it again with --vocabulary {name}."
            )
        return name

    def vocabulary(self, name: str | None = None) -> Vocabulary:
        """A vocabulary as it was resolved for this cohort."""
        chosen = self.vocabulary_name(name)
        vocabulary = read_vocabulary(self.encoded(chosen))
        if vocabulary.sha256 != self.manifest.vocabularies[chosen]["sha256"]:
            raise BadCohortError(
                f"vocabulary '{chosen}' of the cohort is not the one it was encoded with. "
                "Run `edsim cohort check` on the cohort."
            )
        return vocabulary

    def visits(self, vocabulary: str | None = None) -> Visits:
        """The encoded visits, memory-mapped."""
        name = self.vocabulary_name(vocabulary)
        self.unchanged(
            *(f"encoded/{name}/{array}" for array in (*_ARRAYS, "facts.npz")),
            *(f"encoded/{array}" for array in _SHARED),
        )
        return Visits.open(self.encoded(name))

    def encoded(self, vocabulary: str) -> Path:
        """The directory of one vocabulary's arrays."""
        return self.directory / "encoded" / vocabulary

    def launches(self, name: str) -> Launches:
        """A launch set: as stored, or drawn by its rule where the cohort does not store it."""
        stored = self.directory / "launches" / f"{name}.npy"
        if stored.exists():
            self.unchanged(f"launches/{name}.npy")
            launches: Launches = np.load(stored, mmap_mode="r", allow_pickle=False)
            return launches
        absent = self.manifest.launches.get(name, {}).get("absent")
        if absent:
            raise BadCohortError(f"the cohort has no launch set '{name}': {absent}.")
        return launch_set(name, launch_stays(self.stays()))

    def n_launches(self, name: str) -> int:
        """How many launches a set has, without drawing it."""
        said = self.manifest.launches.get(name, {})
        if "n" in said:
            return int(said["n"])
        wanted = wanted_launches(name)
        if not wanted:  # a set that is not there: refused with the reason
            return len(self.launches(name))
        part = "val" if name.startswith("val-") else "test"
        return min(wanted, int(self.manifest.split["parts"][part]["events"]))


def open_cohort(directory: Path | str) -> Cohort:
    """Open a cohort directory; a changed or foreign manifest is refused."""
    directory = Path(directory)
    return Cohort(directory, read_manifest(directory))


def subjects_of(cohort: Cohort) -> NDArray[np.int64]:
    """A number for the subject of each stay of the cohort."""
    return cohort.stays()["subject_id"].rank("dense").to_numpy().astype(np.int64)


@lru_cache(maxsize=256)
def _hash(path: Path, modified: int, size: int) -> str:
    """SHA-256 of a file, taken again only when it was written since."""
    return hash_file(path)
