"""Pictures as plain specifications (Vega-Lite), and as SVG, PDF or PNG files.

A specification is made of the numbers it shows and of nothing else, so that studies and reports may
both have it; nothing is drawn before it is asked for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from edsim.tables.whole_file import whole_file

Point = Mapping[str, str | float | None]
"""One mark: the values of its fields."""
SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
FORMATS = ("svg", "pdf", "png")
COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#7F7F7F",
    "#8C564B",
    "#000000",
)
"""Told apart by colour-blind readers too (Okabe and Ito), black last."""
PIXELS_A_POINT = 3.0


@dataclass(frozen=True, slots=True)
class Chart:
    """A Vega-Lite specification; JSON values only."""

    specification: Mapping[str, Any]

    def text(self) -> str:
        return json.dumps(self.specification, ensure_ascii=False, allow_nan=False)


def axis(
    field: str,
    title: str,
    *,
    scale: Literal["linear", "log"] = "linear",
    zero: bool = False,
    domain: Sequence[float] | None = None,
) -> dict[str, Any]:
    """A quantitative axis."""
    said: dict[str, Any] = {"type": scale}
    if scale == "linear":
        said["zero"] = zero
    if domain is not None:
        said["domain"] = list(domain)
    return {
        "field": field,
        "type": "quantitative",
        "title": title,
        "scale": said,
        "axis": {"tickCount": 6} | ({"format": "~g"} if scale == "log" else {}),
    }


def colour(field: str, title: str, names: Sequence[str]) -> dict[str, Any]:
    """A colour for each name, the same in every panel."""
    colours = [COLOURS[k % len(COLOURS)] for k in range(len(names))]
    return {
        "field": field,
        "type": "nominal",
        "title": title,
        "scale": {"domain": list(names), "range": colours},
        "legend": {"labelLimit": 260, "symbolType": "circle"},
    }


def rule_at(value: float, where: Literal["x", "y"], said: str) -> dict[str, Any]:
    """A dashed line across the picture, such as that of a reference."""
    return {
        "data": {"values": [{where: value, "said": said}]},
        "mark": {"type": "rule", "strokeDash": [5, 4], "color": "#444", "tooltip": said},
        "encoding": {where: {"field": where, "type": "quantitative"}},
    }


def picture(
    points: Sequence[Point],
    layers: Sequence[Mapping[str, Any]],
    *,
    width: int = 420,
    height: int = 300,
    title: str = "",
) -> dict[str, Any]:
    """One panel: layers over the same points."""
    return {
        "title": {"text": title, "anchor": "start"} if title else "",
        "width": width,
        "height": height,
        "data": {"values": [dict(point) for point in points]},
        "layer": [dict(layer) for layer in layers],
    }


def chart(*panels: Mapping[str, Any], title: str = "") -> Chart:
    """One panel, or several side by side."""
    body = dict(panels[0]) if len(panels) == 1 else {"hconcat": [dict(one) for one in panels]}
    config = {
        "font": "DejaVu Sans, Helvetica, Arial, sans-serif",
        "background": "white",
        "axis": {"gridColor": "#e6e6e6", "labelFontSize": 11, "titleFontSize": 12},
        "legend": {"labelFontSize": 11, "titleFontSize": 12},
        "title": {"fontSize": 13},
        "view": {"stroke": "#cccccc"},
    }
    said = {"text": title, "anchor": "start"} if title else None
    return Chart(
        {"$schema": SCHEMA, **body, "config": config}
        | ({"title": said} if said and len(panels) > 1 else {})
    )


def write_pictures(
    made: Chart, folder: Path, stem: str, *, restricted: bool, formats: Sequence[str] = FORMATS
) -> list[Path]:
    """Write `stem.svg`, `stem.pdf` and `stem.png`; for the owner alone where the data are."""
    import vl_convert

    text = made.text()
    drawn = {
        "svg": lambda: vl_convert.vegalite_to_svg(text).encode(),
        "pdf": lambda: vl_convert.vegalite_to_pdf(text),
        "png": lambda: vl_convert.vegalite_to_png(text, scale=PIXELS_A_POINT),
    }
    paths = []
    for name in formats:
        path = folder / f"{stem}.{name}"
        with whole_file(path, restricted=restricted) as stream:
            stream.write(drawn[name]())
        paths.append(path)
    return paths
