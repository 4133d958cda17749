"""Each fault is planted in a healthy simulator (the oracle) and found; nothing is found in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from edsim.lab.build import build_cohort
from edsim.lab.cohort import Cohort, open_cohort
from edsim.lab.diagnose import diagnose
from edsim.lab.rollouts import RolloutSettings, roll_out
from edsim.metrics.seen import FEWEST_STAYS
from edsim.sources import SOURCES
from edsim.tables.rollouts import Rollouts
from edsim.tables.verdicts import FAULTS
from edsim.tables.visits import END, Suffixes

CAP = 128
DISCHARGES = range(25, 32)
"""Tokens of the synthetic department's first vocabulary."""
Chance = np.random.Generator


@pytest.fixture(scope="module")
def cohort(tmp_path_factory: pytest.TempPathFactory) -> Cohort:
    source, directory = SOURCES["synthetic"], tmp_path_factory.mktemp("diagnose") / "C"
    build_cohort(source, source.options(stays=3_000), directory)
    return open_cohort(directory)


@pytest.fixture(scope="module")
def healthy(cohort: Cohort) -> Rollouts:
    return roll_out(cohort, "oracle", RolloutSettings(launches="matched-2000"))


def rows_of(events: Suffixes) -> list[tuple[np.ndarray, np.ndarray]]:
    return [
        (events.tokens[begin:end].copy(), events.minutes[begin:end].copy())
        for begin, end in zip(events.offsets[:-1], events.offsets[1:], strict=True)
    ]


def joined(rows: list[tuple[np.ndarray, np.ndarray]]) -> Suffixes:
    lengths = [len(tokens) for tokens, _ in rows]
    return Suffixes(
        np.concatenate([tokens for tokens, _ in rows]).astype(np.int16),
        np.concatenate([minutes for _, minutes in rows]).astype(np.float32),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
    )


Row = tuple[np.ndarray, np.ndarray]


def wrong_start(row: Row, chance: Chance) -> Row:
    """One first event in eight is token 8."""
    tokens, minutes = row
    if tokens[0] != END and chance.random() < 0.125:
        tokens[0] = 8
    return tokens, minutes


def drifting(row: Row, chance: Chance) -> Row:
    """The later the step, the more likely is any event whatever."""
    tokens, minutes = row
    step = np.arange(len(tokens))
    changed = (chance.random(len(tokens)) < np.minimum(0.02 * step, 0.6)) & (tokens != END)
    tokens[changed] = chance.integers(1, 32, changed.sum())
    return tokens, minutes


def looping(row: Row, chance: Chance) -> Row:
    """After token 8 (vital signs), one time in twenty, nothing else comes any more."""
    tokens, minutes = row
    caught = np.flatnonzero((tokens == 8) & (chance.random(len(tokens)) < 0.05))
    if not len(caught):
        return row
    n = caught[0]
    return (
        np.concatenate([tokens[:n], np.full(CAP - n, 8)]),
        np.concatenate([minutes[:n], np.full(CAP - n, 5.0)]),
    )


def alternating(row: Row, chance: Chance) -> Row:
    """A loop of two events is one, too."""
    n = len(row[0])
    tokens, minutes = looping(row, chance)
    if len(tokens) > n:
        tokens[n:] = np.where(np.arange(n, CAP) % 2, 8, 10)
    return tokens, minutes


def early(row: Row, chance: Chance) -> Row:
    """One event in ten is END instead."""
    tokens, minutes = row
    stops = np.flatnonzero(chance.random(len(tokens)) < 0.1)
    if not len(stops):
        return row
    n = stops[0]
    return np.append(tokens[:n], END), minutes[: n + 1]


def late(row: Row, chance: Chance) -> Row:
    """Half the rows live through their events twice."""
    tokens, minutes = row
    if chance.random() < 0.5 or 2 * len(tokens) > CAP:
        return row
    return np.concatenate([tokens[:-1], tokens]), np.concatenate([minutes[:-1], minutes])


def never(row: Row, chance: Chance) -> Row:
    """One row in five has no END and goes on with the events it has, in a new order each time."""
    tokens, minutes = row
    if chance.random() > 0.2 or len(tokens) < 6:
        return row
    rounds = [chance.permutation(len(tokens) - 1) for _ in range(CAP)]
    order = np.concatenate([np.arange(len(tokens) - 1), *rounds])[:CAP]
    return tokens[order], minutes[order]


def unannounced(row: Row, chance: Chance) -> Row:
    """One visit in four ends with the discharge left out; what came before it stays."""
    tokens, minutes = row
    if chance.random() > 0.25 or tokens[-1] != END or len(tokens) < 3:
        return row
    kept = ~np.isin(tokens, DISCHARGES)
    return tokens[kept], minutes[kept]


def contracting(row: Row, chance: Chance) -> Row:
    """Every gap is a twelfth shorter than it should be, and the next again."""
    tokens, minutes = row
    return tokens, minutes * 0.92 ** np.arange(len(minutes))


def hasty(row: Row, chance: Chance) -> Row:
    """Every gap is half as long."""
    return row[0], row[1] * 0.5


def slow(row: Row, chance: Chance) -> Row:
    """Every gap is twice as long."""
    return row[0], row[1] * 2.0


MUTANTS: dict[str, tuple[Callable[[Row, Chance], Row], str]] = {
    "wrong start": (wrong_start, "first-step miscalibration"),
    "drifting": (drifting, "compounding drift"),
    "looping": (looping, "absorbing loop"),
    "alternating": (alternating, "absorbing loop"),
    "early": (early, "early stopping"),
    "late": (late, "late stopping"),
    "never": (never, "never stopping"),
    "unannounced": (unannounced, "ends without discharge"),
    "contracting": (contracting, "clock contraction"),
    "hasty": (hasty, "clock bias"),
    "slow": (slow, "clock bias"),
}


def mutant(healthy: Rollouts, change: Callable[[Row, Chance], Row]) -> Rollouts:
    chance = np.random.default_rng(0)
    return replace(
        healthy, generated=joined([change(row, chance) for row in rows_of(healthy.generated)])
    )


@pytest.mark.parametrize("name", MUTANTS)
def test_a_planted_fault_is_found_and_first_of_all(
    cohort: Cohort, healthy: Rollouts, name: str
) -> None:
    change, fault = MUTANTS[name]
    found = diagnose(mutant(healthy, change), cohort)
    assert fault in [one.fault for one in found]
    assert all(one.fault in FAULTS and one.evidence for one in found)
    assert len(found) <= 2, [one.sentence for one in found]


@pytest.mark.parametrize(
    "name", ["wrong start", "looping", "early", "unannounced", "contracting", "hasty", "slow"]
)
def test_and_nothing_else_is(cohort: Cohort, healthy: Rollouts, name: str) -> None:
    change, fault = MUTANTS[name]
    assert [one.fault for one in diagnose(mutant(healthy, change), cohort)] == [fault]


def test_the_token_that_starts_the_loop_is_named(cohort: Cohort, healthy: Rollouts) -> None:
    sentence = next(
        one.sentence
        for one in diagnose(mutant(healthy, looping), cohort)
        if one.fault == "absorbing loop"
    )
    assert healthy.header.tokens[8] in sentence


@pytest.mark.parametrize("from_step", [0, 3])
def test_a_clock_that_stops_is_told_in_a_sentence(
    cohort: Cohort, healthy: Rollouts, from_step: int
) -> None:
    def stopped(row: Row, chance: Chance) -> Row:
        return row[0], np.where(np.arange(len(row[1])) >= from_step, 0.0, row[1])

    (verdict,) = diagnose(mutant(healthy, stopped), cohort)
    assert verdict.fault == ("clock contraction" if from_step else "clock bias")
    assert "0.00 times" in verdict.sentence and "not comparable" not in verdict.sentence
    assert "times from step 8 on" in verdict.sentence


def test_continuations_of_other_visits_are_found_out(cohort: Cohort, healthy: Rollouts) -> None:
    order = np.random.default_rng(0).permutation(len(healthy))
    mixed = replace(healthy, generated=healthy.generated.take(order))
    assert [one.fault for one in diagnose(mixed, cohort)] == ["prefix ignored"]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("launches", ["matched-500", "matched-2000", "all"])
def test_nothing_is_found_in_the_oracle(cohort: Cohort, launches: str, seed: int) -> None:
    rollouts = roll_out(cohort, "oracle", RolloutSettings(launches=launches, seed=seed))
    (verdict,) = diagnose(rollouts, cohort)
    assert verdict.fault == "" and "Nothing found" in verdict.sentence
    assert verdict.producer == "oracle"


def test_count_models_have_the_faults_they_are_known_for(cohort: Cohort) -> None:
    found = {
        name: {
            one.fault
            for one in diagnose(
                roll_out(cohort, name, RolloutSettings(launches="matched-2000")), cohort
            )
        }
        for name in ("marginal", "markov", "ngram:5")
    }
    assert "prefix ignored" in found["marginal"]
    assert "late stopping" in found["markov"] and "prefix ignored" not in found["markov"]
    assert found["ngram:5"] == {""}


def test_the_order_of_rows_changes_nothing(cohort: Cohort, healthy: Rollouts) -> None:
    spoilt = mutant(healthy, hasty)
    order = np.random.default_rng(1).permutation(len(spoilt))
    mixed = Rollouts(
        spoilt.header, spoilt.launches[order], spoilt.draw[order], spoilt.generated.take(order)
    )
    assert diagnose(mixed, cohort) == diagnose(spoilt, cohort)


def test_a_few_stays_tell_nothing(cohort: Cohort, healthy: Rollouts) -> None:
    rows = np.flatnonzero(healthy.launches[:, 0] < np.unique(healthy.launches[:, 0])[10])
    few = Rollouts(
        healthy.header, healthy.launches[rows], healthy.draw[rows], healthy.generated.take(rows)
    )
    (verdict,) = diagnose(few, cohort)
    assert verdict.fault == "" and f"{FEWEST_STAYS} are needed" in verdict.sentence


@pytest.mark.parametrize("what", ["no end", "one event", "no gaps", "one row"])
def test_degenerate_tables_get_a_verdict(cohort: Cohort, healthy: Rollouts, what: str) -> None:
    rows = rows_of(healthy.generated)
    made = {
        "no end": [(np.full(CAP, 8), np.ones(CAP)) for _ in rows],
        "one event": [(np.array([END]), np.zeros(1)) for _ in rows],
        "no gaps": [(tokens, minutes * 0) for tokens, minutes in rows],
        "one row": rows[:1],
    }[what]
    table = Rollouts(
        healthy.header, healthy.launches[: len(made)], healthy.draw[: len(made)], joined(made)
    )
    assert diagnose(table, cohort)
