"""Compiled code works where nothing can be kept on disk."""

from __future__ import annotations

import numba
import pytest

from edsim.compiled import compiled


def twice(x: int) -> int:
    return 2 * x


def test_without_a_folder_for_its_cache_a_function_is_compiled_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    njit = numba.njit

    def refuse_caching(*function: object, cache: bool = False, **settings: object) -> object:
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return njit(*function, **settings)

    monkeypatch.setattr(numba, "njit", refuse_caching)
    assert compiled(twice)(4) == 8
