"""The charts of a report as files for papers: the same specifications, in light colours."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any

from edsim.report.charts.figure import Figure
from edsim.report.theme import in_light_colours
from edsim.tables.whole_file import whole_file

WIDTH = 560
"""Pixels of a chart that takes the width of its place on the page."""


def write_figures(
    figures: Sequence[Figure], folder: Path, *, restricted: bool
) -> dict[str, list[Path]]:
    """SVG, PDF, PNG and the Vega-Lite source of every chart that could be drawn, by its name."""
    written: dict[str, list[Path]] = {}
    for figure in figures:
        if figure.spec is None:
            continue
        spec = standalone(figure.spec)
        for ending, drawn in _forms().items():
            path = folder / f"{figure.name}.{ending}"
            content = drawn(spec)
            with whole_file(path, restricted=restricted) as file:
                file.write(content.encode() if isinstance(content, str) else content)
            written.setdefault(figure.name, []).append(path)
    return written


def standalone(spec: dict[str, Any]) -> dict[str, Any]:
    """The specification with a width and colours of its own."""
    light = in_light_colours(deepcopy(spec))
    return light | {"width": WIDTH, "padding": 12}


def _forms() -> dict[str, Callable[[dict[str, Any]], str | bytes]]:
    import altair
    import vl_convert

    version = ".".join(altair.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    return {
        "vl.json": partial(json.dumps, ensure_ascii=False, indent=1),
        "svg": partial(vl_convert.vegalite_to_svg, vl_version=version),
        "pdf": partial(vl_convert.vegalite_to_pdf, vl_version=version),
        "png": partial(vl_convert.vegalite_to_png, vl_version=version, scale=2),
    }
