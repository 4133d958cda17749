"""Open loop: how well a model says what comes next while it is shown what did come.

Every prefix is a question of its own, so nothing here tells whether the model can go on by itself.
A model that draws the time first is asked twice: given the history alone, which is comparable with
the others, and given the observed time too, as the paper's decoder is.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from edsim.metrics.measure import Floats, Measure, ScoringFacts, share
from edsim.tables.predictions import Predicted
from edsim.tables.visits import END

LEAST_PROBABILITY = 1e-6
"""A smaller one counts as this, so that an event which a model rules out costs 13.8 nats."""
LEAST_DENSITY = 1e-6
"""The same for densities of gaps, a minute: about that of any moment within two years."""


def _mean_over(values: Floats, counts: NDArray[np.bool_]) -> Floats:
    """[rows, 2]: the value where it counts, and whether it does."""
    return np.stack([np.where(counts, values, 0.0), counts], axis=1).astype(np.float64)


def _among_best(rows: Predicted, facts: ScoringFacts, *, k: int, given_gap: bool) -> Floats:
    said = rows.predictions
    rank = said.rank_given_gap if given_gap else said.rank
    return _mean_over((rank <= k).astype(np.float64), rank > 0)


def _best_without_end(rows: Predicted, facts: ScoringFacts) -> Floats:
    """END is masked: it leaves the race, and the launches where it is the answer leave with it."""
    said = rows.predictions
    rank = said.rank - (said.log_prob_end >= said.log_prob)
    return _mean_over((rank == 1).astype(np.float64), said.token != END)


def _end_said(rows: Predicted, facts: ScoringFacts) -> Floats:
    """[rows, 3]: the probability of END, whether it came, and one."""
    said = rows.predictions
    came = said.token == END
    return np.stack([np.exp(said.log_prob_end), came, np.ones(len(came))], axis=1)


def _surprise(log_prob: Floats, least: float) -> Floats:
    known = ~np.isnan(log_prob)
    return _mean_over(-np.maximum(np.where(known, log_prob, 0.0), np.log(least)), known)


def _event_nll(rows: Predicted, facts: ScoringFacts, *, given_gap: bool) -> Floats:
    said = rows.predictions
    log_prob = said.log_prob_given_gap if given_gap else said.log_prob
    return _surprise(log_prob, LEAST_PROBABILITY)


def _gap_nll(rows: Predicted, facts: ScoringFacts) -> Floats:
    return _surprise(rows.predictions.log_density_gap, LEAST_DENSITY)


def _joint_nll(rows: Predicted, facts: ScoringFacts) -> Floats:
    """Of event and gap together, in whichever order the model draws them."""
    said = rows.predictions
    drawn_first = said.rank_given_gap > 0
    event = np.where(drawn_first, said.log_prob_given_gap, said.log_prob)
    events, gaps = _surprise(event, LEAST_PROBABILITY), _gap_nll(rows, facts)
    return _mean_over(events[:, 0] + gaps[:, 0], (events[:, 1] * gaps[:, 1]) > 0)


def _ruled_out(rows: Predicted, facts: ScoringFacts, *, column: str) -> Floats:
    said = getattr(rows.predictions, column)
    return _mean_over(np.isneginf(said).astype(np.float64), ~np.isnan(said))


def _los_error(rows: Predicted, facts: ScoringFacts) -> Floats:
    guess = rows.predictions.remaining_guess
    return _mean_over(np.abs(guess - rows.remaining), ~np.isnan(guess))


def _mean(totals: Floats) -> Floats:
    return share(totals[..., 0], totals[..., 1])


_NONE = "there are no predictions"
_NO_GAP = "the model gives no density of gaps"
_EVENT_FIRST = "the model does not draw the time before the event"


def _accuracy(name: str, title: str, k: int, *, given_gap: bool = False) -> Measure:
    return Measure(
        name=name,
        title=title,
        sums=partial(_among_best, k=k, given_gap=given_gap),
        value=_mean,
        loss="below_one",
        paired=True,
        undefined=_EVENT_FIRST if given_gap else _NONE,
    )


def _nll(
    name: str, title: str, sums: Callable[[Predicted, ScoringFacts], Floats], undefined: str
) -> Measure:
    return Measure(
        name=name,
        title=title,
        sums=sums,
        value=_mean,
        paired=True,
        unit="nats",
        undefined=undefined,
    )


_MEASURES = (
    _accuracy("accuracy", "Next event right", 1),
    _accuracy("accuracy_top3", "Among the three likeliest", 3),
    Measure(
        name="accuracy_without_end",
        title="Right, END masked",
        sums=_best_without_end,
        value=_mean,
        loss="below_one",
        paired=True,
        undefined="END follows every launch",
    ),
    Measure(
        name="end_probability",
        title="Mean probability of END",
        sums=_end_said,
        value=lambda totals: share(totals[..., 0], totals[..., 2]),
        target=lambda totals: share(totals[..., 1], totals[..., 2]),
        cells=lambda n_columns: [(np.array([1]), np.array([2]))],
        loss="distance",
        undefined=_NONE,
    ),
    _accuracy("accuracy_given_gap", "Right, given the gap", 1, given_gap=True),
    _accuracy("accuracy_top3_given_gap", "Among three, given the gap", 3, given_gap=True),
    _nll("event_nll", "Surprise at the event", partial(_event_nll, given_gap=False), _NONE),
    _nll(
        "event_nll_given_gap",
        "Surprise, given the gap",
        partial(_event_nll, given_gap=True),
        _EVENT_FIRST,
    ),
    _nll("gap_nll", "Surprise at the gap", _gap_nll, _NO_GAP),
    _nll("joint_nll", "Surprise at both", _joint_nll, _NO_GAP),
    *(
        Measure(
            name=name,
            title=title,
            sums=partial(_ruled_out, column=column),
            value=_mean,
            paired=True,
            undefined=undefined,
        )
        for name, title, column, undefined in (
            ("event_ruled_out", "Events ruled out", "log_prob", _NONE),
            ("gap_ruled_out", "Gaps ruled out", "log_density_gap", _NO_GAP),
        )
    ),
    Measure(
        name="los_mae_open_loop",
        title="Remaining LOS error",
        sums=_los_error,
        value=_mean,
        paired=True,
        unit="min",
        undefined="the model does not guess how long the visit goes on",
    ),
)

OPEN_LOOP: dict[str, Measure] = {measure.name: measure for measure in _MEASURES}
"""Every measure of predictions by name."""

OPEN_LOOP_BY_GROUP = ("accuracy", "accuracy_top3", "event_nll", "gap_nll", "los_mae_open_loop")
"""What is said of every group of a population."""
