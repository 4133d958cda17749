"""The board of a report in the terminal: the finding, who is how far off in what, and why."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape

from edsim.cli.show import table_of
from edsim.report.board import Board, board_of
from edsim.report.entries import entries_of
from edsim.report.finding import finding, support, verdict
from edsim.report.material import Material


def show_board(console: Console, material: Material) -> None:
    """Finding, board and diagnosis, as on the page."""
    board = board_of(entries_of(material.sheets, material.open_loop))
    console.print(f"\n[bold]{escape(finding(board))}[/]")
    for sentence in support(board):
        console.print(escape(sentence))
    _show_table(console, board)
    _show_diagnosis(console, board)


def _show_table(console: Console, board: Board) -> None:
    table = table_of("The board", "producer", *(one.title for one in board.criteria))
    for line in board.lines:
        cells = []
        for one in board.criteria:
            cell = line.cells[one.metric]
            rank = "" if cell.rank is None else f" [dim]{'≈' if cell.level else ''}{cell.rank}[/]"
            cells.append(f"{cell.text}{rank}")
        table.add_row(escape(line.entry.label), *cells)
    console.print()
    console.print(table)
    console.print(
        "[dim]Small: the rank, by distance from what is right; ≈ where chance may explain it.[/]"
    )


def _show_diagnosis(console: Console, board: Board) -> None:
    console.print("\n[bold]The diagnosis[/]")
    for line in board.lines:
        for mark in verdict(line.entry):
            said = f"{mark.sign} {line.entry.label}: {mark.fault}. {mark.sentence}"
            console.print(escape(said), soft_wrap=True)
