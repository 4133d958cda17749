"""The work that `edsim bench rollout` measures, each kind in a process of its own.

Writes how long the work itself took, without starting Python and reading the data, and how many
events it was about.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from edsim.bench import plain_counts
from edsim.lab.cohort import Cohort, open_cohort

SEED = 1
VOCABULARY = "ed32"


def fit(cohort: Cohort, model: Path, order: int) -> tuple[float, int]:
    """Fit a count model and write it; seconds to fit, training events."""
    from edsim.models.counts import fit as fit_counts
    from edsim.models.counts_file import FittedOn, save_counts

    training = cohort.visits(VOCABULARY).part("train")
    begin = time.perf_counter()
    fitted = fit_counts(training, len(cohort.vocabulary(VOCABULARY).tokens), order)
    seconds = time.perf_counter() - begin
    fitted_on = FittedOn(
        vocabulary=VOCABULARY,
        vocabulary_sha256=cohort.vocabulary(VOCABULARY).sha256,
        content_hash=cohort.manifest.content_hash,
    )
    save_counts(fitted, model, fitted_on, restricted=cohort.manifest.restricted)
    return seconds, int(training.n_events().sum())


def roll_out(cohort: Cohort, model: Path, order: int) -> tuple[float, int]:
    """Continue every launch of the test split; seconds and generated events."""
    import torch

    from edsim.models.counts_file import load_counts
    from edsim.rollout.decoding import parse_rule
    from edsim.rollout.slots import roll_out_fast
    from edsim.tables.facts import VocabularyFacts

    torch.set_num_threads(1)  # one process against one; steps this short gain nothing from two
    fitted, _ = load_counts(model)
    rule = parse_rule("vanilla").bind(VocabularyFacts.open(cohort.encoded(VOCABULARY)))
    visits, launches = cohort.visits(VOCABULARY), cohort.launches("all")
    begin = time.perf_counter()
    generated = roll_out_fast(
        fitted, visits, launches, rule=rule, cap=cohort.manifest.cap, seed=SEED
    )
    return time.perf_counter() - begin, len(generated.tokens)


def roll_out_plainly(cohort: Cohort, model: Path, order: int, share: float) -> tuple[float, int]:
    """Continue a share of the launches, evenly spread; seconds and generated events."""
    visits, launches = cohort.visits(VOCABULARY), cohort.launches("all")
    fitted = plain_counts.PlainCounts(visits.part("train"), order)
    some = np.linspace(0, len(launches) - 1, max(1, round(len(launches) * share))).astype(np.int64)
    begin = time.perf_counter()
    generated = plain_counts.roll_out(
        fitted,
        visits.prefixes(np.asarray(launches[some])),
        cap=cohort.manifest.cap,
        seed=SEED,
        chance=plain_counts.any_chance,
    )
    return time.perf_counter() - begin, len(generated.tokens)


WORK: dict[str, Callable[..., tuple[float, int]]] = {
    "fit": fit,
    "roll-out": roll_out,
    "roll-out-plainly": roll_out_plainly,
}


def main(kind: str, cohort: str, model: str, order: str, result: str, *share: str) -> None:
    """Do one kind of work and write `result`."""
    shares = [float(text) for text in share]
    seconds, n_events = WORK[kind](open_cohort(Path(cohort)), Path(model), int(order), *shares)
    Path(result).write_text(json.dumps({"seconds": seconds, "n_events": n_events}))


if __name__ == "__main__":
    main(*sys.argv[1:])
