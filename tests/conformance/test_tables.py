"""What `edsim check` finds in processes and in rollouts tables, which it cannot drive."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from ward import CAP, N_TOKENS, facts, visits

from edsim import seeds
from edsim.conformance.launching import choose_launches
from edsim.conformance.process import check_process
from edsim.conformance.recorded_rule import read_rule
from edsim.conformance.rollouts import check_rollouts
from edsim.conformance.rules import TRIED
from edsim.conformance.verdicts import CHECKS, NEEDS_THE_SIMULATOR, Verdict
from edsim.tables.rollouts import Rollouts, RolloutsHeader
from edsim.tables.visits import END, Prefixes, Suffixes, Visits

SEEN_IN_ROWS = {
    "launches",
    "prefix boundary",
    "END last",
    "cap",
    "gaps",
    "clock units",
    "shapes",
}
SEEN_IN_CALLS = SEEN_IN_ROWS | {"calls", "seed", "draws", "batches", "no look at the future"}


def from_keys(prefixes: Prefixes, *, cap: int, draws: int, seed: int) -> Suffixes:
    """A process whose every row has its own chance: some checks, each after half an hour or so."""
    keys = np.stack([prefixes.keys(seed, draw) for draw in range(draws)], axis=1).ravel()
    n_checks = (seeds.uniform(seeds.step_keys(keys, 0, seeds.EVENT)) * 8).astype(np.int64)
    lengths = np.minimum(n_checks + 1, cap)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    row = np.repeat(np.arange(len(keys)), lengths)
    step = np.arange(offsets[-1]) - offsets[row]
    u_time = seeds.uniform(seeds.step_keys(keys[row], step, seeds.TIME))
    tokens = np.where(step == n_checks[row], END, 3).astype(np.int16)
    return Suffixes(tokens, (60 * u_time).astype(np.float32), offsets)


def from_one_generator(prefixes: Prefixes, *, cap: int, draws: int, seed: int) -> Suffixes:
    """A process as most write it: one generator, one row after the other."""
    rng = np.random.default_rng(seed)
    rows = [int(rng.integers(1, min(cap, 9))) for _ in range(len(prefixes) * draws)]
    tokens = [np.array([3] * (n - 1) + [END], dtype=np.int16) for n in rows]
    minutes = [rng.exponential(30, n).astype(np.float32) for n in rows]
    return Suffixes(
        np.concatenate(tokens), np.concatenate(minutes), np.concatenate([[0], np.cumsum(rows)])
    )


def from_one_generator_by_prefix(
    prefixes: Prefixes, *, cap: int, draws: int, seed: int
) -> Suffixes:
    """The same, and what it draws first depends on what was observed."""
    so_far = int(prefixes.tokens.sum(dtype=np.int64))
    return from_one_generator(prefixes, cap=cap, draws=draws, seed=seed + so_far)


def outcomes(verdicts: list[Verdict]) -> dict[str, str]:
    assert [verdict.name for verdict in verdicts] == list(CHECKS)
    return {verdict.name: verdict.outcome for verdict in verdicts}


def problems(verdicts: list[Verdict]) -> set[str]:
    return {name for name, outcome in outcomes(verdicts).items() if outcome in ("fail", "warning")}


def checked_process(process: Callable[..., object]) -> list[Verdict]:
    return check_process(process, visits(), facts(), cap=CAP, n_launches=100)  # type: ignore[arg-type]


def test_a_healthy_process_passes_what_can_be_seen() -> None:
    verdicts = checked_process(from_keys)
    assert problems(verdicts) == set()
    passed = {verdict.name for verdict in verdicts if verdict.outcome == "pass"}
    assert passed == SEEN_IN_CALLS
    assert {v.sentence for v in verdicts if v.name not in passed} == {NEEDS_THE_SIMULATOR}


@pytest.mark.parametrize("process", [from_one_generator, from_one_generator_by_prefix])
def test_a_process_with_one_generator_is_warned_and_no_more(
    process: Callable[..., object],
) -> None:
    verdicts = checked_process(process)
    assert problems(verdicts) == {"batches", "draws"}
    assert "fail" not in outcomes(verdicts).values()


def test_a_privileged_process_may_look_at_the_future() -> None:
    class Privileged:
        privileged = True

        def __call__(self, prefixes: Prefixes, *, cap: int, draws: int, seed: int) -> Suffixes:
            return looks_ahead(prefixes, cap=cap, draws=draws, seed=seed)

    verdicts = {verdict.name: verdict for verdict in checked_process(Privileged())}
    assert verdicts["no look at the future"].outcome == "not applicable"
    assert "on purpose" in verdicts["no look at the future"].sentence


def looks_ahead(prefixes: Prefixes, *, cap: int, draws: int, seed: int) -> Suffixes:
    """Knows by the stay's row how many events are to come."""
    rows = from_keys(prefixes, cap=cap, draws=draws, seed=seed)
    future = visits().suffixes(prefixes.launches()).lengths()
    return replace(
        rows,
        minutes=rows.minutes
        + np.repeat(np.repeat(future, draws), rows.lengths()).astype(np.float32),
    )


def reads_other_rows(prefixes: Prefixes, *, cap: int, draws: int, seed: int) -> Suffixes:
    """Knows from the longest prefix of the stay in the batch how it went on."""
    rows = from_keys(prefixes, cap=cap, draws=draws, seed=seed)
    spent = prefixes.elapsed_minutes()
    longest = {
        row: spent[prefixes.stay_rows == row].max() for row in set(prefixes.stay_rows.tolist())
    }
    known = np.array([longest[row] for row in prefixes.stay_rows.tolist()])
    mixed = known > spent.min(initial=0)
    minutes = rows.minutes + np.repeat(
        np.repeat(np.where(mixed, known % 7, 0), draws), rows.lengths()
    )
    return replace(rows, minutes=minutes.astype(np.float32))


def looks_up_the_name(prefixes: Prefixes, *, cap: int, draws: int, seed: int) -> Suffixes:
    """Knows by the stay's id how it went on; the time is its own."""
    assert prefixes.stay_ids is not None
    row = {name: i for i, name in enumerate(visits().stay_ids.tolist())}  # type: ignore[union-attr]
    stay_rows = np.array([row[name] for name in prefixes.stay_ids.tolist()])
    launches = np.stack([stay_rows, prefixes.lengths()], axis=1).astype(np.int32)
    observed = visits().suffixes(launches).cut(cap)
    rows = observed.take(np.repeat(np.arange(len(prefixes)), draws))
    keys = np.stack([prefixes.keys(seed, draw) for draw in range(draws)], axis=1).ravel()
    own = seeds.uniform(seeds.step_keys(keys, 0, seeds.TIME))
    return replace(rows, minutes=rows.minutes * np.repeat(own, rows.lengths()).astype(np.float32))


def forgets_the_seed(prefixes: Prefixes, *, cap: int, draws: int, seed: int) -> Suffixes:
    return from_keys(prefixes, cap=cap, draws=draws, seed=0)


def never_seeds(prefixes: Prefixes, *, cap: int, draws: int, seed: int) -> Suffixes:
    return from_one_generator(
        prefixes, cap=cap, draws=draws, seed=int(np.random.default_rng().integers(2**31))
    )


def copies_draws(prefixes: Prefixes, *, cap: int, draws: int, seed: int) -> Suffixes:
    rows = from_keys(prefixes, cap=cap, draws=1, seed=seed)
    return rows.take(np.repeat(np.arange(len(rows)), draws))


def draw_by_draw(prefixes: Prefixes, *, cap: int, draws: int, seed: int) -> Suffixes:
    rows = from_keys(prefixes, cap=cap, draws=draws, seed=seed)
    return rows.take(np.arange(len(rows)).reshape(-1, draws).T.ravel())


def raises(prefixes: Prefixes, *, cap: int, draws: int, seed: int) -> Suffixes:
    raise KeyError("s0003")


def answers_a_list(prefixes: Prefixes, *, cap: int, draws: int, seed: int) -> list[int]:
    return [1, 2, 3]


def one_row_only(prefixes: Prefixes, *, cap: int, draws: int, seed: int) -> Suffixes:
    return from_keys(prefixes, cap=cap, draws=draws, seed=seed).take(np.array([0]))


def ignores_the_cap(prefixes: Prefixes, *, cap: int, draws: int, seed: int) -> Suffixes:
    return from_keys(prefixes, cap=CAP, draws=draws, seed=seed)


def answers_columns_as_lists(prefixes: Prefixes, *, cap: int, draws: int, seed: int) -> Suffixes:
    rows = from_keys(prefixes, cap=cap, draws=draws, seed=seed)
    return Suffixes(rows.tokens.tolist(), rows.minutes.tolist(), rows.offsets.tolist())  # type: ignore[arg-type]


def answers_offsets_as_lists(prefixes: Prefixes, *, cap: int, draws: int, seed: int) -> Suffixes:
    rows = from_keys(prefixes, cap=cap, draws=draws, seed=seed)
    return replace(rows, offsets=rows.offsets.tolist())


def answers_offsets_in_floats(prefixes: Prefixes, *, cap: int, draws: int, seed: int) -> Suffixes:
    rows = from_keys(prefixes, cap=cap, draws=draws, seed=seed)
    return replace(rows, offsets=rows.offsets.astype(float))


def answers_two_dimensions(prefixes: Prefixes, *, cap: int, draws: int, seed: int) -> Suffixes:
    rows = from_keys(prefixes, cap=cap, draws=draws, seed=seed)
    return replace(rows, tokens=rows.tokens[:, None], minutes=rows.minutes[:, None])


def answers_offsets_not_from_zero(
    prefixes: Prefixes, *, cap: int, draws: int, seed: int
) -> Suffixes:
    rows = from_keys(prefixes, cap=cap, draws=draws, seed=seed)
    return replace(rows, offsets=rows.offsets[1:])


PROCESS_MUTANTS: dict[Callable[..., object], str] = {
    looks_ahead: "no look at the future",
    looks_up_the_name: "no look at the future",
    reads_other_rows: "no look at the future",
    forgets_the_seed: "seed",
    never_seeds: "seed",
    copies_draws: "draws",
    draw_by_draw: "draws",
    raises: "calls",
    answers_a_list: "shapes",
    answers_columns_as_lists: "shapes",
    answers_offsets_as_lists: "shapes",
    answers_offsets_in_floats: "shapes",
    answers_two_dimensions: "shapes",
    answers_offsets_not_from_zero: "shapes",
    one_row_only: "launches",
    ignores_the_cap: "cap",
}


@pytest.mark.parametrize("mutant", PROCESS_MUTANTS, ids=lambda mutant: mutant.__name__)
def test_a_broken_process_is_found(mutant: Callable[..., object]) -> None:
    verdicts = checked_process(mutant)
    assert outcomes(verdicts)[PROCESS_MUTANTS[mutant]] == "fail"
    assert "s0003" not in " ".join(verdict.sentence for verdict in verdicts)


def table(draws: int = 2) -> Rollouts:
    """A healthy table of a hundred launches."""
    launches = choose_launches(visits(), 100)
    prefixes = visits().prefixes(launches)
    return Rollouts(
        RolloutsHeader(producer="made up", cap=CAP, draws=draws),
        np.repeat(launches, draws, axis=0),
        np.tile(np.arange(draws, dtype=np.int32), len(launches)),
        from_keys(prefixes, cap=CAP, draws=draws, seed=1),
    )


def some(rollouts: Rollouts, rows: NDArray[np.integer]) -> Rollouts:
    return replace(
        rollouts,
        launches=rollouts.launches[rows],
        draw=rollouts.draw[rows],
        generated=rollouts.generated.take(rows),
    )


def with_minutes(
    rollouts: Rollouts, change: Callable[[NDArray[np.floating]], NDArray[np.floating]]
) -> Rollouts:
    generated = rollouts.generated
    minutes = change(generated.minutes).astype(np.float32)
    return replace(rollouts, generated=replace(generated, minutes=minutes))


def with_prefix(rollouts: Rollouts) -> Rollouts:
    prefixes = visits().prefixes(rollouts.launches)
    before = Suffixes(prefixes.tokens, prefixes.minutes, prefixes.offsets)
    both = Suffixes.join([before, rollouts.generated])
    n = len(rollouts)
    turned = both.take(np.arange(2 * n).reshape(2, n).T.ravel())
    return replace(rollouts, generated=replace(turned, offsets=turned.offsets[::2]))


def summed_over_the_prefix(rollouts: Rollouts) -> Rollouts:
    elapsed = visits().prefixes(rollouts.launches).elapsed_minutes()

    def add(minutes: NDArray[np.floating]) -> NDArray[np.floating]:
        longer = minutes.copy()
        longer[rollouts.generated.offsets[:-1]] += elapsed
        return longer

    return with_minutes(rollouts, add)


def with_tokens(rollouts: Rollouts, where: slice, token: int) -> Rollouts:
    tokens = rollouts.generated.tokens.copy()
    tokens[where] = token
    return replace(rollouts, generated=replace(rollouts.generated, tokens=tokens))


def same_draws(rollouts: Rollouts) -> Rollouts:
    first = np.repeat(np.arange(0, len(rollouts), 2), 2)
    return replace(rollouts, generated=rollouts.generated.take(first))


def as_observed(rollouts: Rollouts) -> Rollouts:
    observed = visits().suffixes(rollouts.launches)
    return replace(
        rollouts, generated=replace(observed, minutes=observed.minutes * np.float32(1.1))
    )


def said_to_be(rollouts: Rollouts, **header: str) -> Rollouts:
    return replace(rollouts, header=replace(rollouts.header, **header))


RULES_AS_TEXT = ("vanilla", *TRIED)

TABLE_MUTANTS: dict[str, tuple[Callable[[Rollouts], Rollouts], str]] = {
    "a launch twice": (lambda r: some(r, np.r_[0:200, 0]), "launches"),
    "a row missing": (lambda r: some(r, np.r_[0:100, 101:200]), "launches"),
    "a launch of another set": (
        lambda r: replace(
            r, launches=np.r_[r.launches[:-2], r.launches[:2] * 0 + [[1, 1]]].astype(np.int32)
        ),
        "launches",
    ),
    "END in the middle": (lambda r: with_tokens(r, slice(3, 30), END), "END last"),
    "a private stop": (lambda r: with_tokens(r, slice(0, None), 3), "cap"),
    "a smaller cap said": (lambda r: replace(r, header=replace(r.header, cap=3)), "cap"),
    "the prefix in it": (with_prefix, "prefix boundary"),
    "remaining time over the prefix": (summed_over_the_prefix, "prefix boundary"),
    "hours": (lambda r: with_minutes(r, lambda m: m / 60), "clock units"),
    "seconds": (lambda r: with_minutes(r, lambda m: m * 60), "clock units"),
    "log1p": (lambda r: with_minutes(r, np.log1p), "clock units"),
    "microseconds": (lambda r: with_minutes(r, lambda m: m * 6e7), "clock units"),
    "negative gaps": (lambda r: with_minutes(r, lambda m: m - 5), "gaps"),
    "nan gaps": (lambda r: with_minutes(r, lambda m: np.where(m > 55, np.nan, m)), "gaps"),
    "a token too high": (lambda r: with_tokens(r, slice(5, 6), N_TOKENS), "shapes"),
    "draws are copies": (same_draws, "draws"),
    "four times the same": (lambda r: said_to_be(r, rule="self_loop_cap=3"), "rule self_loop_cap"),
    "masked in name": (
        lambda r: said_to_be(with_tokens(r, slice(0, None), 1), rule="process_mask+top_k=3"),
        "rule process_mask",
    ),
    "greedy in name": (
        lambda r: said_to_be(r, rule="greedy", clock="lattice"),
        "rule greedy",
    ),
    "greedy, whatever the clock": (lambda r: said_to_be(r, rule="greedy"), "rule greedy"),
    "a rule that nobody knows": (lambda r: said_to_be(r, rule="nucleus"), "nothing by default"),
    "the observed events": (as_observed, "no look at the future"),
}


@pytest.mark.parametrize("defect", TABLE_MUTANTS)
def test_a_broken_table_is_found(defect: str) -> None:
    plant, name = TABLE_MUTANTS[defect]
    broken = plant(table())
    verdicts = check_rollouts(broken, visits(), facts(), choose_launches(visits(), 100))
    assert name in problems(verdicts)


def rules_of(rollouts: Rollouts) -> dict[str, str]:
    said = outcomes(check_rollouts(rollouts, visits(), facts()))
    return {name: outcome for name, outcome in said.items() if name.startswith("rule ")}


def test_a_rule_that_the_rows_keep_passes() -> None:
    kept = said_to_be(table(), rule="self_loop_cap=30+process_mask")
    passed = {name for name, outcome in rules_of(kept).items() if outcome == "pass"}
    assert passed == {"rule self_loop_cap", "rule process_mask"}


def test_a_run_that_the_prefix_began_counts() -> None:
    launches = np.array([[0, 2]], dtype=np.int32)
    last = int(visits().prefixes(launches).tokens[-1])
    suffix = Suffixes(
        np.array([last, END], dtype=np.int16), np.zeros(2, dtype=np.float32), np.array([0, 2])
    )
    header = RolloutsHeader(producer="made up", rule="self_loop_cap=1")
    rollouts = Rollouts(header, launches, np.zeros(1, dtype=np.int32), suffix)
    assert rules_of(rollouts)["rule self_loop_cap"] == "fail"


def test_greedy_draws_may_part_after_their_times_have() -> None:
    kept = said_to_be(same_draws(table()), rule="greedy")
    assert rules_of(kept)["rule greedy"] == "pass"
    first = np.arange(len(kept)) % 2 == 0
    tokens, minutes = kept.generated.tokens.copy(), kept.generated.minutes.copy()
    begins = kept.generated.offsets[:-1][~first]
    minutes[begins] += 1
    tokens[np.minimum(begins + 1, kept.generated.offsets[1:][~first] - 1)] = 4
    apart = replace(kept, generated=replace(kept.generated, tokens=tokens, minutes=minutes))
    long = np.repeat(kept.generated.lengths()[first] > 1, 2)
    assert rules_of(some(apart, np.flatnonzero(long)))["rule greedy"] == "pass"


def test_what_was_never_said_of_a_rule_is_not_held_against_the_table() -> None:
    said = outcomes(check_rollouts(said_to_be(table(), rule="unknown"), visits(), facts()))
    assert said["nothing by default"] == "not applicable"


@pytest.mark.parametrize("text", [*RULES_AS_TEXT, "top_p=0.9+greedy", "temperature=1e+16"])
def test_a_recorded_rule_is_read(text: str) -> None:
    assert read_rule(text) is not None


@pytest.mark.parametrize(
    "text",
    ["", "nucleus", "top_k", "greedy=1", "top_k=x", "vanilla+greedy", "top_k=0", "top_k=2.5"],
)
def test_what_is_no_rule_is_not_read(text: str) -> None:
    assert read_rule(text) is None


def in_order(prefixes: Prefixes, *, cap: int, draws: int, seed: int) -> Suffixes:
    """Goes on as every visit of `orderly_visits` does: one token higher each time, then END."""
    last = np.repeat(prefixes.tokens[prefixes.offsets[1:] - 1], draws)
    keys = np.stack([prefixes.keys(seed, draw) for draw in range(draws)], axis=1).ravel()
    lengths = np.minimum(N_TOKENS - last, cap).astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    row = np.repeat(np.arange(len(last)), lengths)
    step = np.arange(offsets[-1]) - offsets[row]
    minutes = 60 * seeds.uniform(seeds.step_keys(keys[row], step, seeds.TIME))
    tokens = (last[row] + 1 + step) % N_TOKENS
    return Suffixes(tokens.astype(np.int16), minutes.astype(np.float32), offsets)


def orderly_visits() -> Visits:
    """Visits that leave nothing to chance but the time."""
    table = visits()
    n, length = len(table), N_TOKENS
    minutes = np.tile(np.where(np.arange(length) % length, 30, 0), n)
    return replace(
        table,
        tokens=np.tile((np.arange(length) + 1) % length, n).astype(np.int16),
        minutes=minutes.astype(np.float32),
        offsets=np.arange(n + 1, dtype=np.int64) * length,
    )


def test_a_process_may_foresee_what_every_stay_does() -> None:
    table = orderly_visits()
    verdicts = check_process(in_order, table, facts(), cap=CAP, n_launches=100)
    assert problems(verdicts) == set()
    assert outcomes(verdicts)["no look at the future"] == "pass"


def test_a_healthy_table_passes_what_can_be_seen() -> None:
    verdicts = check_rollouts(table(), visits(), facts(), choose_launches(visits(), 100))
    assert problems(verdicts) == set()
    passed = {verdict.name for verdict in verdicts if verdict.outcome == "pass"}
    assert passed == SEEN_IN_ROWS | {"draws"}
    assert {v.sentence for v in verdicts if v.name not in passed} == {NEEDS_THE_SIMULATOR}


def test_without_a_launch_set_every_launch_of_the_table_needs_all_draws() -> None:
    said = {verdict.name: verdict.outcome for verdict in check_rollouts(table(), visits(), facts())}
    assert said["launches"] == "warning"  # nobody said which launches there should be
    assert "fail" not in said.values()
    missing = some(table(), np.r_[0:100, 101:200])
    said = {verdict.name: verdict.outcome for verdict in check_rollouts(missing, visits(), facts())}
    assert said["launches"] == "fail"


def test_tables_and_processes_are_checked_without_torch() -> None:
    program = (
        "import sys; sys.modules['torch'] = None\n"
        "import edsim.conformance.rollouts, edsim.conformance.process"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
