"""fig:gap: next-event accuracy against closed-loop divergence of the three standard models."""

from __future__ import annotations

from edsim.charts import COLOURS, Chart, axis, chart, picture
from edsim.studies.paper.book import COARSE, REFERENCE, Book
from edsim.studies.paper.cells import cell
from edsim.studies.paper.entry import Entry
from edsim.studies.paper.models import STANDARD
from edsim.tables.paper import Panel, PaperCell, PaperTable

LABEL = "fig:gap"
VOCABULARIES = {"7-tok": COARSE, "32-tok": None}
OPEN, CLOSED = "tab:app-openloop", "tab:app-closed"
SHORT = {"Transformer": "Transf.", "GRU": "GRU", "LSTM": "LSTM", "n-gram-3": "n-gram-3"}


def panels(book: Book) -> list[Panel]:
    cells: list[PaperCell] = []
    for prefix, vocabulary in VOCABULARIES.items():
        for name, model in {**STANDARD, "n-gram-3": REFERENCE}.items():
            run, row = book.whole(model, vocabulary=vocabulary), f"{prefix} {name}"
            short = f"{prefix} {SHORT[name]}" + ("" if model == REFERENCE else " Van")
            jsd = cell(CLOSED, short, "JSD", book.score(run, "jsd"))
            cells.append(_named(cell(OPEN, row, "Acc.", book.open_loop(run, "accuracy")), row))
            cells.append(_named(jsd, row))
    return [Panel(cells=tuple(cells))]


def _named(found: PaperCell, row: str) -> PaperCell:
    from dataclasses import replace

    return replace(found, row=row)


def draw(table: PaperTable) -> Chart:
    """A panel a vocabulary, so that neither hides the other; the order-3 model dashed."""
    names = [*STANDARD]
    made = []
    for prefix in VOCABULARIES:
        points, reference = _points(table.panels[0], prefix)
        x = axis("accuracy", "Open-loop next-event accuracy", zero=True)
        y = axis("jsd", "Closed-loop JSD (log scale)", scale="log")
        shape = {
            "field": "of",
            "type": "nominal",
            "title": "Numbers",
            "scale": {"domain": ["ours", "paper"], "range": ["circle", "triangle-up"]},
        }
        hue = {
            "field": "model",
            "type": "nominal",
            "title": "Model",
            "scale": {"domain": names, "range": list(COLOURS[: len(names)])},
        }
        marks = {
            "mark": {"type": "point", "filled": True, "size": 110, "opacity": 0.9},
            "encoding": {"x": x, "y": y, "color": hue, "shape": shape},
        }
        lines = {
            "data": {"values": reference},
            "mark": {"type": "rule", "strokeDash": [5, 4], "size": 1.2},
            "encoding": {
                "y": {"field": "jsd", "type": "quantitative"},
                "color": {
                    "condition": {"test": "datum.of == 'paper'", "value": "#b0b0b0"},
                    "value": "#333",
                },
            },
        }
        made.append(picture(points, [lines, marks], width=300, title=f"{prefix}en vocabulary"))
    return chart(*made, title="The simulation gap (dashed: order-3 count models; the paper's grey)")


def _points(
    panel: Panel, prefix: str
) -> tuple[list[dict[str, str | float | None]], list[dict[str, str | float | None]]]:
    points: list[dict[str, str | float | None]] = []
    reference: list[dict[str, str | float | None]] = []
    for name in (*STANDARD, "n-gram-3"):
        accuracy, jsd = (panel.cell(f"{prefix} {name}", column) for column in ("Acc.", "JSD"))
        for of in ("ours", "paper"):
            x, y = _value(accuracy, of), _value(jsd, of)
            if name == "n-gram-3" and y:
                reference.append({"jsd": y, "of": of})
            elif x is not None and y:
                points.append({"model": name, "of": of, "accuracy": x, "jsd": y})
    return points, reference


def _value(cell: PaperCell | None, of: str) -> float | None:
    if cell is None:
        return None
    if of == "paper":
        return cell.theirs.spread().middle if cell.theirs else None
    return cell.ours[0] if cell.ours else None


ENTRY = Entry(
    label=LABEL,
    title="The simulation gap",
    panels=panels,
    chart=draw,
)
