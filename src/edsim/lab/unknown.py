"""What is said of a name that no producer has: what it may have meant, and what there is."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from edsim.errors import BadInputError


def unknown_producer(name: str, known: Sequence[str], installed: Sequence[str]) -> BadInputError:
    """The refusal. `known` are our names, `installed` those that other packages make known."""
    from edsim.models.count_models import HIGHEST_ORDER
    from edsim.training.recipes import RECIPES

    plain = name.partition("@")[0]
    near = difflib.get_close_matches(name, [*known, *installed], n=1)
    if plain in RECIPES:
        hint = f" A trained model is a recipe and a seed: '{plain}@1'."
    elif name.endswith(".py"):
        hint = f" Say which object of the file: '{name}:NAME'."
    elif near:
        hint = f" Did you mean '{near[0]}'?"
    else:
        hint = ""
    others = f", {', '.join(installed)}" if installed else ""
    return BadInputError(
        f"there is no producer '{name}'.{hint} There are marginal, markov, ngram:2 to "
        f"ngram:{HIGHEST_ORDER}, semi_markov, oracle{others}, RECIPE@SEED (edsim train --list), a "
        "checkpoint .npz, blend:W:A+B, and your own as module:object or file.py:object."
    )
