"""Few rows are fitted by one thread; how many there are changes no number."""

from __future__ import annotations

import numpy as np
import pytest

from edsim.metrics import threads
from edsim.metrics.downstream import fit_boosting


def openmp_threads() -> list[int]:
    import sklearn.ensemble  # noqa: F401  (brings the library that is limited)
    from threadpoolctl import threadpool_info

    return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "openmp"]


def test_few_rows_get_one_thread_and_many_get_what_there_is() -> None:
    before = openmp_threads()
    with threads.threads_for(threads.MANY_ROWS - 1):
        assert set(openmp_threads()) == {1}
    with threads.threads_for(threads.MANY_ROWS):
        assert openmp_threads() == before
    assert openmp_threads() == before


def test_how_many_threads_fit_changes_no_prediction(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = np.random.default_rng(0)
    features = chance.random((2_000, 5)).astype(np.float32)
    labels = chance.random(2_000) < features[:, 0]
    few = fit_boosting(features, labels)(features)
    monkeypatch.setattr(threads, "MANY_ROWS", 0)
    assert np.array_equal(few, fit_boosting(features, labels)(features))
