"""Launches by what may come next: where a process mask leaves END alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import edsim
from edsim.lab.populations import POPULATIONS, launch_facts


def test_end_only_is_where_training_never_went_on(tmp_path: Path) -> None:
    source = edsim.SOURCES["synthetic"]
    edsim.build_cohort(source, source.options(stays=300), tmp_path / "C")
    cohort = edsim.open_cohort(tmp_path / "C")
    training, visits = cohort.visits().part("train"), cohort.visits()
    went_on = {
        int(a)
        for a, b in zip(training.tokens[:-1], training.tokens[1:], strict=True)
        if a != 0 and b != 0
    }
    launches = np.asarray(cohort.launches("all"))
    labels = POPULATIONS["next allowed"].labels(launch_facts(cohort, launches, "ed32"))
    assert set(labels) == {"END only", "others too"}
    for (stay, length), label in zip(launches, labels, strict=True):
        last = int(visits.tokens[visits.offsets[stay] + length - 1])
        assert (label == "others too") == (last in went_on)
