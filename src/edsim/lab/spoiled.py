"""Producers with a planted defect, `defect:NAME:PRODUCER`: for the paper's table of its audit."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any

from edsim.errors import BadInputError

PREFIX = "defect:"


def is_spoiled(name: str) -> bool:
    """Whether the name is of a producer with a planted defect."""
    return name.startswith(PREFIX)


def unspoiled(name: str) -> str:
    """The producer inside.

    >>> unspoiled("defect:forgets_history:gru@1")
    'gru@1'
    """
    return name.split(":", 2)[-1]


def spoil(name: str, simulator: Any) -> Any:
    """The simulator with the defect that the name asks for."""
    from edsim.conformance.defects import SIMULATOR_DEFECTS
    from edsim.models.neural.end_head import StopsByTheEndHead

    known: dict[str, Callable[[Any], Any]] = {
        **SIMULATOR_DEFECTS,
        "stops_by_the_end_head": StopsByTheEndHead,
    }
    defect = name.removeprefix(PREFIX).partition(":")[0]
    if defect not in known or name.count(":") < 2:
        near = difflib.get_close_matches(defect, known, n=1)
        hint = f" Did you mean '{near[0]}'?" if near else ""
        raise BadInputError(
            f"'{name}' names no defect: write defect:NAME:PRODUCER with {', '.join(known)}.{hint}"
        )
    return known[defect](simulator)
