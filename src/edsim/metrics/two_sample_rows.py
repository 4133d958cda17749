"""The classifier two-sample test as score rows: areas, what the prefix adds, what gives it away.

The paper's appendix on the order of count models. What the prefix adds to the area is also said as
a share of the room that is left (headroom) and on the logit scale, for producers whose
continuations alone are told apart already.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from edsim.metrics.figures import Group, Table
from edsim.metrics.resampling import stays_of
from edsim.metrics.score_rows import QUANTILES
from edsim.metrics.small_cells import SMALL
from edsim.metrics.two_sample import FEWEST, TWO_SAMPLE, Sides, TwoSample
from edsim.privacy import small
from edsim.tables.rollouts import Scored
from edsim.tables.scores import ScoreRow
from edsim.tables.visits import Prefixes

MOST_FEATURES = 12
_NOMINAL = ("first event", "last event")
"""Features whose size says nothing."""

_AREAS = {"c2st": 0, "c2st_conditional": 1}
FEW = f"fewer than {FEWEST} stays were left after one launch a stay was drawn"
CERTAIN = "an area is 0 or 1, so that nothing is left to be added"


@dataclass(frozen=True, slots=True)
class _Areas:
    """Both tests of one producer."""

    tests: tuple[TwoSample, TwoSample]
    """Without and with the prefix."""

    @classmethod
    def of(cls, sides: Sides, seed: int) -> _Areas:
        without, with_prefix = (sides.told(conditional=c, seed=seed) for c in (False, True))
        return cls((without, with_prefix))

    def pairs(self) -> NDArray[np.float64]:
        """[1 + resamples, 2]: areas without and with the prefix, first as they are."""
        return np.column_stack([np.append(one.auc, one.again) for one in self.tests])


def two_sample_rows(group: Group, prefixes: Prefixes, *, seed: int = 0) -> list[ScoreRow]:
    """Rows of a table, beside the order-3 model's and, as their floor, the oracle's."""
    if group.hidden or (group.restricted and small(group.counts["n_subjects"])):
        return [ScoreRow(metric=name, value=None, note=SMALL) for name in TWO_SAMPLE]

    def sides_of(scored: Scored) -> Sides:
        return Sides.of_launches(scored, prefixes, group.facts.lattice, seed)

    sides = sides_of(group.rollouts())
    if len(sides) < FEWEST:
        return [ScoreRow(metric=name, value=None, note=FEW) for name in TWO_SAMPLE]
    ours = _Areas.of(sides, seed)
    beside, best = (
        _Areas.of(sides_of(one.first), seed) if isinstance(one, Table) else None
        for one in (group.reference, group.oracle)
    )
    rows = [
        *(_area(name, at, ours, beside, best) for name, at in _AREAS.items()),
        *_increments(ours, beside, best),
        *_chances(ours),
        *_features(sides, group.facts.tokens),
    ]
    return [_sized(row, sides, group) for row in rows]


def headroom(areas: NDArray[np.float64]) -> NDArray[np.float64]:
    """[..., 2] areas without and with the prefix: the gain as a share of what is left to 1."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((areas[..., 1] - areas[..., 0]) / (1 - areas[..., 0]))


def logit_gain(areas: NDArray[np.float64]) -> NDArray[np.float64]:
    """[..., 2] areas without and with the prefix: the difference of their logits."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logits = np.log(areas / (1 - areas))
        return np.asarray(logits[..., 1] - logits[..., 0])


def _area(name: str, at: int, ours: _Areas, beside: _Areas | None, best: _Areas | None) -> ScoreRow:
    mine = ours.tests[at]
    loss = abs(mine.auc - 0.5)
    floor = mine.null_sd if best is None else abs(best.tests[at].auc - 0.5)
    theirs = None if beside is None else beside.tests[at].auc
    reference = None if theirs is None else abs(theirs - 0.5)
    return ScoreRow(
        metric=name,
        value=mine.auc,
        low=mine.low,
        high=mine.high,
        loss=loss,
        excess=loss - floor,
        target="0.5",
        floor=floor,
        floor_kind="labels swapped" if best is None else "oracle",
        reference=theirs,
        position=(
            None
            if reference is None or reference <= floor
            else (loss - floor) / (reference - floor)
        ),
    )


def _increments(ours: _Areas, beside: _Areas | None, best: _Areas | None) -> list[ScoreRow]:
    rows = []
    for name, gain in (("c2st_headroom", headroom), ("c2st_logit", logit_gain)):
        values = gain(ours.pairs())
        again = values[1:][np.isfinite(values[1:])]
        if not np.isfinite(values[0]) or len(again) < 2:
            rows.append(ScoreRow(metric=name, value=None, target="low", note=CERTAIN))
            continue
        low, high = np.quantile(again, QUANTILES)
        theirs = None if beside is None else float(gain(beside.pairs())[0])
        floor = None if best is None else float(gain(best.pairs())[0])
        rows.append(
            ScoreRow(
                metric=name,
                value=float(values[0]),
                low=float(low),
                high=float(high),
                loss=float(values[0]),
                target="low",
                floor=_number(floor),
                floor_kind="" if _number(floor) is None else "oracle",
                reference=_number(theirs),
            )
        )
    return rows


def _chances(ours: _Areas) -> list[ScoreRow]:
    return [
        ScoreRow(metric="c2st_p_value", group=label, value=one.p_value, target="high")
        for label, one in zip(("continuation", "with prefix"), ours.tests, strict=True)
    ]


def _features(sides: Sides, tokens: Sequence[str]) -> list[ScoreRow]:
    """The features that tell most by themselves, the most telling one first."""
    names, areas = sides.of.names(tokens), sides.areas_alone()
    order = np.argsort(-np.abs(areas - 0.5), kind="stable")
    told = [j for j in order if names[j] not in _NOMINAL][:MOST_FEATURES]
    return [
        ScoreRow(
            metric="c2st_feature",
            group=names[j],
            value=float(areas[j]),
            loss=float(abs(areas[j] - 0.5)),
            target="0.5",
        )
        for j in told
    ]


def _sized(row: ScoreRow, sides: Sides, group: Group) -> ScoreRow:
    _, place = stays_of(group.rollouts().launches)
    n_subjects = len(np.unique(group.subject_of_stay[place[sides.rows]]))
    return replace(row, n_launches=len(sides), n_stays=len(sides), n_subjects=n_subjects)


def _number(value: float | None) -> float | None:
    return value if value is not None and np.isfinite(value) else None
