"""Recipes: everything that decides a trained model, apart from the data and the seed.

One of every row of the paper's tables, and this project's own. What cannot work is refused when it
is written down. `docs/decisions/96-what-the-paper-leaves-open.md` says which numbers are ours.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from edsim.errors import BadInputError
from edsim.models.neural.design import Design, no_choice

Supervision = Literal["final_position", "every_position"]
SUPERVISIONS: tuple[Supervision, ...] = ("final_position", "every_position")
Decay = Literal["none", "cosine"]
DECAYS: tuple[Decay, ...] = ("none", "cosine")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """A network, how it is supervised, and how its weights are found. JSON values only."""

    design: Design
    supervision: Supervision
    """`final_position`: the last position of one prefix a stay and epoch; `every_position`: the
    position after each event."""
    epochs: int = 8
    batch_size: int = 256
    """Stays a step."""
    rate: float = 1e-3
    warmup_steps: int = 0
    """At most a tenth of all steps."""
    decay: Decay = "none"
    last_rate: float = 0.01
    """What `decay` comes down to, as a share of `rate`."""
    weight_decay: float = 0.01
    clip: float = 1.0
    """Most the norm of the gradient may be."""
    ema: float = 0.0
    """Of the weights, from step to step; 0 keeps none and validates the weights themselves. It
    reaches over a tenth of all steps at most."""
    replacement: float = 0.0
    """Scheduled sampling: the share of events that are replaced by the model's own."""
    replacement_from: int = 2
    """The epoch, from 1, where that begins."""
    patience: int = 0
    """Stop after so many epochs without a better validation loss; 0 never stops."""
    rates_to_try: tuple[float, ...] = ()
    """Learning rates of which the one with the best validation loss is taken."""
    small_form: str = ""
    """The recipe that takes this one's place below `small_below` training events."""
    small_below: int = 0

    def __post_init__(self) -> None:
        if self.supervision not in SUPERVISIONS:
            raise no_choice("is no supervision", self.supervision, SUPERVISIONS)
        if self.decay not in DECAYS:
            raise no_choice("is no decay", self.decay, DECAYS)
        if self.design.network == "pooled_transformer" and self.supervision == "every_position":
            raise BadInputError(
                "supervision 'every_position' needs a causal network: the pooled transformer would "
                "see the events it is asked to predict. Use 'causal_transformer'."
            )
        if self.replacement and self.design.heads != "regression":
            raise BadInputError(
                "scheduled sampling replaces events by those of the paper's regression heads; "
                f"heads '{self.design.heads}' train without it."
            )
        if not (0 <= self.replacement < 1 and 0 <= self.ema < 1 and 0 <= self.last_rate <= 1):
            raise BadInputError("replacement, ema and last_rate are shares, from 0 to below 1.")
        if self.rates_to_try and min(self.rates_to_try) <= 0:
            raise BadInputError("every learning rate to try is above 0.")
        if min(self.epochs, self.batch_size, self.replacement_from) < 1:
            raise BadInputError("epochs and batch size are at least 1.")
        if min(self.rate, self.clip) <= 0 or min(self.weight_decay, self.warmup_steps) < 0:
            raise BadInputError("rate and clip are above 0; warm-up and weight decay not below.")

    def as_json(self) -> dict[str, Any]:
        """All of it, for a manifest; the same recipe gives the same text."""
        return asdict(self)


def recipe_from_json(said: dict[str, Any]) -> Recipe:
    """The recipe that `as_json` wrote."""
    design = Design(**said["design"])
    rates = tuple(said["rates_to_try"])
    return Recipe(**{**said, "design": design, "rates_to_try": rates})


def _paper(network: Literal["pooled_transformer", "causal_transformer", "gru", "lstm"]) -> Recipe:
    """The paper's base configuration: trained on one prefix a stay and epoch."""
    return Recipe(design=Design(network=network), supervision="final_position", batch_size=1024)


def _every(recipe: Recipe) -> Recipe:
    """The same network, supervised after every event."""
    return replace(recipe, supervision="every_position", batch_size=256)


def _medium(recipe: Recipe) -> Recipe:
    design = replace(recipe.design, width=256, layers=4, attention_heads=8, feedforward=1024)
    return replace(recipe, design=design)


def _large(recipe: Recipe) -> Recipe:
    design = replace(recipe.design, width=512, layers=6, attention_heads=8, feedforward=2048)
    return replace(recipe, design=design)


TRANSFORMER = _paper("pooled_transformer")
GRU, LSTM = _paper("gru"), _paper("lstm")
CAUSAL_PREFIX = _paper("causal_transformer")
CAUSAL_ALL = _every(CAUSAL_PREFIX)

JOINT = Recipe(
    design=Design(network="causal_transformer", heads="joint", dropout=0.0),
    supervision="every_position",
    epochs=24,
    batch_size=512,
    rate=2e-3,
    warmup_steps=400,
    decay="cosine",
    ema=0.999,
    small_form="joint_small",
    small_below=200_000,
)
JOINT_SMALL = replace(
    JOINT,
    design=replace(JOINT.design, width=64, attention_heads=4, feedforward=256, dropout=0.1),
    epochs=120,
    batch_size=32,
    rate=1e-3,
    warmup_steps=100,
    weight_decay=0.1,
    ema=0.99,
    patience=20,
    small_form="",
    small_below=0,
)

RECIPES: dict[str, Recipe] = {
    "transformer": TRANSFORMER,
    "gru": GRU,
    "lstm": LSTM,
    "causal_transformer_prefix": CAUSAL_PREFIX,
    "causal_transformer_all": CAUSAL_ALL,
    "causal_transformer_all_b1024": replace(CAUSAL_ALL, batch_size=1024),
    "gru_all": _every(GRU),
    "lstm_all": _every(LSTM),
    "decoder": replace(CAUSAL_ALL, design=replace(CAUSAL_ALL.design, heads="time_bins")),
    "transformer_large": _medium(TRANSFORMER),
    "causal_transformer_all_medium": _medium(CAUSAL_ALL),
    "causal_transformer_all_large": _large(CAUSAL_ALL),
    "transformer_scheduled": replace(TRANSFORMER, replacement=0.25),
    "gru_scheduled": replace(GRU, replacement=0.25),
    "causal_transformer_all_scheduled": replace(CAUSAL_ALL, replacement=0.25),
    "transformer_tuned": replace(TRANSFORMER, rates_to_try=(1e-4, 3e-4, 1e-3, 3e-3)),
    "joint": JOINT,
    "joint_small": JOINT_SMALL,
}
"""By name. The paper's large pooled Transformer of its scale table is `transformer_large`."""

PAPER_SEEDS: dict[str, tuple[int, ...]] = {
    "transformer": (20260517, 20260518, 20260519, 20260523, 20260524, 20260525, 20260526),
    "gru": (20260517, 20260518, 20260519, 20260523, 20260524, 20260525, 20260526),
    "causal_transformer_prefix": (20260517, 20260518, 20260519, 20260520, 20260521, 20260522),
    **dict.fromkeys(
        (
            "lstm",
            "decoder",
            "causal_transformer_all",
            "causal_transformer_all_b1024",
            "gru_all",
            "lstm_all",
        ),
        (20260517, 20260518, 20260519),
    ),
}
"""Training seeds of the paper's tables, its seed 1 first (appendix on seeds)."""


def find_recipe(name: str) -> Recipe:
    """The recipe of that name, such as `gru`, or with parts of it otherwise, such as
    `gru[width=64,epochs=4]` or `joint[network=lstm]`; near names are told where there is none.
    """
    plain, bracket, changes = name.partition("[")
    if plain not in RECIPES:
        near = difflib.get_close_matches(plain, RECIPES, n=3) or list(RECIPES)
        raise BadInputError(f"there is no recipe '{plain}'. Did you mean {', '.join(near)}?")
    recipe = RECIPES[plain]
    return _changed(recipe, name, changes.removesuffix("]").split(",")) if bracket else recipe


def _changed(recipe: Recipe, name: str, changes: Sequence[str]) -> Recipe:
    """The recipe with some numbers or choices of it or of its design otherwise."""
    of_recipe, of_design = recipe.as_json(), asdict(recipe.design)
    every = {**of_recipe, **of_design}
    known = [key for key, value in every.items() if _is_number(value) or key in CHOICES]
    for change in changes:
        key, _, text = change.strip().partition("=")
        side = of_design if key in of_design else of_recipe
        if key not in known:
            near = difflib.get_close_matches(key, known, n=3)
            hint = f"Did you mean {', '.join(near)}?" if near else f"There are {', '.join(known)}."
            raise BadInputError(f"'{key}' in '{name}' is no part of a recipe. {hint}")
        try:
            side[key] = type(side[key])(text)
        except ValueError:
            raise BadInputError(
                f"'{change.strip()}' in '{name}' is no number for {key}: write {key}="
                f"{side[key]}, for instance."
            ) from None
    return recipe_from_json({**of_recipe, "design": of_design})


CHOICES = ("network", "heads", "supervision", "decay")
"""Fields that may be chosen behind a recipe's name, beside its numbers."""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def form_for(name: str, n_events: int) -> str:
    """The name of the recipe that trains on so many events: itself, or its small form."""
    recipe = find_recipe(name)
    if not recipe.small_form or n_events >= recipe.small_below:
        return name
    _, bracket, changes = name.partition("[")
    return recipe.small_form + bracket + changes
