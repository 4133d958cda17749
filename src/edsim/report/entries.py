"""The producers of a report: what each is called, in which colour and shape it is drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from edsim.report.theme import SHAPES, STAR, series
from edsim.tables.producer_names import settings_of, short_names
from edsim.tables.scores import ScoreRow, ScoreSheet

PLAIN_RULES = ("", "vanilla", "unknown")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A score sheet as the page shows it."""

    number: int
    sheet: ScoreSheet
    label: str
    family: str
    """What its training seeds have in common; a producer without seeds is its own family."""
    colour: str
    shape: str
    settings: str = ""
    """What its recipe was changed in, where the label does not say it."""
    open_loop: ScoreSheet | None = None
    """What its predictions scored, where they were made."""

    @property
    def privileged(self) -> bool:
        """Whether it shares unseen state with the truth: it marks the floor and is not ranked."""
        return self.sheet.privileged

    def find(self, metric: str, group: str = "", at: float | None = None) -> ScoreRow | None:
        """The row of a measure over all launches, if it has a value."""
        for sheet in (self.sheet, self.open_loop):
            row = None if sheet is None else sheet.find(metric, "all", group, at)
            if row is not None and row.value is not None:
                return row
        return None

    def rows(self, metric: str, population: str = "all") -> list[ScoreRow]:
        """The rows of a series or a population that have a value."""
        return [
            row
            for row in self.sheet.rows
            if row.metric == metric and row.population == population and row.value is not None
        ]


def entries_of(sheets: Sequence[ScoreSheet], open_loop: Sequence[ScoreSheet] = ()) -> list[Entry]:
    """Every sheet with a name of its own; the oracle last."""
    predicted = {sheet.producer: sheet for sheet in open_loop}
    ordered = sorted(
        sheets, key=lambda sheet: (sheet.privileged, sheet.producer, _rule(sheet), sheet.rule)
    )
    labels = _told_apart(ordered)
    families = [_family(sheet, label) for sheet, label in zip(ordered, labels, strict=True)]
    ranked = dict.fromkeys(
        family for sheet, family in zip(ordered, families, strict=True) if not sheet.privileged
    )
    place = {family: number for number, family in enumerate(ranked, start=1)}
    return [
        Entry(
            number=number,
            sheet=sheet,
            label=label,
            family=family,
            colour=series(0 if sheet.privileged else place[family]),
            shape=STAR if sheet.privileged else SHAPES[(place[family] - 1) % len(SHAPES)],
            settings="" if "[" in label else settings_of(sheet.producer),
            open_loop=predicted.get(sheet.producer),
        )
        for number, (sheet, label, family) in enumerate(zip(ordered, labels, families, strict=True))
    ]


def _told_apart(sheets: Sequence[ScoreSheet]) -> list[str]:
    """Names that differ: with the rule, and where that is not enough the clock, and a number."""
    short = short_names([sheet.producer for sheet in sheets])
    names = [
        " · ".join([name or "unnamed", *_rule(sheet)])
        for name, sheet in zip(short, sheets, strict=True)
    ]
    twice = Counter(names)
    names = [
        f"{name} · {sheet.clock} clock" if twice[name] > 1 else name
        for name, sheet in zip(names, sheets, strict=True)
    ]
    still, seen = Counter(names), Counter[str]()
    labels = []
    for name in names:
        seen[name] += 1
        labels.append(f"{name} ({seen[name]})" if still[name] > 1 else name)
    return labels


def _rule(sheet: ScoreSheet) -> list[str]:
    return [] if sheet.rule in PLAIN_RULES else [sheet.rule]


def _family(sheet: ScoreSheet, label: str) -> str:
    """The label without `@SEED`, where the producer has a training seed."""
    seed = sheet.training_seed
    return label if seed is None else label.replace(f"@{seed}", "", 1)
