"""Where commands print their result: standard output, as wide as the terminal, 100 in a pipe."""

from __future__ import annotations

import shutil
import sys

from rich.console import Console


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Whoever reads, such as `head`, has seen enough: no fault, unlike in rich."""
        raise BrokenPipeError


console = _Console(
    width=None if sys.stdout.isatty() else max(100, shutil.get_terminal_size((100, 40)).columns),
    highlight=False,
    soft_wrap=False,
)
