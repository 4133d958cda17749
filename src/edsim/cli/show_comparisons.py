"""What `edsim compare` prints: the numbers of each pair, and what they come to in words."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from edsim.cli.show import table_of
from edsim.metrics.registry import METRICS
from edsim.metrics.words import chance_of, figure
from edsim.tables.comparisons import Comparison, ComparisonRow, Comparisons, SeedRow

_LONGEST_HEAD = 14
_WIDE = 110
"""Terminals this wide have room for intervals beside the differences."""


def show_comparisons(console: Console, found: Comparisons) -> None:
    """A table for each pair, with its sentences under it."""
    for one in found.comparisons:
        wide = console.width >= _WIDE
        console.print(_seed_table(one, wide) if one.seeds else _table(one, wide))
        a, b = (escape(name) for name in _short(one))
        size = f"{one.n_launches:,} launches of {one.n_stays:,} stays"
        console.print(
            f"[dim]{escape(found.launches)}: {size if one.n_launches else 'under 10 subjects'}; "
            f"cap {found.cap}, {found.draws} draw{'s' if found.draws > 1 else ''} each. "
            f"Difference: loss of {a} less loss of {b}.[/]"
        )
        _in_words(console, one)


def _in_words(console: Console, one: Comparison) -> None:
    """What was found, then in a line each where nothing was and what is not there."""
    console.print()
    rows: list[ComparisonRow | SeedRow] = [*one.rows, *one.seeds]
    found = [row for row in rows if row.sentence]
    told = [row for row in found if row.better or "differ (" in row.sentence]
    for row in told:
        console.print(_hanging("[green]•[/]" if row.better else "•", escape(row.sentence)))
    rest = [row for row in found if row not in told]
    if rest:
        titles = ", ".join(escape(_title(row, unit=False)) for row in rest)
        console.print(_hanging("•", f"No difference beyond chance: {titles}."))
    for note, names in _notes(rows).items():
        console.print(_hanging("[dim]-[/]", f"[dim]{escape(', '.join(names))}: {escape(note)}[/]"))
    console.print()


def _notes(rows: Sequence[ComparisonRow | SeedRow]) -> dict[str, list[str]]:
    """Why something is not there, and of which measures it is so."""
    why: dict[str, list[str]] = {}
    for row in rows:
        if row.difference is None and row.note and row.metric not in why.get(row.note, []):
            why.setdefault(row.note, []).append(row.metric)
    return why


def _hanging(mark: str, text: str) -> Table:
    """A sentence whose lines stand under each other beside its mark."""
    grid = Table.grid(padding=(0, 1))
    grid.add_row(mark, text)
    return grid


def _table(one: Comparison, wide: bool) -> Table:
    heads = ["measure", *_short(one), "difference"]
    heads += ["95 % interval", "p", "p (Holm)", "detectable"] if wide else ["p (Holm)"]
    table = table_of(_heading(one), *heads, "better")
    for row in one.rows:
        p = row.p_holm if row.p_holm is not None else row.p_value
        more = (
            [_interval(row), chance_of(row.p_value), chance_of(row.p_holm), figure(row.detectable)]
            if wide
            else [chance_of(p)]
        )
        table.add_row(
            escape(_title(row)),
            figure(row.a),
            figure(row.b),
            figure(row.difference),
            *more,
            _winner(row, one),
        )
    return table


def _seed_table(one: Comparison, wide: bool) -> Table:
    heads = ["measure", *_short(one), "difference"]
    heads += ["95 % interval", "p", "between seeds", "within"] if wide else ["p"]
    table = table_of(_heading(one), *heads, "seeds needed", "better")
    for row in one.seeds:
        more = (
            [
                _interval(row),
                chance_of(row.p_value),
                f"{figure(row.between_a)}, {figure(row.between_b)}",
                f"{figure(row.within_a)}, {figure(row.within_b)}",
            ]
            if wide
            else [chance_of(row.p_value)]
        )
        needed = "-" if row.difference is None else f"{row.seeds_needed or 'over 1,000'}"
        table.add_row(
            escape(_title(row)),
            figure(row.a),
            figure(row.b),
            figure(row.difference),
            *more,
            needed,
            _winner(row, one),
        )
    return table


def _interval(row: ComparisonRow | SeedRow) -> str:
    return "-" if row.low is None else f"{figure(row.low)} to {figure(row.high)}"


def _winner(row: ComparisonRow | SeedRow, one: Comparison) -> str:
    if row.difference is None:
        return ""
    names = dict(zip("ab", _short(one), strict=True))
    return f"[green]{escape(names[row.better])}[/]" if row.better else "[dim]neither[/]"


def _heading(one: Comparison) -> str:
    """The two sides by name, and what the columns call them."""
    if _short(one) == (one.a, one.b):
        return f"{one.a} against {one.b}"
    return f"A: {one.a}\nB: {one.b}"


def _short(one: Comparison) -> tuple[str, str]:
    """Names for columns: their own, or letters where these are too long."""
    fit = max(len(one.a), len(one.b)) <= _LONGEST_HEAD
    return (one.a, one.b) if fit else ("A", "B")


def _title(row: ComparisonRow | SeedRow, *, unit: bool = True) -> str:
    measure = METRICS.get(f"{row.metric} {row.group}".rstrip()) or METRICS[row.metric]
    place = " ".join(
        part for part in (row.group, "" if row.at is None else f"at {row.at:g}") if part
    )
    of = f", {measure.unit}" if unit and measure.unit in ("min", "pp", "%") else ""
    return f"{measure.title}{' ' + place if place else ''}{of}"
