"""The functions of `import edsim`: all are there, and a path may be a text."""

from __future__ import annotations

from pathlib import Path

import pytest

import edsim


@pytest.mark.parametrize("name", edsim.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(edsim, name) is not None


def test_an_unknown_name_is_refused_as_python_does() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        edsim.nothing  # noqa: B018


def test_paths_may_be_texts(tmp_path: Path) -> None:
    place = f"{tmp_path}/C"
    source = edsim.SOURCES["synthetic"]
    edsim.build_cohort(source, source.options(stays=200), place)
    assert all(finding.passed for finding in edsim.check_cohort(place))
    cohort = edsim.open_cohort(place)
    assert edsim.write_prefixes(cohort, "matched-20", f"{tmp_path}/prefixes.csv") == 20
    edsim.export_meds(cohort, f"{tmp_path}/meds")
    settings = edsim.RolloutSettings(launches="matched-20")
    rollouts = edsim.roll_out(cohort, "oracle", settings)
    file = f"{tmp_path}/oracle.rollouts.parquet"
    edsim.write_rollouts(rollouts, file, cohort.visits().stay_ids)
    assert len(edsim.read_rollouts(file)) == 20
