"""What `edsim study` prints: results line by line, what work will cost, and how far it is."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from edsim.bench.study import NodesMeasured, bottleneck
from edsim.cli.show import table_of
from edsim.cli.show_comparisons import show_comparisons
from edsim.metrics.registry import METRICS
from edsim.metrics.words import figure
from edsim.studies.cost import WORK, Cost, CostLine
from edsim.studies.study import Study
from edsim.studies.study_run import StudyResults
from edsim.studies.study_state import PieceState, StudyState
from edsim.tables.scores import ScoreRow, ScoreSheet

COLUMNS = {
    "termination": "Term.",
    "reached_discharge": "Disch.",
    "jsd": "JSD",
    "xf": "xF",
    "duration_ratio": "Duration",
    "duration_ratio_shared": "Dur. shared",
    "los_mae": "LOS err.",
    "share_zero_gaps": "Zero gaps",
    "share_on_lattice": "On lattice",
    "occupancy_mae": "Occ. pp",
    "crps": "CRPS",
}
"""Measures of the first table, as far as they were asked for."""
_LINES_OF_SHOW = 40
_MARKS = {"done": "[green]done[/]", "failed": "[red]failed[/]", "running": "[yellow]running[/]"}


def show_results(console: Console, study: Study, results: StudyResults) -> None:
    """One line for each model, rule and clock; comparisons; what could not be made."""
    sheets = [sheet for of_arm in results.arms.values() for sheet in of_arm]
    if sheets:
        for table in _results_tables(console, study, results):
            console.print(table)
        _say_what_it_is_of(console, sheets)
    if results.comparisons is not None:
        console.print()
        show_comparisons(console, results.comparisons)
    for failure in results.failures:
        lack = f" {failure.n_lacking} pieces wait for it." if failure.n_lacking else ""
        console.print(f"[red]failed:[/] {escape(failure.title)}: {escape(failure.message)}{lack}")
    there = results.n_pieces - results.n_made
    console.print(
        f"[dim]{results.n_made} pieces made, {there} "
        f"{'there already' if not results.failures else 'there already or missing'}.[/]"
    )


def _results_tables(console: Console, study: Study, results: StudyResults) -> list[Table]:
    """One table, or several below each other where the terminal is too narrow for one."""
    sheets = [sheet for of_arm in results.arms.values() for sheet in of_arm]
    shown = [name for name in COLUMNS if any(_row(sheet, name) for sheet in sheets)]
    others = [name for name in study.metrics if name not in COLUMNS and _plain(sheets, name)]
    names = [*shown, *others]
    title = study.title or "Results"
    for per_table in range(len(names), 1, -1):
        begins = range(0, len(names), per_table)
        some = [names[begin : begin + per_table] for begin in begins]
        tables = [_results_table("" if k else title, results, one) for k, one in enumerate(some)]
        if all(_width(console, table) <= console.width for table in tables):
            return tables
    return [_results_table(title, results, names)]


def _width(console: Console, table: Table) -> int:
    return console.measure(table, options=console.options.update(max_width=10_000)).maximum


def _results_table(title: str, results: StudyResults, names: Sequence[str]) -> Table:
    sheets = [sheet for of_arm in results.arms.values() for sheet in of_arm]
    heads = [COLUMNS.get(name) or METRICS[name].title for name in names]
    table = table_of(title, "model", "seeds", *heads)
    for arm, of_arm in results.arms.items():
        cells = [_cell([_row(sheet, name) for sheet in of_arm]) for name in names]
        table.add_row(escape(arm), str(len(of_arm)) if of_arm else "-", *cells)
    table.add_section()
    for said, kind in (("order 3", "reference"), ("floor", "floor")):
        cells = [_beside(sheets, name, kind) for name in names]
        table.add_row(f"[dim]{said}[/]", "", *[f"[dim]{cell}[/]" for cell in cells])
    return table


def _row(sheet: ScoreSheet, name: str) -> ScoreRow | None:
    found = sheet.find(name)
    return found if found is not None and found.value is not None else None


def _plain(sheets: Sequence[ScoreSheet], name: str) -> bool:
    """Whether a measure is one number."""
    return name in METRICS and any(_row(sheet, name) for sheet in sheets)


def _cell(rows: Sequence[ScoreRow | None]) -> str:
    """The mean over training seeds over their standard deviation, or a number over its interval."""
    values = [row.value for row in rows if row is not None and row.value is not None]
    if not values:
        return "-"
    if len(values) > 1:
        return f"{figure(statistics.mean(values))}\n[dim]± {figure(statistics.stdev(values))}[/]"
    return figure(values[0])


def _beside(sheets: Sequence[ScoreSheet], name: str, kind: str) -> str:
    """What all sheets have in common, which is so where their launches are the same."""
    rows = [row for sheet in sheets if (row := _row(sheet, name)) is not None]
    values = {figure(getattr(row, kind)) for row in rows if getattr(row, kind) is not None}
    return values.pop() if len(values) == 1 else ""


def _say_what_it_is_of(console: Console, sheets: Sequence[ScoreSheet]) -> None:
    rows = [row for row in sheets[0].rows if row.population == "all" and row.n_launches]
    size = f"{rows[0].n_launches:,} launches of {rows[0].n_stays:,} stays; " if rows else ""
    console.print(
        f"[dim]{escape(sheets[0].launches)}: {size}vocabulary {escape(sheets[0].vocabulary)}, cap "
        f"{sheets[0].cap}, draws {sheets[0].draws}. ±: standard deviation over training seeds.[/]"
    )


def show_cost(console: Console, cost: Cost, workers: int) -> None:
    """The work of a study, and what it will take."""
    if cost.to_draw:
        table = table_of(f"{cost.title}: {cost.n_runs} runs", "model", "seeds", "rule", "clock")
        for arm in cost.arms:
            n_seeds = str(len(arm.producers))
            table.add_row(escape(arm.name), n_seeds, escape(arm.rule), arm.clock or "its own")
        console.print(table)
        console.print(
            f"The cohort is not there yet: `edsim study run` draws {cost.to_draw:,} synthetic "
            "visits first. Once it is there this lists every piece, and what it will take as far "
            "as work like it was done on that cohort.",
            markup=False,
        )
        return
    title = f"{escape(cost.title)}: {cost.n_runs} runs"
    table = table_of(title, "work", "pieces", "there", "left", "minutes", "GiB")
    for line in sorted(cost.lines, key=lambda line: list(WORK).index(line.kind)):
        left = line.n_pieces - line.n_done
        table.add_row(
            escape(_work_of(line)),
            str(line.n_pieces),
            str(line.n_done),
            str(left),
            _minutes(line) if left else "",
            f"{line.mib / 1024:.1f}" if left and line.mib is not None else "",
        )
    console.print(table)
    if not any(line.n_pieces > line.n_done for line in cost.lines):
        console.print("Nothing is left to make.")
        return
    at_least = "at least " if cost.unknown else "about "
    in_all = max(cost.seconds / workers, cost.longest_seconds)
    console.print(
        f"In all {at_least}{_time(in_all)} with {workers} worker{'s' if workers > 1 else ''}; "
        f"the longest chain of pieces takes {_time(cost.longest_seconds)}."
    )
    if cost.unknown:
        console.print(
            f"[dim]{cost.unknown} pieces are like nothing this cohort has seen, and are not in it: "
            "a smaller launch set measures them in short time.[/]"
        )
    if any(line.n_pieces > line.n_done and not line.alike for line in cost.lines):
        console.print("[dim]~: measured on other work of the kind.[/]")


def _work_of(line: CostLine) -> str:
    kind = WORK.get(line.kind, line.kind)
    return f"{kind}: {line.counted}" if line.counted not in (line.kind, "joined", "") else kind


def _minutes(line: CostLine) -> str:
    if line.seconds is None:
        return "unknown"
    return f"{'' if line.alike else '~'}{line.seconds / 60:.1f}"


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5_400 else f"{seconds / 3600:.1f} h"


def show_state(console: Console, state: StudyState) -> None:
    """Every piece with its state; many that are done become one line a kind."""
    if state.to_draw:
        console.print(f"{escape(state.title)}: nothing is there yet, the cohort neither.")
        return
    if state.of_another_cohort:
        console.print(
            f"[yellow]The results in {escape(str(state.results))} are of another cohort: its "
            "content has changed since. Name another folder with --out, or remove this one.[/]",
            soft_wrap=True,
        )
    table = table_of(escape(state.title), "piece", "state", "took", "GiB")
    done = [piece for piece in state.pieces if piece.state == "done"]
    other = [piece for piece in state.pieces if piece.state != "done"]
    many = len(state.pieces) > _LINES_OF_SHOW
    for line in _kinds(done) if many else [_line_of(piece) for piece in done]:
        table.add_row(*line)
    table.add_section()
    for piece in other:
        table.add_row(*_line_of(piece))
    console.print(table)
    for piece in other:
        if piece.message:
            console.print(f"[red]failed:[/] {escape(piece.title)}: {escape(piece.message)}")
    counts = Counter(piece.state for piece in state.pieces)
    said = ", ".join(f"{n} {name}" for name, n in counts.items())
    seconds = sum(piece.seconds or 0.0 for piece in done)
    console.print(f"[dim]{said}; {_time(seconds)} of work done. Results: {state.results}[/]")


def _line_of(piece: PieceState) -> tuple[str, str, str, str]:
    return (
        escape(piece.title),
        _MARKS.get(piece.state, piece.state),
        "" if piece.seconds is None else f"{piece.seconds:.1f} s",
        "" if piece.peak_mib is None else f"{piece.peak_mib / 1024:.2f}",
    )


def _kinds(pieces: Sequence[PieceState]) -> list[tuple[str, str, str, str]]:
    """One line for all pieces of a kind."""
    lines = []
    for kind in dict.fromkeys(piece.kind for piece in pieces):
        some = [piece for piece in pieces if piece.kind == kind]
        seconds = sum(piece.seconds or 0.0 for piece in some)
        peak = max((piece.peak_mib or 0.0 for piece in some), default=0.0)
        title = f"{len(some)} {WORK.get(kind, kind)}"
        lines.append((title, _MARKS["done"], _time(seconds), f"{peak / 1024:.2f}"))
    return lines


def show_nodes(console: Console, rows: Sequence[NodesMeasured], n_processors: int) -> None:
    """Pieces a minute against the number of nodes, and what holds them back."""
    heads = ("pieces", "command, s", "pieces, s", "a minute", "s a piece", "busy")
    table = table_of("A study on local Ray nodes", "nodes", *heads)
    for row in rows:
        table.add_row(
            str(row.nodes),
            str(row.pieces),
            f"{row.seconds:.1f}",
            f"{row.window:.1f}",
            f"{row.a_minute:.1f}",
            f"{row.typical:.2f}",
            f"{row.busy:.0%}",
        )
    console.print(table)
    for row in rows[1:]:
        console.print(f"{row.nodes} nodes: {bottleneck(row, rows[0], n_processors)}.")
