"""A small untrained model of every design, over visits drawn at random."""

from __future__ import annotations

import numpy as np
import torch

from edsim.models.neural.design import Design, HeadsKind, NetworkKind
from edsim.models.neural.model import NeuralModel
from edsim.models.neural.simulator import NeuralSimulator
from edsim.rollout.decoding import BoundRule, parse_rule
from edsim.tables.facts import VocabularyFacts
from edsim.tables.visits import Visits
from random_visits import random_visits

N_TOKENS = 9
TRAINING = random_visits(80, N_TOKENS, seed=31)

KINDS: dict[str, tuple[NetworkKind, HeadsKind, str]] = {
    f"{network}, {heads}, {clock}": (network, heads, clock)
    for network, heads, clock in [
        ("pooled_transformer", "regression", "median"),
        ("pooled_transformer", "joint", "lattice"),
        ("causal_transformer", "regression", "median"),
        ("causal_transformer", "regression", "sampled"),
        ("causal_transformer", "joint", "lattice"),
        ("causal_transformer", "time_bins", "bins"),
        ("gru", "regression", "sampled"),
        ("gru", "joint", "lattice"),
        ("lstm", "regression", "median"),
        ("lstm", "joint", "lattice"),
    ]
}  # fmt: skip


def small_model(
    network: NetworkKind = "causal_transformer",
    heads: HeadsKind = "regression",
    *,
    training: Visits = TRAINING,
    n_tokens: int = N_TOKENS,
    seed: int = 0,
) -> NeuralModel:
    """Width 16, two layers; weights large enough that what was read decides what is proposed."""
    design = Design(
        network=network, heads=heads, width=16, layers=2, attention_heads=2, feedforward=32,
        n_bins=12,
    )  # fmt: skip
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = NeuralModel.untrained(design, training, n_tokens, (n_tokens - 1,))
        with torch.no_grad():
            model.heads.event.weight.mul_(4)
    return model


def small_simulator(kind: str, training: Visits = TRAINING) -> NeuralSimulator:
    network, heads, clock = KINDS[kind]
    return NeuralSimulator(small_model(network, heads, training=training), clock)


def rule_of(text: str = "vanilla", n_tokens: int = N_TOKENS) -> BoundRule:
    names = tuple(f"event {i}" for i in range(n_tokens))
    follows = np.ones((n_tokens, n_tokens), dtype=np.int64)
    return parse_rule(text).bind(VocabularyFacts("made up", "", names, (), follows))
