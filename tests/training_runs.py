"""Small data and small forms of recipes, trained in a fraction of a second."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from edsim.tables.visits import Visits
from edsim.training.examples import TrainingData
from edsim.training.loop import Run
from edsim.training.recipes import RECIPES, Recipe
from random_visits import random_visits

N_TOKENS = 9


def data_of(
    train: Visits | None = None, val: Visits | None = None, n_tokens: int = N_TOKENS
) -> TrainingData:
    return TrainingData(
        train=random_visits(60, n_tokens, seed=51) if train is None else train,
        val=random_visits(20, n_tokens, seed=52) if val is None else val,
        n_tokens=n_tokens,
        discharges=(n_tokens - 1,),
        vocabulary="made up",
        vocabulary_sha256="v" * 64,
        content_hash="c" * 64,
        restricted=False,
    )


def small(name: str, **changes: Any) -> Recipe:
    """A recipe with a network of width 16, steps of 16 stays, and two epochs."""
    recipe = RECIPES[name]
    design = replace(
        recipe.design, width=16, layers=2, attention_heads=2, feedforward=32, n_bins=12
    )
    usual = {"epochs": 2, "batch_size": 16, "warmup_steps": min(2, recipe.warmup_steps)}
    if recipe.rates_to_try:
        usual["rates_to_try"] = (1e-3, 1e-2)
    return replace(recipe, design=design, **{**usual, **changes})


def run_of(name: str, seed: int = 1, **changes: Any) -> Run:
    return Run(name=name, recipe=small(name, **changes), seed=seed)
