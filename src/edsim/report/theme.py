"""Colours, light and dark, and how a chart is told to use them.

On the page a chart asks for `var(--ink)`, so that switching the theme and printing need no second
drawing. In a figure for a paper the same specification gets the light colours.
"""

from __future__ import annotations

import json
import re
from typing import Any

LIGHT = {
    "paper": "#fcfbf8",
    "card": "#ffffff",
    "ink": "#1a1d21",
    "soft": "#59616b",
    "line": "#e3dfd6",
    "wash": "#f3f0ea",
    "accent": "#0b655f",
    "zone": "#cfe5df",
    "bad": "#a8321e",
    "series-0": "#59616b",
    "series-1": "#0b6fae",
    "series-2": "#c2571a",
    "series-3": "#00826a",
    "series-4": "#a83e86",
    "series-5": "#8a6a00",
    "series-6": "#5d53b5",
    "series-7": "#b02a3e",
    "series-8": "#3b7d1f",
    "series-9": "#7a5640",
}
DARK = {
    "paper": "#14171b",
    "card": "#1b1f24",
    "ink": "#eceae5",
    "soft": "#a3abb5",
    "line": "#30363e",
    "wash": "#22272d",
    "accent": "#5cc9b8",
    "zone": "#23443f",
    "bad": "#ff9683",
    "series-0": "#a3abb5",
    "series-1": "#6cb6ec",
    "series-2": "#f09a5e",
    "series-3": "#3ecfae",
    "series-4": "#e58ac6",
    "series-5": "#dcb93f",
    "series-6": "#a9a2f0",
    "series-7": "#f4828f",
    "series-8": "#93cf6f",
    "series-9": "#cfa78c",
}
N_SERIES = 9
"""Colours that tell producers apart; `series-0` is the oracle's."""
SHAPES = (
    "M.8,0A.8,.8,0,1,1,-.8,0A.8,.8,0,1,1,.8,0Z",
    "M-.72,-.72H.72V.72H-.72Z",
    "M0,-.9L.9,.7L-.9,.7Z",
    "M0,-1L.85,0L0,1L-.85,0Z",
    "M0,.9L.9,-.7L-.9,-.7Z",
    "M-.3,-.9H.3V-.3H.9V.3H.3V.9H-.3V.3H-.9V-.3H-.3Z",
    "M.9,0L-.7,.9L-.7,-.9Z",
    "M-.9,-.3L-.3,-.9L0,-.6L.3,-.9L.9,-.3L.6,0L.9,.3L.3,.9L0,.6L-.3,.9L-.9,.3L-.6,0Z",
)
"""Paths that tell producers apart without colour, in a square from -1 to 1."""
STAR = (
    "M0.0,-1.0L0.25,-0.34L0.95,-0.31L0.4,0.13L0.59,0.81L0.0,0.42L"
    "-0.59,0.81L-0.4,0.13L-0.95,-0.31L-0.25,-0.34Z"
)
"""The oracle's."""
FONT = (
    'Inter, "Helvetica Neue", Helvetica, "Segoe UI", Roboto, "Liberation Sans", Arial, sans-serif'
)


def variable(name: str) -> str:
    """A colour as the page knows it.

    >>> variable("ink")
    'var(--ink)'
    """
    return f"var(--{name})"


def series(number: int) -> str:
    """The colour of the n-th family of producers; 0 is the oracle's.

    >>> series(1), series(10)
    ('var(--series-1)', 'var(--series-1)')
    """
    return variable(f"series-{0 if number == 0 else (number - 1) % N_SERIES + 1}")


def configuration() -> dict[str, Any]:
    """How every chart looks."""
    ink, soft, line = variable("ink"), variable("soft"), variable("line")
    return {
        "background": "transparent",
        "font": FONT,
        "view": {"stroke": None},
        "axis": {
            "labelColor": soft,
            "titleColor": soft,
            "titleFontWeight": "normal",
            "titleFontSize": 12,
            "labelFontSize": 11.5,
            "labelLimit": 250,
            "gridColor": line,
            "domainColor": line,
            "tickColor": line,
            "titlePadding": 9,
        },
        "axisY": {"domain": False, "ticks": False, "labelPadding": 6},
        "header": {"labelColor": ink, "labelFontSize": 12, "titleColor": soft, "labelLimit": 180},
        "legend": {
            "labelColor": ink,
            "titleColor": soft,
            "orient": "top",
            "labelFontSize": 12,
            "symbolSize": 80,
            "columns": 4,
            "labelLimit": 190,
        },
        "title": {"color": ink, "fontSize": 13, "anchor": "start"},
        "text": {"color": ink, "fontSize": 11.5},
        "rule": {"color": soft},
    }


def in_light_colours(spec: dict[str, Any]) -> dict[str, Any]:
    """The same specification with the light colours written out, for a file of its own."""
    text = re.sub(r"var\(--([a-z0-9-]+)\)", lambda found: LIGHT[found[1]], json.dumps(spec))
    light: dict[str, Any] = json.loads(text)
    return light | {"background": "white"}


def style_variables(colours: dict[str, str]) -> str:
    """The colours as CSS custom properties."""
    return "".join(f"--{name}:{colour};" for name, colour in colours.items())
