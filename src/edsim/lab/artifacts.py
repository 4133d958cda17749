"""What is made from a cohort and kept in it, under a name that says what decides it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from edsim.lab.cohort import Cohort
from edsim.lab.store import Asked, store_of


def artifact(cohort: Cohort, kind: str, name: str, make: Callable[[Path], None]) -> Path:
    """The path of an artifact; `make` writes it to the path it is given where it is missing.

    For what the name and the cohort decide; see `lab.store` for things with more inputs.
    """
    stem, dot, ending = name.partition(".")
    asked = Asked(
        kind=kind,
        name=stem,
        inputs={"name": name, "cohort": cohort.manifest.content_hash},
        ending=dot + ending,
    )
    return store_of(cohort).get(asked, make)
