"""What `edsim rollout`, `rollouts show` and `check` print."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape

from edsim.cli.show import table_of
from edsim.conformance.verdicts import Verdict
from edsim.tables.rollouts import Rollouts
from edsim.tables.rollouts_summary import summarise_rollouts

if TYPE_CHECKING:
    from edsim.models.coverage import OrderCoverage

_MARKS = {
    "pass": "[green]pass[/]",
    "fail": "[bold red]FAIL[/]",
    "warning": "[yellow]warning[/]",
    "not applicable": "[dim]not applicable[/]",
}


FEW = "not said: fewer than ten subjects are behind them, or behind another part of the split"
UNKNOWN = "not said of restricted data, unless --cohort tells how many subjects are behind them"


def show_rollouts(console: Console, rollouts: Rollouts, hidden: str = "") -> None:
    """What a rollouts table holds, in a few lines; `hidden` says why nothing may be counted."""
    header = rollouts.header
    version = f" {header.producer_version}" if header.producer_version else ""
    lines = {
        "producer": header.producer + version + (" (privileged)" if header.privileged else ""),
        "rule": f"{header.rule}; clock {header.clock}; cap {header.cap}; seed {header.seed}",
        "cohort": f"{header.cohort_id}, vocabulary {header.vocabulary}",
        **(
            {"launches": header.launches or "not said", "counts": hidden}
            if hidden
            else _counts(rollouts)
        ),
    }
    for name, said in lines.items():
        console.print(f"{name:<10}{escape(_printable(said))}")


def _printable(said: str) -> str:
    """Text of a foreign header without what a terminal would take for a command."""
    return "".join(one if one.isprintable() else "?" for one in said)


def _counts(rollouts: Rollouts) -> dict[str, str]:
    sums = summarise_rollouts(rollouts)
    return {
        "launches": f"{rollouts.header.launches or 'not said'}: {sums.n_launches:,} launches, "
        f"{sums.n_draws} draw{'s' if sums.n_draws > 1 else ''} each",
        "rows": f"{sums.n_rows:,}, {sums.n_events:,} generated events",
        "ended": f"{sums.terminated:.2%} with END, {sums.capped:.2%} stopped by the cap",
        "events": f"mean {sums.mean_length:.2f}, median {sums.median_length:g}, longest "
        f"{sums.longest} a row",
        "minutes": f"mean {sums.mean_minutes:.1f}, median {sums.median_minutes:.1f} of rows that "
        f"ended; {sums.share_zero_gaps:.1%} of gaps are zero",
    }


def show_verdicts(console: Console, verdicts: Sequence[Verdict]) -> None:
    """One line a check, then the count."""
    table = table_of("Checks", "check")
    table.add_column("")
    table.add_column("", overflow="fold")
    for verdict in verdicts:
        table.add_row(escape(verdict.name), _MARKS[verdict.outcome], escape(verdict.sentence))
    console.print(table)
    counts = {mark: sum(v.outcome == mark for v in verdicts) for mark in _MARKS}
    said = ", ".join(f"{n} {mark}" for mark, n in counts.items() if n)
    console.print(f"\n{said}. What each check means: docs/check.md")


def show_coverage(console: Console, lines: Sequence[tuple[OrderCoverage, float]]) -> None:
    """What the training split has seen of the test split, by order."""
    table = table_of(
        "Contexts of the training split, and their coverage of test transitions",
        "order",
        "coverage",
        "contexts",
        "with start mark",
        "file MB",
    )
    for line, size in lines:
        table.add_row(
            str(line.order),
            f"{line.share:.6f}",
            f"{line.n_contexts:,}",
            f"{line.n_contexts_marked:,}",
            f"{size:.2f}",
        )
    console.print(table)
