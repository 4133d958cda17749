"""The methods box: who is in, what the numbers mean, versions, hashes, seeds, commands."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from edsim import __version__
from edsim.report.criteria import CRITERIA, Criterion
from edsim.report.entries import PLAIN_RULES, Entry
from edsim.report.material import Material
from edsim.tables.census import Census
from edsim.tables.scores import ScoreSheet


@dataclass(frozen=True, slots=True, kw_only=True)
class Methods:
    """Tables of the box, as texts."""

    attrition: list[tuple[str, ...]]
    """Rule, stays, subjects, events left."""
    parts: list[tuple[str, ...]]
    split_rule: str
    facts: list[tuple[str, str]]
    definitions: Sequence[Criterion]
    producers: list[tuple[str, ...]]
    """Producer in full, rule, clock, draws, training seed, rollout seed, version."""
    commands: list[str]


def methods_of(material: Material, entries: Sequence[Entry]) -> Methods:
    """Everything somebody needs to make the numbers again."""
    sheet = material.sheets[0]
    split = sheet.cohort.get("split", {})
    split = split if isinstance(split, dict) else {}
    return Methods(
        attrition=[
            (str(step.get("rule", "")), *(_count(step.get(name)) for name in _SIZES))
            for step in sheet.cohort.get("attrition", [])
        ],
        parts=[
            (str(name), *(_count(part.get(size)) for size in ("stays", "subjects", "events")))
            for name, part in split.get("parts", {}).items()
        ],
        split_rule=str(split.get("rule", "")),
        facts=_facts(material),
        definitions=[one for one in CRITERIA if any(entry.find(one.metric) for entry in entries)],
        producers=[_producer(entry) for entry in entries],
        commands=_commands(material),
    )


def facts_of(material: Material, entries: Sequence[Entry]) -> list[tuple[str, str]]:
    """How much the page rests on, for its opening."""
    rows = (row for sheet in material.sheets for row in sheet.rows)
    whole = next((row for row in rows if row.population == "all" and row.n_launches), None)
    draws = sorted({sheet.draws for sheet in material.sheets})
    facts = [("producers", str(len(entries)))]
    if whole is not None:
        facts += [("launches", _count(whole.n_launches)), ("held-out stays", _count(whole.n_stays))]
    return [
        *facts,
        ("draws a launch", " to ".join(str(n) for n in dict.fromkeys((draws[0], draws[-1])))),
    ]


_SIZES = ("n_stays", "n_subjects", "n_events")


def _facts(material: Material) -> list[tuple[str, str]]:
    sheet = material.sheets[0]
    cohort = sheet.cohort
    versions = dict.fromkeys([one.code_version for one in material.sheets])
    first = next((row for row in sheet.rows if row.population == "all" and row.n_launches), None)
    return [
        ("Cohort", f"{cohort.get('id', 'unknown')}, from {cohort.get('source', 'unknown')}"),
        (
            "Size",
            " · ".join(f"{_count(cohort.get(name))} {name.removeprefix('n_')}" for name in _SIZES),
        ),
        ("Use", "under a data use agreement" if material.restricted else "open"),
        ("Content hash", str(cohort.get("content_hash", "unknown"))),
        ("Vocabulary", f"{sheet.vocabulary}, {len(sheet.tokens)} tokens"),
        ("Vocabulary hash", sheet.vocabulary_sha256 or "unknown"),
        (
            "Launches",
            sheet.launches
            if first is None
            else f"{sheet.launches}: {first.n_launches:,} launches of {first.n_stays:,} stays of "
            f"{first.n_subjects:,} subjects, held out",
        ),
        ("Cap", f"{sheet.cap} generated events"),
        ("Intervals", "95 %, resampled stays"),
        ("Scored with", f"edsim-bench {', '.join(versions)}"),
        ("Page made with", f"edsim-bench {__version__}"),
    ]


def _producer(entry: Entry) -> tuple[str, ...]:
    sheet = entry.sheet
    seed = "–" if sheet.training_seed is None else str(sheet.training_seed)
    return (
        sheet.producer or entry.label,
        sheet.rule,
        sheet.clock,
        str(sheet.draws),
        seed,
        str(sheet.rollout_seed),
        sheet.producer_version,
    )


def _commands(material: Material) -> list[str]:
    """What one would type; C stands for the cohort, a producer with a path for its file."""
    sheet = material.sheets[0]
    commands = [_cohort_command(sheet)]
    plain = [one for one in material.sheets if one.rule in PLAIN_RULES]
    for draws in dict.fromkeys(one.draws for one in plain):
        names = [shlex.quote(_typed(one.producer)) for one in plain if one.draws == draws]
        more = "" if draws == 1 else f" --draws {draws}"
        commands.append(
            f"edsim score {' '.join(names)} --cohort C --launches {shlex.quote(sheet.launches)}"
            f"{more}{_populations(material.sheets)} --out DIR"
        )
    for one in material.sheets:
        if one not in plain:
            commands.append(
                f"edsim rollout {shlex.quote(_typed(one.producer))} --cohort C --launches "
                f"{shlex.quote(sheet.launches)} --rule {shlex.quote(one.rule)} --draws "
                f"{one.draws} --out FILE.rollouts.parquet"
            )
    asked = [one.producer for one in material.open_loop]
    commands += [
        f"edsim predict {shlex.quote(_typed(name))} --cohort C --launches "
        f"{shlex.quote(material.open_loop[0].launches)} --out {number}.predictions.parquet"
        for number, name in enumerate(asked, start=1)
    ]
    if asked:
        commands.append(
            f"edsim score *.predictions.parquet --cohort C{_populations(material.open_loop)} "
            "--out DIR/open-loop"
        )
    commands += [
        _census_command(census, number) for number, census in enumerate(material.censuses, start=1)
    ]
    return [*commands, "edsim report DIR"]


def _cohort_command(sheet: ScoreSheet) -> str:
    """How the cohort is built; a sheet knows its source, and not the options it was built with."""
    source = _typed(str(sheet.cohort.get("source", "SOURCE")))
    return f"edsim cohort build {shlex.quote(source)} --out C"


def _populations(sheets: Sequence[ScoreSheet]) -> str:
    """The groups of launches that were asked for, as one asks for them."""
    names = dict.fromkeys(
        row.population for one in sheets for row in one.rows if row.population != "all"
    )
    asked = ",".join(name.replace(" ", "-") for name in names)
    return f" --populations {shlex.quote(_typed(asked))}" if asked else ""


def _census_command(census: Census, number: int) -> str:
    names = " ".join(shlex.quote(_typed(one.producer)) for one in census.producers)
    beds = "" if census.beds is None else f" --beds {census.beds}"
    return (
        f"edsim census {names} --cohort C --from {_typed(census.begin)} --to {_typed(census.end)} "
        f"--draws {census.draws}{beds} --seed {census.seed} --json DIR/{number}.census.json"
    )


def _typed(producer: str) -> str:
    """A name as one would type it: nothing that a terminal would act on."""
    return re.sub(r"[\x00-\x1f\x7f]", "?", producer)[:200]


def _count(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else "–"
