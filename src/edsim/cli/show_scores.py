"""What `edsim score` prints: producers side by side, each number over its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from edsim.cli.show import table_of
from edsim.metrics.open_loop import OPEN_LOOP, OPEN_LOOP_BY_GROUP
from edsim.metrics.registry import BY_GROUP, TITLES
from edsim.metrics.words import figure
from edsim.tables.producer_names import short_names
from edsim.tables.scores import ScoreRow, ScoreSheet

SECTIONS: dict[str, tuple[str, ...]] = {
    "ending": ("termination", "reached_discharge"),
    "events": ("jsd", "xf", "xf_per_rollout", "xf_triples", "jsd_real_vs_real"),
    "time": ("duration_ratio", "duration_ratio_shared", "los_mae", "los_rank_correlation"),
    "clock": ("share_zero_gaps", "share_on_lattice"),
    "occupancy": ("occupancy_mae",),
    "forecast": ("crps",),
}
"""What is shown where nothing is asked for, grouped."""
OPEN_LOOP_SECTIONS: dict[str, tuple[str, ...]] = {
    "right": ("accuracy", "accuracy_top3", "accuracy_without_end", "end_probability"),
    "given the gap": ("accuracy_given_gap", "accuracy_top3_given_gap", "event_nll_given_gap"),
    "surprise": ("event_nll", "gap_nll", "joint_nll", "event_ruled_out", "gap_ruled_out"),
    "time": ("los_mae_open_loop",),
}
"""The same of predictions."""
_TITLED = {**TITLES, **{name: measure.title for name, measure in OPEN_LOOP.items()}}
_SHORT = {
    "termination": "Term.",
    "reached_discharge": "Disch.",
    "duration_ratio": "Duration",
    "los_mae": "LOS err.",
    "occupancy_mae": "Occ. pp",
    "crps": "CRPS",
}
_MOST_NOTES = 8
_WIDTHS = {"title": 34, "beside": 10, "figure": 10, "interval": 19}
_WIDTHS |= {"measure": 26, "folded": 12, "yardstick": 9, "name": 14}
"""In characters; the second line is what columns take at least. What has no room is left out."""
_TITLES = {
    "xf": "  times order 3",
    "xf_per_rollout": "  per rollout",
    "xf_triples": "  triples",
    "duration_ratio_shared": "  where all end",
    "jsd_real_vs_real": "  of two real samples",
}


def show_scores(
    console: Console,
    sheets: Sequence[ScoreSheet],
    metrics: Sequence[str] | None = None,
    usual: Mapping[str, tuple[str, ...]] = SECTIONS,
) -> None:
    """The first table, one for each population, and where the rest is."""
    sections = {"": tuple(metrics)} if metrics else usual
    short = short_names([sheet.producer for sheet in sheets])
    sheets = [replace(sheet, producer=name) for sheet, name in zip(sheets, short, strict=True)]
    taken = _WIDTHS["title"] + 3 * _WIDTHS["beside"]
    with_intervals = taken + len(sheets) * _WIDTHS["interval"] <= console.width
    table = _main_table(sheets, sections, with_intervals)
    room = console.width - _WIDTHS["measure"] - len(sheets) * _WIDTHS["folded"]
    del table.columns[1 + len(sheets) + max(0, room // _WIDTHS["yardstick"]) :]
    console.print(table)
    _say_what_it_is_of(console, sheets)
    for name in dict.fromkeys(row.population for row in sheets[0].rows if row.population != "all"):
        console.print()
        console.print(
            _population_table(
                sheets, name, metrics or (*BY_GROUP, *OPEN_LOOP_BY_GROUP), console.width
            )
        )
    console.print(
        "[dim]Intervals of divergences are free of the measure's own noise, the numbers above them "
        "are not.[/]"
        if with_intervals
        else "[dim]Intervals: score fewer at once, widen the terminal, or --out.[/]"
    )
    n_rows = sum(len(sheet.rows) for sheet in sheets)
    for line in [*_worst_tokens(sheets), *_faults(sheets)]:
        console.print(escape(line))
    for note in _notes(sheets, sections):
        console.print(f"[dim]{escape(note)}[/]")
    console.print(
        f"[dim]{n_rows:,} numbers in all: --json or --out keep them. What they mean: "
        "docs/metrics.md[/]"
    )


def _main_table(
    sheets: Sequence[ScoreSheet], sections: Mapping[str, tuple[str, ...]], with_intervals: bool
) -> Table:
    names = [_heading(sheet) for sheet in sheets]
    said = "Scores, with 95 % intervals" if with_intervals else "Scores"
    table = table_of(said, "measure", *names, "order 3", "floor", "best")
    table.columns[0].min_width = 24
    for column in table.columns[1 : 1 + len(names)]:  # long names give way, figures do not
        column.no_wrap, column.overflow, column.min_width = False, "fold", 9
        column.max_width = None if with_intervals else _WIDTHS["name"]
    for section, metrics in sections.items():
        for metric in metrics:
            for at, group in _places(sheets, metric):
                rows = [sheet.find(metric, group=group, at=at) for sheet in sheets]
                if any(row is not None and row.value is not None for row in rows) or not section:
                    table.add_row(*_line(metric, at, group, rows, with_intervals))
        table.add_section()
    return table


def _places(sheets: Sequence[ScoreSheet], metric: str) -> list[tuple[float | None, str]]:
    """Steps, horizons and tokens of a measure, in order."""
    rows = [row for sheet in sheets for row in sheet.rows]
    return list(
        dict.fromkeys(
            (row.at, row.group) for row in rows if row.metric == metric and row.population == "all"
        )
    )


def _line(
    metric: str,
    at: float | None,
    group: str,
    rows: Sequence[ScoreRow | None],
    with_intervals: bool,
) -> list[str]:
    said = [row for row in rows if row is not None]
    label = _TITLES.get(metric) or _TITLED.get(metric, metric)
    place = " ".join(part for part in (group, "" if at is None else f"at {at:g}") if part)
    unit = said[0].unit if said and said[0].unit in ("min", "pp", "%") else ""
    title = f"{label} {place}".rstrip() + (f", {unit}" if unit else "")
    references = {figure(row.reference) for row in said if row.reference is not None}
    floors = {figure(row.floor) for row in said if row.floor is not None}
    best = {_best(row.target) for row in said}
    return [
        escape(title),
        *[_cell(row, with_intervals) for row in rows],
        *[f"[dim]{_the_one(values)}[/]" for values in (references, floors, best)],
    ]


def _cell(row: ScoreRow | None, with_interval: bool) -> str:
    if row is None or row.value is None:
        return "-"
    if not with_interval or row.low is None or row.high is None:
        return figure(row.value)
    return f"{figure(row.value)}\n[dim]{figure(row.low)} to {figure(row.high)}[/]"


def _population_table(
    sheets: Sequence[ScoreSheet], population: str, metrics: Sequence[str], width: int
) -> Table:
    rows = [(sheet, row) for sheet in sheets for row in sheet.rows if row.population == population]
    shown = [name for name in metrics if any(row.metric == name for _, row in rows)]
    titles = [_SHORT.get(name) or _TITLED.get(name, name) for name in shown]
    with_intervals = 50 + len(shown) * _WIDTHS["interval"] <= width
    table = table_of(f"By {population}", "producer", "group", "launches", *titles)
    for sheet in sheets:
        for group in dict.fromkeys(row.group for one, row in rows if one is sheet):
            found = [sheet.find(name, population, group) for name in shown]
            size = next((row.n_launches for row in found if row is not None), 0)
            cells = [_cell(row, with_intervals) for row in found]
            count = f"{size:,}" if size else "under 10 subjects"
            table.add_row(escape(_heading(sheet)), escape(group or "all"), count, *cells)
        table.add_section()
    return table


def _heading(sheet: ScoreSheet) -> str:
    return (
        sheet.producer
        if sheet.rule in ("vanilla", "unknown", "open loop")
        else f"{sheet.producer} {sheet.rule}"
    )


def _say_what_it_is_of(console: Console, sheets: Sequence[ScoreSheet]) -> None:
    first = next(
        (row for row in sheets[0].rows if row.population == "all" and row.n_launches), None
    )
    if first is None:
        return
    sets = ", ".join(dict.fromkeys(sheet.launches for sheet in sheets))
    beyond = sheets[0].find("longer_than_cap")
    longer = (
        ""
        if beyond is None or beyond.value is None
        else f" ({beyond.value:.2%} of the observed suffixes are longer)"
    )
    console.print(
        f"[dim]{escape(sets)}: {first.n_launches:,} launches of {first.n_stays:,} stays; "
        f"vocabulary {escape(sheets[0].vocabulary)}, cap {sheets[0].cap}{longer}[/]"
    )


def _worst_tokens(sheets: Sequence[ScoreSheet]) -> list[str]:
    """The event whose share is furthest off, for each producer."""
    lines = []
    for sheet in sheets:
        rows = [row for row in sheet.rows if row.metric == "token_share_generated" and row.loss]
        if not rows:
            continue
        worst = max(rows, key=lambda row: row.loss or 0.0)
        lines.append(
            f"{_heading(sheet)}: furthest off is '{worst.group}', {100 * (worst.value or 0):.1f} % "
            f"of generated and {100 * float(worst.target or 'nan'):.1f} % of observed events"
        )
    return lines


def _faults(sheets: Sequence[ScoreSheet]) -> list[str]:
    """What a diagnosis found, by name."""
    lines = []
    for sheet in sheets:
        faults = [verdict.fault for verdict in sheet.verdicts if verdict.fault]
        if faults:
            lines.append(f"{_heading(sheet)}: {', '.join(faults)} (edsim diagnose says more)")
    return lines


def _notes(sheets: Sequence[ScoreSheet], sections: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Why something that would be shown is not there, said once for all producers it is true of."""
    shown = {metric for metrics in sections.values() for metric in metrics}
    why: dict[tuple[str, str], list[str]] = {}
    for sheet in sheets:
        for row in sheet.rows:
            if row.population == "all" and row.metric in shown and row.value is None and row.note:
                why.setdefault((row.metric, row.note), []).append(_heading(sheet))
    return [
        f"{metric}: {note}" if len(set(of)) == len(sheets) else f"{metric} of {of[0]}: {note}"
        for (metric, note), of in why.items()
    ][:_MOST_NOTES]


def _the_one(values: set[str]) -> str:
    """What all producers have in common, which is so where their launches are the same."""
    return next(iter(values)) if len(values) == 1 else ""


def _best(target: str) -> str:
    return target if target in ("", "low", "high") else figure(float(target))
