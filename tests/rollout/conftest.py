"""One thread for tensors of a few rows: more would only wait for each other."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from edsim.rollout.threads import one_thread


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    with one_thread():
        yield
