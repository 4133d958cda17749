"""The count models by name."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass

from edsim.errors import BadInputError
from edsim.models.contexts import ContextTable, tabulate
from edsim.models.counts import CountModel, compile_counts, compile_semi_markov, name_of_order
from edsim.models.semi_markov import SEMI_MARKOV, SEMI_MARKOV_ORDER
from edsim.tables.visits import Visits

HIGHEST_ORDER = 7


@dataclass(frozen=True, slots=True)
class CountRecipe:
    """How far a count model looks back, and what is made of the counts."""

    order: int
    compile: Callable[[ContextTable], CountModel]

    def fit(self, training: Visits, n_tokens: int) -> CountModel:
        """The model of the training part of a cohort, `visits.part("train")`."""
        return self.compile(tabulate(training, n_tokens, self.order))


COUNT_MODELS: dict[str, CountRecipe] = {
    **{name_of_order(k): CountRecipe(k, compile_counts) for k in range(HIGHEST_ORDER + 1)},
    SEMI_MARKOV: CountRecipe(SEMI_MARKOV_ORDER, compile_semi_markov),
}
"""marginal, markov, ngram:2 to ngram:7, semi_markov."""


def count_recipe(name: str) -> CountRecipe:
    """The count model of a name; an unknown name is refused with the nearest known one."""
    recipe = COUNT_MODELS.get(name)
    if recipe is not None:
        return recipe
    kind, _, order = name.partition(":")
    if kind == "ngram":
        raise BadInputError(_bad_order(order))
    near = difflib.get_close_matches(name, COUNT_MODELS, n=1)
    hint = f" Did you mean '{near[0]}'?" if near else ""
    raise BadInputError(
        f"there is no count model '{name}'.{hint} There are marginal, markov, ngram:2 to "
        f"ngram:{HIGHEST_ORDER}, and {SEMI_MARKOV}."
    )


def _bad_order(order: str) -> str:
    if order in ("0", "1"):
        return f"'ngram:{order}' is called '{name_of_order(int(order))}'."
    return f"ngram takes an order from 2 to {HIGHEST_ORDER}, as in 'ngram:3'; not '{order}'."
