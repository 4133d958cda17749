"""What `edsim diagnose`, `compare` and `census` print."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape

from edsim.tables.verdicts import Verdict


def show_faults(console: Console, verdicts: Sequence[Verdict]) -> None:
    """The producer, then a sentence for each fault with the measures it rests on."""
    console.print(f"[bold]{escape(verdicts[0].producer)}[/]")
    for verdict in verdicts:
        name = f"[bold red]{verdict.fault}[/]  " if verdict.fault else ""
        console.print(f"  {name}{escape(verdict.sentence)}")
        if verdict.evidence:
            console.print(f"  [dim]see {', '.join(verdict.evidence)}[/]")
