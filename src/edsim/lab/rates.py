"""What work will take, by what like work took: the manifests of a store are its measurements."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from edsim.lab.store import Asked, Made, Store

KINDS = ("models", "runs", "parts", "rollouts", "predictions", "scores", "comparisons")
SAME_WORK = {"parts": "rollouts"}
"""Kinds of which the work is that of another kind."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What a piece of work will take."""

    seconds: float | None
    """None where nothing of its kind was ever measured."""
    mib: float | None
    like: str = ""
    """What it was measured on, as `ngram:3`; empty where it was something else of the kind."""


class Rates:
    """The measurements of some stores, read once."""

    def __init__(self, stores: Iterable[Store]) -> None:
        self._by_name: dict[tuple[str, str], list[Made]] = defaultdict(list)
        self._by_kind: dict[str, list[Made]] = defaultdict(list)
        for store in stores:
            for kind in KINDS:
                for made in store.manifests(kind):
                    if made.units > 0 and made.seconds > 0:
                        work = SAME_WORK.get(kind, kind)
                        self._by_name[work, made.counted].append(made)
                        self._by_kind[work].append(made)

    def expected(self, asked: Asked) -> Expected:
        """From work of the same name if there is any, of the same kind otherwise.

        Of several measurements the one of the nearest size counts: what small work takes is mostly
        what it takes to begin.
        """
        work = SAME_WORK.get(asked.kind, asked.kind)
        like = self._by_name.get((work, asked.counted)) or self._by_kind.get(work)
        if not like or asked.units <= 0:
            return Expected(None, None)
        nearest = min(like, key=lambda made: abs(math.log(made.units / asked.units)))
        return Expected(
            seconds=nearest.seconds * max(asked.units / nearest.units, 0.1),
            mib=max(made.peak_mib for made in like),
            like=asked.counted if nearest.counted == asked.counted else "",
        )
