"""What a neural simulator is made of, apart from its weights: refused here where it cannot work."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from edsim.errors import BadInputError

NetworkKind = Literal["pooled_transformer", "causal_transformer", "gru", "lstm"]
HeadsKind = Literal["regression", "joint", "time_bins"]

NETWORK_KINDS: tuple[NetworkKind, ...] = ("pooled_transformer", "causal_transformer", "gru", "lstm")
HEADS_KINDS: tuple[HeadsKind, ...] = ("regression", "joint", "time_bins")


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """Network, heads and sizes. JSON values only."""

    network: NetworkKind
    heads: HeadsKind = "regression"
    """`regression`: the paper's; `joint`: time classes given the event; `time_bins`: the decoder,
    whose sequence alternates between time bins and events."""
    width: int = 128
    layers: int = 2
    attention_heads: int = 4
    feedforward: int = 512
    dropout: float = 0.1
    n_bins: int = 64
    """Of the decoder's time tokens."""

    def __post_init__(self) -> None:
        if self.network not in NETWORK_KINDS:
            raise no_choice("is no network", self.network, NETWORK_KINDS)
        if self.heads not in HEADS_KINDS:
            raise no_choice("are no heads", self.heads, HEADS_KINDS)
        if self.width % (2 * self.attention_heads):
            raise BadInputError(
                f"width {self.width} cannot be divided among {self.attention_heads} attention "
                "heads of even size."
            )
        if self.heads == "time_bins" and self.network != "causal_transformer":
            raise BadInputError(
                "time tokens between the events need network 'causal_transformer', not "
                f"'{self.network}'."
            )
        if not 0 <= self.dropout < 1:
            raise BadInputError(f"dropout is from 0 to below 1, not {self.dropout:g}.")
        if min(self.width, self.layers, self.attention_heads, self.feedforward, self.n_bins) < 1:
            raise BadInputError("every size of a network is at least 1.")


def no_choice(what: str, word: str, known: Sequence[str]) -> BadInputError:
    """The refusal of a word that is none of a few: all of them, and the nearest."""
    close = difflib.get_close_matches(word, known, n=1)
    hint = f" Did you mean '{close[0]}'?" if close else ""
    return BadInputError(f"there {what} '{word}': {', '.join(known)}.{hint}")
