"""What the trajectory viewer shows: visits, their launch points, and each model's continuations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from edsim.report.entries import Entry
from edsim.report.material import Material
from edsim.tables.shown_visits import MOST_LAUNCHES, ShownDraw, ShownVisit, ShownVisits

MOST_KINDS = 8
"""Kinds of events that shapes and colours tell apart; the rest are `other`."""
MOST_EVENTS = 250_000
"""Events the viewer may hold, so that the page stays small."""
Payload = dict[str, Any]


def why_absent(material: Material) -> str:
    """Why there is no viewer, or nothing where there is one."""
    if material.restricted:
        return (
            "The cohort is under a data use agreement: a visit is a patient's, and none is shown. "
            "Build a synthetic cohort to see what this looks like."
        )
    if not material.visits:
        return (
            "The folder holds no visits to look at. `edsim score PRODUCERS --cohort C --out DIR` "
            "writes some beside the scores."
        )
    return ""


def viewer_payload(material: Material, entries: Sequence[Entry]) -> Payload | None:
    """Everything the viewer needs, as JSON values; None where it has to be absent."""
    if why_absent(material):
        return None
    shown = [(entry, found) for entry in entries if (found := _visits_of(entry, material.visits))]
    if not shown:
        return None
    visits = _together([found for _, found in shown])
    n_events = sum(_events(found) for _, found in shown)
    visits = visits[: max(1, int(len(visits) * min(1.0, MOST_EVENTS / max(n_events, 1))))]
    names = shown[0][1].tokens
    return {
        "tokens": list(names),
        **_kinds(names, visits),
        "visits": [
            {
                "id": visit.stay_id,
                "tokens": list(visit.tokens),
                "minutes": list(visit.minutes),
                "launches": launches,
            }
            for visit, launches in visits
        ],
        "models": [
            {
                "label": entry.label,
                "colour": entry.colour,
                "draws": _draws(found, {visit.stay_id for visit, _ in visits}),
            }
            for entry, found in shown
        ],
    }


def _visits_of(entry: Entry, visits: Sequence[ShownVisits]) -> ShownVisits | None:
    sheet = entry.sheet
    for one in visits:
        if (one.producer, one.rule, one.clock) == (sheet.producer, sheet.rule, sheet.clock):
            return one
    return None


def _together(found: Sequence[ShownVisits]) -> list[tuple[ShownVisit, list[int]]]:
    """Every visit once, with the launch points of all models, as many as a page may hold."""
    visits: dict[str, ShownVisit] = {}
    launches: dict[str, set[int]] = {}
    for one in found:
        for visit in one.visits:
            visits.setdefault(visit.stay_id, visit)
            launches.setdefault(visit.stay_id, set()).update(
                launch.prefix_length for launch in visit.launches
            )
    kept: list[tuple[ShownVisit, list[int]]] = []
    left = MOST_LAUNCHES
    for stay_id, visit in visits.items():
        points = sorted(launches[stay_id])[:left]
        if points:
            kept.append((visit, points))
        left -= len(points)
    return kept


def _events(found: ShownVisits) -> int:
    return sum(
        len(draw.tokens)
        for visit in found.visits
        for launch in visit.launches
        for draw in launch.draws
    )


def _draws(found: ShownVisits, kept: set[str]) -> dict[str, dict[str, Any]]:
    """By visit and prefix length: each continuation as tokens and minutes."""
    return {
        visit.stay_id: {
            str(launch.prefix_length): [_draw(draw) for draw in launch.draws]
            for launch in visit.launches
        }
        for visit in found.visits
        if visit.stay_id in kept
    }


def _draw(draw: ShownDraw) -> list[list[Any]]:
    return [list(draw.tokens), list(draw.minutes)]


def _kinds(
    names: Sequence[str], visits: Sequence[tuple[ShownVisit, list[int]]]
) -> dict[str, list[Any]]:
    """What kind each token is, by the first word of its name; rare kinds go together.

    END, token 0, is no kind: it has a mark of its own.
    """
    first = [(name.split() or ["?"])[0] for name in names]
    seen = Counter(first[token] for visit, _ in visits for token in visit.tokens if token)
    named = [kind for kind, _ in seen.most_common(MOST_KINDS - 1)]
    if len(seen) > len(named):
        named.append("other")
    place = {kind: number for number, kind in enumerate(named)}
    return {
        "kinds": named,
        "kind_of": [place.get(kind, len(named) - 1) for kind in first],
    }
