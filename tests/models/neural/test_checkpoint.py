"""Checkpoints: what is written is read, and everything else is refused with one sentence."""

from __future__ import annotations

import json
import pickle
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
import torch

from edsim.errors import BadInputError, BadTableError
from edsim.models.neural.card import card_of
from edsim.models.neural.checkpoint import (
    Checkpoint,
    Manifest,
    checkpoint_of,
    export_safetensors,
    load_simulator,
    read_checkpoint,
    save_checkpoint,
)
from neural_models import KINDS, TRAINING, small_model
from random_visits import all_launches

PREFIXES = TRAINING.prefixes(all_launches(TRAINING)[:30])
EPOCH = {
    "epoch": 1, "rate": 1e-3, "seconds": 2.0,
    "train": {"event": 2.5, "all": 2.5}, "validation": {"event": 2.25, "all": 2.25},
}  # fmt: skip
AUDIT = {
    "supervision": "every_position", "supervised": 100, "eligible": 100, "end_targets": 10,
    "by_length": [{"fewest": 1, "most": 4, "supervised": 100, "eligible": 100}],
}  # fmt: skip


def small_checkpoint(kind: str = "gru, regression, sampled") -> Checkpoint:
    network, heads, _ = KINDS[kind]
    model = small_model(network, heads)
    manifest = Manifest(
        recipe_name="small", recipe={}, seed=3, design=asdict(model.design),
        sizes=asdict(model.sizes), n_parameters=1, content_hash="c" * 64, vocabulary="v",
        vocabulary_sha256="v" * 64, best_epoch=1, epochs=(EPOCH,), audit=AUDIT, device="cpu",
        torch_version="2", restricted=False,
    )  # fmt: skip
    return checkpoint_of(model, manifest)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    save_checkpoint(small_checkpoint(), tmp_path / "small.npz")
    return tmp_path / "small.npz"


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_read_back_proposes_and_times_the_same(kind: str, tmp_path: Path) -> None:
    made = small_checkpoint(kind)
    save_checkpoint(made, tmp_path / "a.npz")
    read = load_simulator(tmp_path / "a.npz", KINDS[kind][2])
    u_time = torch.rand(len(PREFIXES), dtype=torch.float64)
    tokens = torch.full((len(PREFIXES),), 4)
    first = type(read)(made.model(), KINDS[kind][2])
    for one, other in [(first, read)]:
        torch.testing.assert_close(
            one.propose(one.start(PREFIXES), u_time), other.propose(other.start(PREFIXES), u_time)
        )
        assert torch.equal(
            one.commit(one.start(PREFIXES), tokens, u_time)[1],
            other.commit(other.start(PREFIXES), tokens, u_time)[1],
        )


def test_the_manifest_is_read_as_it_was_written(path: Path) -> None:
    read = read_checkpoint(path)
    said, written = asdict(read.manifest), asdict(small_checkpoint().manifest)
    assert said == json.loads(json.dumps(written))
    assert read.producer == "small@3"


def test_reading_leaves_chance_alone(path: Path) -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    read_checkpoint(path)
    assert torch.equal(torch.rand(3), expected)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99])
def test_a_file_cut_short_is_refused(path: Path, share: float) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(BadTableError, match=r"small\.npz' cannot be read as a checkpoint"):
        read_checkpoint(path)


def test_a_flipped_byte_anywhere_in_the_weights_is_found(path: Path) -> None:
    whole = path.read_bytes()
    for place in np.linspace(len(whole) * 0.2, len(whole) * 0.7, 5).astype(int):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :])
        with pytest.raises(BadTableError, match="cannot be read as a checkpoint"):
            read_checkpoint(path)


def test_files_of_other_kinds_are_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.npz"
    np.savez(other, counts=np.arange(3))
    with pytest.raises(BadTableError, match="holds no manifest"):
        read_checkpoint(other)
    other.write_bytes(b"nothing of the sort")
    with pytest.raises(BadTableError, match="cannot be read as a checkpoint"):
        read_checkpoint(other)
    with pytest.raises(BadTableError, match="there is no checkpoint"):
        read_checkpoint(tmp_path / "missing.npz")


def test_no_pickle_is_ever_read(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self):  # noqa: ANN204
            return (pytest.fail, ("a pickle was read",))

    path = tmp_path / "trap.npz"
    np.savez(path, format=np.array(1), manifest=np.array([Trap()], dtype=object))
    with pytest.raises(BadTableError, match="cannot be read as a checkpoint"):
        read_checkpoint(path)
    path.write_bytes(pickle.dumps([1, 2, 3]))
    with pytest.raises(BadTableError, match="cannot be read as a checkpoint"):
        read_checkpoint(path)


def test_weights_that_do_not_fit_their_design_or_are_no_numbers_are_refused(
    tmp_path: Path,
) -> None:
    made = small_checkpoint()
    for damaged in (
        replace(made, weights={**made.weights, "heads.event.weight": np.zeros((2, 2))}),
        replace(made, weights={k: v for k, v in made.weights.items() if "event" not in k}),
        replace(made, weights={**made.weights, "more": np.zeros(2)}),
        replace(
            made,
            weights={
                **made.weights,
                "heads.event.bias": np.full_like(made.weights["heads.event.bias"], np.nan),
            },
        ),
        replace(made, manifest=replace(made.manifest, design={"network": "quantum"})),
    ):
        save_checkpoint(damaged, tmp_path / "a.npz")
        with pytest.raises(BadTableError, match="cannot be read as a checkpoint"):
            read_checkpoint(tmp_path / "a.npz")


def test_another_format_says_so(path: Path) -> None:
    with np.load(path) as arrays:
        held = {**arrays, "format": np.array(99)}
    np.savez(path, **held)
    with pytest.raises(BadTableError, match=r"format 99 .* reads format 1"):
        read_checkpoint(path)


def test_another_cohort_or_vocabulary_is_refused() -> None:
    made = small_checkpoint()
    made.check_fits("c" * 64, "v" * 64)
    with pytest.raises(BadTableError, match="another cohort"):
        made.check_fits("d" * 64, "v" * 64)
    with pytest.raises(BadTableError, match="another vocabulary"):
        made.check_fits("c" * 64, "w" * 64)


def test_a_clock_that_its_heads_lack_is_refused(path: Path) -> None:
    assert load_simulator(path).clock == "median"
    with pytest.raises(BadInputError, match="no clock 'lattice'"):
        load_simulator(path, "lattice")


def test_safetensors_hold_the_same_weights(tmp_path: Path) -> None:
    safetensors = pytest.importorskip("safetensors.numpy")
    made = small_checkpoint()
    export_safetensors(made, tmp_path / "a.safetensors")
    read = safetensors.load_file(tmp_path / "a.safetensors")
    assert read.keys() == made.weights.keys()
    assert all(np.array_equal(read[name], made.weights[name]) for name in read)


def test_the_card_says_what_it_is_and_warns_of_restricted_data() -> None:
    manifest = small_checkpoint().manifest
    card = card_of(manifest)
    assert card.startswith("# small@3\n")
    assert "gru, width 16, 2 layers" in card
    assert "| 1 | 2.5000 | 2.2500 | 2.2500 |" in card
    assert "use agreement" not in card
    assert "use agreement" in card_of(replace(manifest, restricted=True))
