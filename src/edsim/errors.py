"""The errors a user meets: each message says what, where, how much, and what to do.

A message never holds an identifier or the content of a row: it must be safe to paste anywhere,
and patient data is not. Rows are named by their number in the file.
"""

import traceback
from pathlib import Path


def raised(error: BaseException) -> str:
    """What somebody's code raised and where, never its words: they could hold a row of the data.

    The place is the deepest line that is neither of edsim nor of an installed package.
    """
    ours = Path(__file__).parent
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if "site-packages" not in frame.filename and ours not in Path(frame.filename).parents
    ]
    place = f" in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
    return f"raised {type(error).__name__}{place}"


class EdsimError(Exception):
    """Base of every error that is the input's or the surroundings' fault. Exit code 2."""


class BadInputError(EdsimError):
    """A raw file, a flag or a setting cannot be used as it is."""


class BadTableError(EdsimError):
    """A table breaks the contract of docs/tables.md."""


class BadVocabularyError(EdsimError):
    """A vocabulary file is wrong, or does not fit the events."""


class BadCohortError(EdsimError):
    """A cohort directory is missing, incomplete, altered, or made for something else."""


class BadSimulatorError(EdsimError):
    """A simulator breaks the protocol: it raised, or gave an answer that the loop cannot use."""


class TrainingError(EdsimError):
    """Training cannot go on: its loss is no number, or memory is short."""


class OutputError(EdsimError):
    """The result cannot be written: no permission, no space, or something is already there."""


class MissingExtraError(EdsimError):
    """An optional package is needed for what was asked."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs the package '{package}', which is not installed. "
            f"Install it with: pip install 'edsim-bench[{extra}]'"
        )
