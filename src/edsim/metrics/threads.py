"""How many threads grow trees: of few rows one, as several spend their time waiting for each other.

On a machine with other work on it that makes tens of seconds of one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

MANY_ROWS = 100_000


@contextmanager
def threads_for(n_rows: int) -> Iterator[None]:
    """One thread for scikit-learn's boosting of so few rows, else as many as there are."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1 if n_rows < MANY_ROWS else None, user_api="openmp"):
        yield
