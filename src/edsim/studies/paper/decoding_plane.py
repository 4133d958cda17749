"""fig:plane: every decoding intervention in the plane of termination and divergence."""

from __future__ import annotations

from dataclasses import replace

from edsim.charts import Chart, Point, axis, chart, colour, picture
from edsim.studies.paper.book import COARSE, REFERENCE, Book
from edsim.studies.paper.cells import cell
from edsim.studies.paper.closed_loop import LABEL as CLOSED
from edsim.studies.paper.decoding import DEC7, DECR, ablations
from edsim.studies.paper.entry import Entry
from edsim.studies.runs import Run
from edsim.tables.paper import Panel, PaperCell, PaperTable

LABEL = "fig:plane"
VOCABULARIES = {"7-token": (COARSE, DEC7), "32-token": (None, DECR)}
CLOSED_ROWS = {
    ("Transformer", "Process mask"): "Transf. PM",
    ("GRU", "Process mask"): "GRU PM",
    ("n-gram-3", "n-gram-3"): "n-gram-3",
}
"""Points that stand in tab:app-closed, and its names for them."""
FAMILIES = {
    "Vanilla": "vanilla",
    "Greedy": "sampling",
    "Temp.": "sampling",
    "Top-p": "sampling",
    "Rep.-pen.": "repetition penalty",
    "Process mask": "process mask",
    "Tuned": "tuned model",
    "Blend": "blend with counts",
    "n-gram-3": "order 3",
}
SHAPES = {"Transformer": "circle", "GRU": "triangle-up", "n-gram-3": "cross"}


def _rows(book: Book, vocabulary: str | None) -> dict[tuple[str, str], Run]:
    rows = ablations(book, vocabulary)
    for name, model in (("Transformer", "transformer"), ("GRU", "gru")):
        rows[name, "Process mask"] = book.whole(model, vocabulary=vocabulary, rule="process_mask")
    rows["n-gram-3", "n-gram-3"] = book.whole(REFERENCE, vocabulary=vocabulary)
    return rows


def _printed_as(said: str, label: str, name: str, row: str, column: str) -> tuple[str, str, str]:
    """Label, row and column under which the paper prints a point: those of the process mask and of
    the order-3 model stand in the table of all prefixes."""
    if (name, row) in CLOSED_ROWS:
        return CLOSED, f"{said[:-2]} {CLOSED_ROWS[name, row]}", column
    return label, row, f"{name} {column}"


def panels(book: Book) -> list[Panel]:
    made = []
    for said, (vocabulary, label) in VOCABULARIES.items():
        cells: list[PaperCell] = []
        for (name, row), run in _rows(book, vocabulary).items():
            for column, metric in (("Term.", "termination"), ("JSD", "jsd")):
                place = _printed_as(said, label, name, row, column)
                found = cell(*place, book.score(run, metric))
                cells.append(replace(found, row=f"{name}: {row}", column=column))
        made.append(Panel(title=f"{said} vocabulary", cells=tuple(cells)))
    return made


def draw(table: PaperTable) -> Chart:
    """One panel a vocabulary; what ends and has the right events lies to the right and below."""
    families = list(dict.fromkeys(FAMILIES.values()))
    place = {
        "x": axis("termination", "Termination", domain=(0, 1)),
        "y": axis("jsd", "JSD (log scale)", scale="log"),
        "shape": {
            "field": "model",
            "type": "nominal",
            "title": "Model",
            "scale": {"domain": [*SHAPES], "range": [*SHAPES.values()]},
        },
    }
    paper = {
        "transform": [{"filter": "datum.of == 'paper'"}],
        "mark": {"type": "point", "color": "#b0b0b0", "size": 60},
        "encoding": place,
    }
    ours = {
        "transform": [{"filter": "datum.of == 'ours'"}],
        "mark": {"type": "point", "filled": True, "size": 95, "opacity": 0.85},
        "encoding": {**place, "color": colour("family", "Intervention", families)},
    }
    made = [
        picture(_points(panel), [paper, ours], width=310, title=panel.title)
        for panel in table.panels
    ]
    title = "What decoding interventions do: good is to the right and below (grey: the paper's)"
    return chart(*made, title=title)


def _points(panel: Panel) -> list[Point]:
    points: list[Point] = []
    for row in panel.rows:
        ended, jsd = panel.cell(row, "Term."), panel.cell(row, "JSD")
        if ended is None or jsd is None:
            continue
        name, _, said = row.partition(": ")
        family = next(FAMILIES[start] for start in FAMILIES if said.startswith(start))
        what = {"model": name, "family": family}
        if ended.ours and jsd.ours and jsd.ours[0] > 0:
            points.append({**what, "of": "ours", "termination": ended.ours[0], "jsd": jsd.ours[0]})
        if ended.theirs and jsd.theirs:
            x, y = (one.spread().middle for one in (ended.theirs, jsd.theirs))
            points.append({**what, "of": "paper", "termination": x, "jsd": y})
    return points


ENTRY = Entry(
    label=LABEL,
    title="The grammar-statistics split",
    panels=panels,
    chart=draw,
    notes=(
        "Process mask and order 3 are on all prefixes, as in tab:app-closed; the others on the "
        "matched sample.",
    ),
)
