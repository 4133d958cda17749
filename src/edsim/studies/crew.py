"""This process as the crew: one piece after the other, with its own progress to be seen."""

from __future__ import annotations

from edsim.progress import Progress, silent
from edsim.studies.pieces import Outcome, Piece, perform


class Alone:
    """Carries out one piece at a time, here."""

    def __init__(self, progress: Progress = silent) -> None:
        self._progress = progress
        self._piece: Piece | None = None

    def takes(self, piece: Piece) -> bool:
        """One at a time."""
        return self._piece is None

    def start(self, piece: Piece) -> None:
        """It is made when its end is waited for."""
        self._piece = piece

    def ended(self) -> list[Outcome]:
        """Make the piece."""
        assert self._piece is not None
        piece, self._piece = self._piece, None
        return [perform(piece, self._progress)]

    def close(self) -> None:
        """Nothing is held."""
