"""What a producer is called beside others: without the settings of its recipe, if that is clear."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

_SETTINGS = re.compile(r"(?<=\w)\[([^\[\]=]+=[^\[\]]*)\](?=@\d+)")


def short_names(producers: Sequence[str]) -> list[str]:
    """Names without the settings of a recipe, where they still tell producers apart.

    >>> short_names(["gru[width=64]@1", "gru[width=64]@2", "ngram:3"])
    ['gru@1', 'gru@2', 'ngram:3']
    >>> short_names(["gru[width=64]@1", "gru@1"])
    ['gru[width=64]@1', 'gru@1']
    """
    short = {name: _SETTINGS.sub("", name) for name in producers}
    count = Counter(short.values())
    return [short[name] if count[short[name]] == 1 else name for name in producers]


def settings_of(producer: str) -> str:
    """The settings of a recipe, as they are read.

    >>> settings_of("gru[width=64,epochs=8]@1"), settings_of("ngram:3")
    ('width 64, epochs 8', '')
    """
    return ", ".join(_SETTINGS.findall(producer)).replace("=", " ").replace(",", ", ")
