"""How large the paper is made at each scale, and what is said of it."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from edsim.lab.build import build_cohort
from edsim.lab.cohort import open_cohort
from edsim.sources import SOURCES
from edsim.studies.paper.making import what_it_is
from edsim.studies.paper.models import producer_of
from edsim.studies.paper.scales import FULL, LAPTOP, LARGER, LARGEST, SMOKE, Scale
from edsim.training.recipes import find_recipe


@pytest.mark.parametrize("scale", [SMOKE, LAPTOP, FULL], ids=lambda scale: scale.name)
def test_the_scale_table_has_three_sizes_at_every_scale(scale: Scale) -> None:
    models = ("causal_transformer_all", "causal_transformer_all_medium", LARGEST)
    designs = [find_recipe(producer_of(m, 1, scale).partition("@")[0]).design for m in models]
    sizes = [(one.width, one.layers, one.feedforward) for one in designs]
    assert all(a[0] < b[0] and a[1] <= b[1] and a[2] < b[2] for a, b in pairwise(sizes))
    assert scale.changes("transformer_large") == scale.changes(LARGER[1])


def test_what_a_table_is_of_are_the_launches_of_its_own_cohort(tmp_path: Path) -> None:
    source = SOURCES["synthetic"]
    build_cohort(source, source.options(stays=200), tmp_path / "C")
    cohort = open_cohort(tmp_path / "C")
    home, away = (what_it_is(cohort, role, SMOKE) for role in ("main", "external"))  # type: ignore[arg-type]
    assert "(300 launches, one or two seeds" in home
    assert "(60 launches and at most 128 events a rollout, one or two seeds" in away
    assert "(2,000 launches," in what_it_is(cohort, "external", LAPTOP)
    for role in ("main", "external"):
        assert "(the paper: its launches, seeds and networks)" in what_it_is(cohort, role, FULL)  # type: ignore[arg-type]
