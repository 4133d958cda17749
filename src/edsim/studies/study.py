"""A study as it is written: which models, how they are rolled out, and what is asked of them.

Only what can be wrong without looking at data is refused here; `plan` looks at the cohort.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from edsim.errors import BadInputError

_STRICT: dict[str, Any] = {"extra": "forbid"}
OWN = "own"
"""In place of a clock's name: the model's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One of the `models` of a study; what it leaves out is as the study says."""

    __pydantic_config__: ClassVar[Any] = _STRICT

    name: str
    """A recipe, a count model, `oracle`, `blend:W:A+B`, or a simulator of one's own."""
    label: str | None = None
    """What tables call it."""
    seeds: tuple[int, ...] | None = None
    rules: tuple[str, ...] | None = None
    clocks: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Synthetic:
    """How the cohort is drawn where it is not there yet."""

    __pydantic_config__: ClassVar[Any] = _STRICT

    stays: int = 20_000
    seed: int = 1
    per_day: int = 150
    drift: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """All that a study file says."""

    __pydantic_config__: ClassVar[Any] = _STRICT

    cohort: str
    """Directory of a cohort, from where the file lies."""
    models: tuple[Entry, ...]
    title: str = ""
    results: str = ""
    """Folder of the results, from where the file lies; the file's own name without it."""
    synthetic: Synthetic | None = None
    vocabulary: str | None = None
    """The cohort's first without it."""
    seeds: tuple[int, ...] = (1,)
    """Of training; models that are not trained have none."""
    rules: tuple[str, ...] = ("vanilla",)
    clocks: tuple[str, ...] = (OWN,)
    launches: str = "matched-10k"
    draws: int = 1
    cap: int | None = None
    """The cohort's own without it."""
    rollout_seed: int = 0
    metrics: tuple[str, ...] = ()
    """All but the slow ones without it."""
    populations: tuple[str, ...] = ()
    slow: bool = False
    resamples: int = 1_000
    comparisons: tuple[tuple[str, ...], ...] = ()
    """Pairs of names, as the table of results has them."""
    device: Literal["cpu", "cuda"] = "cpu"

    def __post_init__(self) -> None:
        for name, least in (("draws", 1), ("resamples", 2), ("cap", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise BadInputError(f"`{name}` must be at least {least}, not {value}.")
        for name in ("models", "seeds", "rules", "clocks"):
            if not getattr(self, name):
                raise BadInputError(f"`{name}` names none: at least one is needed.")
        _refuse_twice(self.seeds, "`seeds`")
        for entry in self.models:
            for name in ("seeds", "rules", "clocks"):
                if getattr(entry, name) == ():
                    raise BadInputError(f"`{name}` of model '{entry.name}' names none.")
            _refuse_twice(entry.seeds or (), f"`seeds` of model '{entry.name}'")
        for pair in self.comparisons:
            if len(pair) != 2:
                raise BadInputError(
                    f'`comparisons` holds pairs, as [["A", "B"]]; one of them has {len(pair)}.'
                )


def _refuse_twice(seeds: tuple[int, ...], where: str) -> None:
    """One model that is counted twice would make a spread over seeds too small."""
    twice = next((seed for k, seed in enumerate(seeds) if seed in seeds[:k]), None)
    if twice is not None:
        raise BadInputError(f"{where} names {twice} twice: a seed is one model, and counts once.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One line of a study's results: a model under one rule and one clock, with its seeds."""

    name: str
    producers: tuple[str, ...]
    """One for each training seed; a model that is not trained is its only one."""
    rule: str
    clock: str | None
