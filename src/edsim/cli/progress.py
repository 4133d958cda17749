"""Progress on a terminal: stage, bar, rate, time left. Elsewhere silent but for notices."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from edsim.progress import Progress

if TYPE_CHECKING:
    from rich.progress import TaskID


class _Bars:
    """One line a stage, drawn on standard error so that output can be piped."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            SpinnerColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )
        from rich.progress import Progress as RichProgress

        self.bars = RichProgress(
            SpinnerColumn(finished_text="✓"),
            TextColumn("{task.description:<32}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[done]:>22}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(compact=True),
            console=Console(stderr=True),
        )
        self.task: TaskID | None = None
        self.unit = "rows"

    def stage(self, title: str, total: int | None = None, unit: str = "rows") -> None:
        self.finish()
        self.unit = unit
        self.task = self.bars.add_task(title, total=total, done="")

    def advance(self, n: int) -> None:
        if self.task is None:
            return
        task = self.bars.tasks[self.task]
        self.bars.update(self.task, advance=n, done=_rate(task.speed, self.unit))

    def notice(self, text: str) -> None:
        self.bars.console.print(f"note: {text}", markup=False, highlight=False)

    def finish(self) -> None:
        if self.task is not None:
            task = self.bars.tasks[self.task]
            total = task.total or task.completed or 1
            self.bars.update(self.task, total=total, completed=total, refresh=True)
            self.task = None


class _Quiet:
    def stage(self, title: str, total: int | None = None, unit: str = "rows") -> None:
        pass

    def advance(self, n: int) -> None:
        pass

    def notice(self, text: str) -> None:
        print(f"note: {text}", file=sys.stderr)


def _rate(speed: float | None, unit: str) -> str:
    if not speed:
        return ""
    for limit, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if speed >= limit:
            return f"{speed / limit:.1f} {letter} {unit}/s"
    return f"{speed:.0f} {unit}/s"


@contextmanager
def shown_progress() -> Iterator[Progress]:
    """Bars while the block runs, where standard error is a terminal."""
    if not sys.stderr.isatty():
        yield _Quiet()
        return
    bars = _Bars()
    with bars.bars:
        yield bars
        bars.finish()
