"""Choosing a count model by name."""

from __future__ import annotations

import pytest

from edsim.errors import BadInputError
from edsim.models.count_models import COUNT_MODELS, count_recipe
from random_visits import random_visits


def test_the_names_are_those_of_the_paper() -> None:
    orders = [f"ngram:{k}" for k in range(2, 8)]
    assert list(COUNT_MODELS) == ["marginal", "markov", *orders, "semi_markov"]


@pytest.mark.parametrize("name", COUNT_MODELS)
def test_a_fitted_model_knows_its_name(name: str) -> None:
    model = count_recipe(name).fit(random_visits(20, 6), 6)
    assert (model.name, model.order) == (name, count_recipe(name).order)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("markow", "Did you mean 'markov'"),
        ("semi-markov", "Did you mean 'semi_markov'"),
        ("transformer", "There are marginal, markov, ngram:2 to ngram:7"),
        ("ngram:8", "an order from 2 to 7, as in 'ngram:3'; not '8'"),
        ("ngram", "an order from 2 to 7"),
        ("ngram:1", "'ngram:1' is called 'markov'"),
        ("ngram:0", "'ngram:0' is called 'marginal'"),
    ],
)
def test_an_unknown_name_is_refused_with_a_way_out(name: str, sentence: str) -> None:
    with pytest.raises(BadInputError, match=sentence):
        count_recipe(name)
