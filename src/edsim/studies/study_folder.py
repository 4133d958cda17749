"""The folder of a study's results: its sheets, its comparisons, and of what study they are.

`study.json` says which file asked for it and of which cohort it is; what was made of another
cohort, or is asked for by another study, never comes into it. Everything in it is a copy: the
cohort's store keeps what took time.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from edsim import __version__
from edsim.errors import BadCohortError, BadInputError, OutputError
from edsim.lab.cohort import Cohort
from edsim.lab.locks import only_one_or_none
from edsim.studies.engine import Failure
from edsim.studies.study import Arm
from edsim.studies.study_file import StudyFile
from edsim.tables.comparisons import FILE as COMPARISONS
from edsim.tables.comparisons import Comparisons, write_comparisons
from edsim.tables.scores import SUFFIX, ScoreSheet, write_sheet
from edsim.tables.whole_file import cannot_write, whole_file

STUDY = "study.json"
_LOCK = ".running.lock"


@dataclass(frozen=True, slots=True)
class StudyFolder:
    """A folder that holds the results of one study, or will."""

    path: Path

    @contextmanager
    def held(self) -> Iterator[None]:
        """Nobody else writes to the folder while the block runs."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise cannot_write(self.path, error) from None
        with only_one_or_none(self.path / _LOCK) as free:
            if not free:
                raise OutputError(
                    f"another process is writing the results of a study to '{self.path}' now. "
                    "Wait for it, or name another folder with --out."
                )
            yield

    def check(self, file: StudyFile, cohort: Cohort) -> None:
        """Refuse a folder of another study, of another cohort, or of something else."""
        said = self.said()
        if said is None:
            others = {one.name for one in self.path.iterdir()} if self.path.exists() else set()
            if others - {_LOCK}:
                raise OutputError(
                    f"'{self.path}' holds something else than the results of a study. Name another "
                    "folder with --out."
                )
            return
        if not self._is_of(file, said):
            other = said["study"] if said["study"] != file.path.name else said["file"]
            raise OutputError(
                f"'{self.path}' holds the results of another study, {other}. Name another "
                "folder with --out."
            )
        if said["content_hash"] != cohort.manifest.content_hash:
            raise BadCohortError(
                f"the cohort is not the one the results in '{self.path}' are of: its content has "
                "changed since. Name another folder with --out, or remove this one to begin anew."
            )

    def _is_of(self, file: StudyFile, said: dict[str, Any]) -> bool:
        """Whether it is this file's, by its place beside the folder: both may have been moved."""
        return (self.path / str(said["file"])).resolve() == file.path.resolve()

    def said(self) -> dict[str, Any] | None:
        """What `study.json` says; None where there is none."""
        try:
            said = json.loads((self.path / STUDY).read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValueError):
            said = {}
        if not {"study", "file", "content_hash", "failures"} <= said.keys():
            raise BadInputError(
                f"{STUDY} in '{self.path}' cannot be read. Remove the folder and run the study "
                "again: nothing that took time lies in it."
            )
        return dict(said)

    def begin(self, file: StudyFile, cohort: Cohort, failures: Sequence[Failure] = ()) -> None:
        """Say what the folder is of, and what could not be made of it."""
        said = {
            "study": file.path.name,
            "file": os.path.relpath(file.path.resolve(), self.path.resolve()),
            "title": file.study.title,
            "cohort": cohort.manifest.cohort_id,
            "content_hash": cohort.manifest.content_hash,
            "code_version": __version__,
            "failures": [asdict(failure) for failure in failures],
        }
        text = json.dumps(said, indent=1, ensure_ascii=False) + "\n"
        with whole_file(self.path / STUDY, restricted=cohort.manifest.restricted) as stream:
            stream.write(text.encode())

    def write(self, sheets: dict[str, ScoreSheet], comparisons: Comparisons | None) -> None:
        """The sheets by the names of their files, and no others; the comparisons."""
        for old in self.path.glob(f"*{SUFFIX}"):
            if old.name not in sheets:
                old.unlink()
        for name, sheet in sheets.items():
            write_sheet(sheet, self.path / name)
        if comparisons is None:
            (self.path / COMPARISONS).unlink(missing_ok=True)
        else:
            write_comparisons(comparisons, self.path / COMPARISONS)


def sheet_name(arm: Arm, number: int) -> str:
    """The file of the sheet of one of an arm's training seeds, counted from 0.

    >>> arm = Arm(name="GRU sampled", producers=("gru@8", "gru@9"), rule="vanilla", clock=None)
    >>> sheet_name(arm, 1)
    'GRU-sampled-2.scores.json'
    """
    stem = "-".join(re.findall(r"[\w.=]+", arm.name)).strip(".-")
    return f"{stem}-{number + 1}{SUFFIX}" if len(arm.producers) > 1 else f"{stem}{SUFFIX}"
