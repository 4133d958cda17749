"""tab:app-harness: the audit's defects replayed one by one, scores before against after."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from edsim.metrics.small_cells import SMALL
from edsim.studies.paper.book import COARSE, Book
from edsim.studies.paper.cells import cell, complement, nothing, over_seeds, plain
from edsim.studies.paper.entry import Entry
from edsim.studies.paper.facts import share_discharged_before
from edsim.studies.paper.models import CAUSAL_ALL, DECODER, STANDARD
from edsim.studies.runs import Run
from edsim.tables.paper import Panel, PaperCell
from edsim.tables.scores import ScoreRow

LABEL, TEXT = "tab:app-harness", "app:harness"
STACK = "repetition_penalty=1.75+self_loop_cap=3+top_k=4"
BEFORE, AFTER = "Earlier", "Corrected"


@dataclass(frozen=True, slots=True)
class Replay:
    """A defect: where it was, on which model it is shown, and the scores it moves."""

    says: str
    model: str
    earlier: Callable[[Book, Run, str], ScoreRow]
    metrics: tuple[str, ...]
    printed_as: str = ""
    """The row under which the text prints it; empty where it prints no number."""


def as_producer(run: Run, defect: str, rule: str = "vanilla") -> Run:
    """The same run with the defect in the generation path."""
    return replace(run, producer=f"defect:{defect}:{run.producer}", rule=rule)


def _as_producer(name: str, rule: str = "vanilla") -> Callable[[Book, Run, str], ScoreRow]:
    def earlier(book: Book, run: Run, metric: str) -> ScoreRow:
        return book.score(as_producer(run, name, rule), metric)

    return earlier


def _as_rollouts(name: str) -> Callable[[Book, Run, str], ScoreRow]:
    def earlier(book: Book, run: Run, metric: str) -> ScoreRow:
        return book.score_with(run, name, metric)

    return earlier


def _not_applied(book: Book, run: Run, metric: str) -> ScoreRow:
    """What a table says of greedy decoding when the setting never reached the sampler."""
    return book.score(run, metric)


BOUNDARY = "Remaining-LOS boundary"
REPLAYS = {
    "Decoding stack nobody had asked for": Replay(
        f"{STACK} and an END-head threshold of .35, scored as vanilla",
        "transformer",
        _as_producer("stops_by_the_end_head", STACK),
        ("termination", "jsd", "duration_ratio"),
    ),
    "History not advanced": Replay(
        "the state after a generated event is the one before it",
        "transformer",
        _as_producer("forgets_history"),
        ("termination", "jsd", "duration_ratio"),
    ),
    "Gaps left as log1p": Replay(
        "generated gaps are ln(1 + minutes)",
        "transformer",
        _as_producer("leaves_log_minutes"),
        ("duration_ratio", "los_mae", "occupancy_mae"),
    ),
    "Remaining LOS over the prefix too": Replay(
        "elapsed minutes are counted as generated",
        "transformer",
        _as_rollouts("with_the_prefix"),
        ("los_mae", "los_rank_correlation"),
        f"{BOUNDARY}: Transformer",
    ),
    "Remaining LOS over the prefix too, all-position": Replay(
        "the same of the causal all-position model",
        CAUSAL_ALL,
        _as_rollouts("with_the_prefix"),
        ("los_mae", "los_rank_correlation"),
        f"{BOUNDARY}: Causal Transf. (all-pos.)",
    ),
    "A stop of the decoder's own": Replay(
        "rollouts are stopped 24 simulated hours after the launch",
        DECODER,
        _as_rollouts("stopped_after_a_day"),
        ("termination", "xf"),
        "Decoder stopping rule",
    ),
    "Discharge looked for in the prefix": Replay(
        "a discharge row that was observed counts as generated",
        "transformer",
        _as_rollouts("with_the_prefix"),
        ("reached_discharge",),
    ),
    "A sampler setting that was not applied": Replay(
        "recorded as greedy, drawn as vanilla",
        "gru",
        _not_applied,
        ("termination", "jsd"),
    ),
}
TITLES = {
    "termination": "Term.",
    "jsd": "JSD",
    "xf": "xF",
    "duration_ratio": "Dur.",
    "los_mae": "LOS MAE",
    "los_rank_correlation": "Rank correlation",
    "occupancy_mae": "Occupancy MAE",
    "reached_discharge": "RD",
}


def _corrected(book: Book, name: str, replay: Replay) -> Run:
    rule = "greedy" if replay.earlier is _not_applied else "vanilla"
    return book.run(replay.model, rule=rule)


def panels(book: Book) -> list[Panel]:
    run = book.run("transformer", vocabulary=COARSE)
    earlier = _as_producer("stops_by_the_end_head", STACK)(book, run, "termination")
    corrected = book.score(run, "termination")
    first = [
        cell(LABEL, "Termination", BEFORE, earlier),
        cell(LABEL, "Termination", AFTER, corrected),
        cell(LABEL, "Non-termination", BEFORE, complement(earlier)),
        cell(LABEL, "Non-termination", AFTER, complement(corrected)),
    ]
    return [
        Panel(
            title="The 7-token Transformer under the pre-audit decoding stack",
            cells=tuple(first),
            along_rows=True,
        ),
        *[
            Panel(
                title=f"{name}: {replay.says}",
                cells=tuple(_cells(book, name, replay)),
                along_rows=True,
            )
            for name, replay in REPLAYS.items()
        ],
        Panel(title="Reached discharge, what the prefix had added", cells=(_internal(book),)),
        Panel(
            title="Reached discharge at the external site",
            cells=tuple(_external(book)),
            along_rows=True,
        ),
        Panel(
            title="What the decoder's own stop stopped, percent",
            cells=tuple(_stopped(book)),
            along_rows=True,
        ),
    ]


def _cells(book: Book, name: str, replay: Replay) -> list[PaperCell]:
    good = _corrected(book, name, replay)
    shown = book.run(replay.model) if replay.earlier is _not_applied else good
    cells = []
    for metric in replay.metrics:
        before, after = replay.earlier(book, shown, metric), book.score(good, metric)
        for said, score in ((BEFORE, before), (AFTER, after)):
            found = cell(TEXT, replay.printed_as, f"{TITLES[metric]} {said.lower()}", score)
            cells.append(_placed(found, TITLES[metric], said))
    return cells


def _placed(found: PaperCell, row: str, column: str) -> PaperCell:
    return replace(found, row=row, column=column)


def _internal(book: Book) -> PaperCell:
    """Over the standard models of both vocabularies."""
    lost = []
    for model in STANDARD.values():
        for vocabulary in (COARSE, None):
            run = book.run(model, vocabulary=vocabulary)
            before = book.score_with(run, "with_the_prefix", "reached_discharge")
            after = book.score(run, "reached_discharge")
            known = before.value is not None and after.value is not None
            apart = (before.value or 0.0) - (after.value or 0.0)
            lost.append(_with_value(after, apart) if known else nothing("RD", before.note))
    row = "Reached-discharge boundary: internal"
    return over_seeds(TEXT, row, "Decrease of RD", lost)


def _external(book: Book) -> list[PaperCell]:
    row = "Reached-discharge boundary: MC-MED"
    run = book.run("transformer", cohort="external")
    behind, why = book.tried(lambda: 100 * share_discharged_before(book, run))
    earlier = book.score_with(run, "with_the_prefix", "reached_discharge")
    if why == SMALL:  # less what is corrected it would tell the same
        earlier = nothing("reached_discharge", SMALL)
    corrected, ended = (book.score(run, name) for name in ("reached_discharge", "termination"))
    discharged = "Launches already discharged"
    return [
        _placed(cell(TEXT, row, "RD earlier", earlier), "RD", BEFORE),
        _placed(cell(TEXT, row, "RD corrected", corrected), "RD", AFTER),
        _placed(cell(TEXT, row, "Term.", ended), "Term.", AFTER),
        _placed(plain(TEXT, row, discharged, behind, why), f"{discharged}, percent", "Observed"),
    ]


def _stopped(book: Book) -> list[PaperCell]:
    row, seeds = "Decoder stopping rule", book.seeds(DECODER)
    free = [complement(one) for one in book.scores(seeds, "termination")]
    guarded = [
        complement(book.score_with(run, "stopped_after_a_day", "termination")) for run in seeds
    ]
    by_rule = [
        nothing("termination", late.note or capped.note)
        if late.value is None or capped.value is None
        else _with_value(late, max(late.value - capped.value, 0.0))
        for late, capped in zip(guarded, free, strict=True)
    ]
    return [
        over_seeds(TEXT, row, "Rollouts stopped by the rule", by_rule, times=100),
        over_seeds(TEXT, row, "Rollouts stopped by the cap", free, times=100),
    ]


def _with_value(score: ScoreRow, value: float) -> ScoreRow:
    return replace(score, value=value, low=None, high=None)


ENTRY = Entry(
    label=LABEL,
    title="Rollout-harness audit: defects replayed",
    panels=panels,
    beside=("external",),
    notes=(
        "The paper's one comparison sums up several changes of its harness; here each defect is "
        "planted by itself into the harness as it is, and all else stays the same.",
        "Each of them is found by a named check of `edsim check`: docs/check.md.",
    ),
)
