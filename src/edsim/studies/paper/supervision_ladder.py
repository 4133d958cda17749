"""fig:ladder: divergence of every training seed by recipe, over the order-3 model's."""

from __future__ import annotations

from edsim.charts import Chart, Point, axis, chart, colour, picture, rule_at
from edsim.studies.paper.book import Book
from edsim.studies.paper.cells import cell, plain
from edsim.studies.paper.entry import Entry
from edsim.studies.paper.models import PER_SEED, seeds_left_out, why_left_out
from edsim.tables.paper import Panel, PaperTable

LABEL, TABLE = "fig:ladder", "tab:app-seed"
FINAL, EVERY = "final position", "every position"


def panels(book: Book) -> list[Panel]:
    cells = []
    for name, model in PER_SEED.items():
        cells += [
            cell(TABLE, f"{name} {k}", "xF", book.score(run, "xf"), alike=name)
            for k, run in enumerate(book.seeds(model), start=1)
        ]
        cells += [
            plain(TABLE, f"{name} {k}", "xF", None, why_left_out(model, book.scale), alike=name)
            for k in seeds_left_out(model, book.scale)
        ]
    return [Panel(cells=tuple(cells))]


def draw(table: PaperTable) -> Chart:
    """A point a seed, by recipe; the paper's seeds as hollow grey points beside them."""
    points: list[Point] = [
        {"recipe": one.alike, "xF": value, "of": of, "supervision": _supervision(one.alike)}
        for one in table.cells
        for of, value in (
            ("ours", one.ours[0] if one.ours else None),
            ("paper", _printed(one.theirs)),
        )
        if value is not None and value > 0
    ]
    names = [name for name in PER_SEED if any(p["recipe"] == name for p in points)]
    y = {
        "field": "recipe",
        "type": "nominal",
        "title": None,
        "sort": names,
        "axis": {"labelLimit": 260},
    }
    x = axis("xF", "Divergence over the order-3 model's (xF, log scale)", scale="log")
    paper = {
        "transform": [{"filter": "datum.of == 'paper'"}],
        "mark": {"type": "point", "color": "#9a9a9a", "size": 60, "yOffset": 6},
        "encoding": {"x": x, "y": y},
    }
    ours = {
        "transform": [{"filter": "datum.of == 'ours'"}],
        "mark": {"type": "point", "filled": True, "size": 70, "opacity": 0.85, "yOffset": -4},
        "encoding": {"x": x, "y": y, "color": colour("supervision", "Loss at the", (FINAL, EVERY))},
    }
    body = picture(points, [rule_at(1.0, "x", "order 3"), paper, ours], height=34 * len(names))
    title = "Training supervision and closed-loop divergence (grey: the paper's seeds)"
    return chart({**body, "title": {"text": title, "anchor": "start"}})


def _printed(value: object) -> float | None:
    from edsim.tables.paper import PaperValue

    return value.spread().middle if isinstance(value, PaperValue) else None


def _supervision(name: str) -> str:
    return EVERY if "all-pos" in name else FINAL


ENTRY = Entry(
    label=LABEL,
    title="Training supervision and closed-loop behaviour",
    panels=panels,
    notes=("xF is over the order-3 model on the same launches.",),
    chart=draw,
)
