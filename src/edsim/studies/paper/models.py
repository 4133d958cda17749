"""The paper's models by the names of `edsim`, with their seeds and what its tables call them."""

from __future__ import annotations

from edsim.studies.paper.scales import Scale

STANDARD = {"Transformer": "transformer", "GRU": "gru", "LSTM": "lstm"}
"""Trained at the final position of one prefix."""
TRANSFORMER_AND_GRU = {"Transformer": "transformer", "GRU": "gru"}
CAUSAL_ALL, DECODER = "causal_transformer_all", "decoder"
BATCH_1024 = "causal_transformer_all_b1024"
CAUSAL_PREFIX = "causal_transformer_prefix"

PER_SEED = {
    "Transformer": "transformer",
    "GRU": "gru",
    "LSTM": "lstm",
    "Decoder (all-pos.)": DECODER,
    "Causal Transf. (all-pos.)": CAUSAL_ALL,
    "GRU (all-pos.)": "gru_all",
    "LSTM (all-pos.)": "lstm_all",
    "Causal Transf. (prefix)": CAUSAL_PREFIX,
    "Causal Transf. (all-pos., batch 1024)": BATCH_1024,
}
"""Everything of the table of seeds, in its order."""
ALL_POSITION = {
    "Causal Tf. (all-position)": CAUSAL_ALL,
    "GRU (all-position)": "gru_all",
    "LSTM (all-position)": "lstm_all",
    "Decoder (all-position)": DECODER,
}


def is_network(model: str) -> bool:
    """Whether it is trained, and runs on the device that is named; blends run on the CPU alone."""
    from edsim.training.recipes import RECIPES

    return model in RECIPES


def seeds_of(model: str, scale: Scale) -> range:
    """Places of a model's training seeds, from 1; a model that is not trained has one place."""
    from edsim.training.recipes import PAPER_SEEDS

    if not is_network(model):
        return range(1, 2)
    return range(1, 1 + min(len(PAPER_SEEDS.get(model, (0,))), scale.n_seeds(model)))


def seeds_left_out(model: str, scale: Scale) -> range:
    """Places of those training seeds of the paper that this scale does not train."""
    from edsim.training.recipes import PAPER_SEEDS

    n = len(seeds_of(model, scale))
    return range(n + 1, 1 + max(n, len(PAPER_SEEDS.get(model, ()))))


def why_left_out(model: str, scale: Scale) -> str:
    """What stands in the cells of such a seed."""
    n = len(seeds_of(model, scale))
    return f"this scale trains {n} seed{'s' if n > 1 else ''}"


def producer_of(model: str, seed: int, scale: Scale) -> str:
    """The producer's name: a recipe with the scale's sizes and the paper's seed, or the model."""
    if model.startswith("blend:"):
        first, _, second = model.partition("+")
        kind, weight, recipe = first.split(":", 2)
        return f"{kind}:{weight}:{producer_of(recipe, seed, scale)}+{second}"
    from edsim.training.recipes import PAPER_SEEDS, RECIPES

    if model not in RECIPES:
        return model
    changes = scale.changes(model)
    sizes = ",".join(f"{name}={value}" for name, value in changes.items())
    number = PAPER_SEEDS.get(model, PAPER_SEEDS["transformer"])[seed - 1]
    return f"{model}[{sizes}]@{number}" if sizes else f"{model}@{number}"
