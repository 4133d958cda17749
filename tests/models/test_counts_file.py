"""Count models on disk: whole or not at all, exact, and refused where they cannot be read."""

from __future__ import annotations

import stat
from pathlib import Path

import numpy as np
import pytest

from edsim.errors import BadTableError, OutputError
from edsim.models.counts import fit
from edsim.models.counts_file import FittedOn, load_counts, load_model, save_counts
from random_visits import random_visits

ON = FittedOn(vocabulary="made up", vocabulary_sha256="abc", content_hash="def")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "model.npz"
    save_counts(fit(random_visits(100, 8), 8, 3), path, ON)
    return path


def altered(path: Path, folder: Path, **changes: np.ndarray) -> Path:
    with np.load(path) as arrays:
        np.savez(folder / "altered.npz", **{**arrays, **changes})
    return folder / "altered.npz"


@pytest.mark.parametrize("unit", [60.0, 60_000.0, 7.3])
def test_every_count_and_gap_comes_back(unit: float, tmp_path: Path) -> None:
    model = fit(random_visits(100, 8, unit=unit), 8, 3)
    save_counts(model, tmp_path / "model.npz", ON)
    again, on = load_counts(tmp_path / "model.npz")
    assert on == ON
    for array in ("contexts", "n_events", "events", "counts", "gaps"):
        assert np.array_equal(getattr(again.table, array), getattr(model.table, array))
    assert np.array_equal(again.automaton.gaps.minutes, model.automaton.gaps.minutes)
    assert load_model(tmp_path / "model.npz").name == model.name


def test_there_is_no_pickle_in_it(written: Path) -> None:
    with np.load(written, allow_pickle=False) as arrays:
        assert all(arrays[name].dtype != object for name in arrays)


def test_restricted_counts_are_for_their_owner_alone(written: Path, tmp_path: Path) -> None:
    assert stat.S_IMODE(written.stat().st_mode) == 0o600
    model, _ = load_counts(written)
    save_counts(model, tmp_path / "open.npz", ON, restricted=False)
    assert stat.S_IMODE((tmp_path / "open.npz").stat().st_mode) & 0o044


def test_a_truncated_file_is_refused(written: Path, tmp_path: Path) -> None:
    whole = written.read_bytes()
    for share in (0.0, 0.3, 0.9):
        (tmp_path / "half.npz").write_bytes(whole[: int(len(whole) * share)])
        with pytest.raises(BadTableError, match=r"'half.npz' cannot be read as a count model"):
            load_counts(tmp_path / "half.npz")


def test_a_flipped_byte_is_noticed(written: Path, tmp_path: Path) -> None:
    whole = bytearray(written.read_bytes())
    whole[len(whole) // 2] ^= 0xFF
    (tmp_path / "flipped.npz").write_bytes(whole)
    with pytest.raises(BadTableError, match="cannot be read"):
        load_counts(tmp_path / "flipped.npz")


def test_another_file_or_none_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "other.npz", a=np.arange(3))
    for name in ("other.npz", "none.npz"):
        with pytest.raises(BadTableError, match=f"'{name}' cannot be read as a count model"):
            load_counts(tmp_path / name)


def test_another_format_is_named(written: Path, tmp_path: Path) -> None:
    with pytest.raises(BadTableError, match="format 99 of count models; this version reads"):
        load_counts(altered(written, tmp_path, format=np.array(99)))


def test_arrays_that_do_not_fit_together_are_refused(written: Path, tmp_path: Path) -> None:
    with pytest.raises(BadTableError, match="cannot be read"):
        load_counts(altered(written, tmp_path, events=np.zeros(3, dtype=np.uint8)))


def test_a_model_of_another_kind_is_refused(written: Path, tmp_path: Path) -> None:
    with pytest.raises(BadTableError, match="no count model that this version knows"):
        load_counts(altered(written, tmp_path, name=np.array("ngram:5")))


def test_where_nothing_can_be_written_nothing_is(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError):
        save_counts(fit(random_visits(10, 8), 8, 1), tmp_path / "file" / "model.npz", ON)
