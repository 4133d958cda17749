"""How long work tells that it goes on: one small protocol, so that no layer below prints.

The command line shows it as bars with rate and time left; everything else passes `silent`.
"""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Receives what long work has to say."""

    def stage(self, title: str, total: int | None = None, unit: str = "rows") -> None:
        """A new stage begins; `total` is None where it is not known beforehand."""

    def advance(self, n: int) -> None:
        """`n` more units of this stage are done."""

    def notice(self, text: str) -> None:
        """Something the user should know, though the work goes on."""


class Silent:
    """Says nothing."""

    def stage(self, title: str, total: int | None = None, unit: str = "rows") -> None:
        pass

    def advance(self, n: int) -> None:
        pass

    def notice(self, text: str) -> None:
        pass


silent = Silent()
