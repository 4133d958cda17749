"""tab:mcmed: the training comparison at a second hospital; and of the text its open-loop accuracy
and the launches at which the process mask allows nothing but END.
"""

from __future__ import annotations

from dataclasses import replace

from edsim.studies.paper.book import REFERENCE, Book
from edsim.studies.paper.cells import cell, over_seeds, plain
from edsim.studies.paper.entry import Entry
from edsim.studies.paper.facts import discharged_before, only_end_allowed
from edsim.studies.paper.models import (
    CAUSAL_ALL,
    TRANSFORMER_AND_GRU,
    seeds_left_out,
    seeds_of,
    why_left_out,
)
from edsim.studies.runs import Run
from edsim.tables.paper import Panel, PaperCell

LABEL, TEXT = "tab:mcmed", "app:external"
COLUMNS = {"Term.": "termination", "JSD": "jsd", "xF": "xf", "RD": "reached_discharge"}
RULES = {"Vanilla": "vanilla", "Process mask": "process_mask"}


def _rows(book: Book) -> dict[str, Run]:
    rows = {"n-gram-3 reference": book.run(REFERENCE, cohort="external")}
    for name, model in TRANSFORMER_AND_GRU.items():
        for said, rule in RULES.items():
            rows[f"{name} {said}"] = book.run(model, rule=rule, cohort="external")
    for k in seeds_of(CAUSAL_ALL, book.scale):
        rows[f"Causal all-pos. s{k} Vanilla"] = book.run(CAUSAL_ALL, seed=k, cohort="external")
    return rows


def panels(book: Book) -> list[Panel]:
    cells = [
        cell(LABEL, row, column, book.score(run, metric), alike=_alike(row))
        for row, run in _rows(book).items()
        for column, metric in COLUMNS.items()
    ]
    cells += [
        plain(LABEL, row, column, None, why_left_out(CAUSAL_ALL, book.scale), alike=_alike(row))
        for k in seeds_left_out(CAUSAL_ALL, book.scale)
        if (row := f"Causal all-pos. s{k} Vanilla")
        for column in COLUMNS
    ]
    accuracies = [
        cell(TEXT, name, "Acc.", book.open_loop(book.run(model, cohort="external"), "accuracy"))
        for name, model in TRANSFORMER_AND_GRU.items()
    ]
    return [
        Panel(cells=tuple(cells)),
        Panel(title="Rollouts of the standard models without an END", cells=(_never(book),)),
        Panel(title="Open-loop accuracy", cells=tuple(accuracies)),
        Panel(title="Launches that can only end", cells=tuple(_only_end(book))),
    ]


def _never(book: Book) -> PaperCell:
    """Under vanilla decoding, over the models."""
    scores = [
        book.score(book.run(model, cohort="external"), "termination")
        for model in TRANSFORMER_AND_GRU.values()
    ]
    without = [
        replace(one, value=round((1 - one.value) * one.n_launches), low=None, high=None)
        for one in scores
        if one.value is not None and one.n_launches is not None
    ]
    row = "Standard models"
    return over_seeds("sec:controls", row, "Vanilla rollouts without END", without or scores)


def _alike(row: str) -> str:
    return "Causal all-pos." if row.startswith("Causal") else ""


def _only_end(book: Book) -> list[PaperCell]:
    run = book.run(REFERENCE, cohort="external")
    behind, why = discharged_before(book, run)
    masked, unsaid = only_end_allowed(book, run)
    said = "Launches already discharged"
    return [
        plain(TEXT, said, "Number", behind, why),
        plain("", "Launches at which the process mask allows END alone", "Number", masked, unsaid),
    ]


ENTRY = Entry(
    label=LABEL,
    title="External-site replication",
    panels=panels,
    cohort="external",
    notes=(
        "xF is over the order-3 model of the external cohort. JSD of rollouts that never end is of "
        "capped trajectories and not comparable with that of visits that do.",
    ),
)
