"""How hot loops are compiled. What uses this at its top brings in numba: import it lazily."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile on first use, and keep the result on disk where any folder for it can be written."""
    return _compiled(function, fastmath=False)


def compiled_loosely(function: Function) -> Function:
    """The same for finite numbers whose sums may be added in any order: several times faster."""
    return _compiled(function, fastmath={"reassoc", "contract", "arcp", "nnan", "ninf", "nsz"})


def _compiled(function: Function, *, fastmath: bool | set[str]) -> Function:
    import numba

    how: dict[str, Any] = {"error_model": "numpy", "nogil": True, "fastmath": fastmath}
    try:
        made = numba.njit(cache=True, **how)(function)
    except RuntimeError:  # numba found no folder for its cache
        made = numba.njit(**how)(function)
    return cast("Function", made)
