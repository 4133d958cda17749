"""What a comparison found, as a sentence that stands without its table."""

from __future__ import annotations

from edsim.metrics.measure import Measure
from edsim.metrics.words import chance_of, figure
from edsim.tables.comparisons import ComparisonRow, SeedRow


def sentence(row: ComparisonRow, measure: Measure, names: tuple[str, str], *, apart: bool) -> str:
    """Who is better in what and by how much; that the two are `apart` and who is better is not
    certain; or that nothing is seen, and what would have been."""
    title = _title(measure, row.at, row.group)
    p = _p(row.p_holm if row.p_holm is not None else row.p_value)
    ended = ", where both end" if row.where_both_end else ""
    interval = f"{figure(row.difference)} ({figure(row.low)} to {figure(row.high)})"
    if row.better:
        first = row.better == "a"
        best, other = (row.a, row.b) if first else (row.b, row.a)
        return (
            f"{title}: {names[0 if first else 1]} is {_how(measure)}, {figure(best)} against "
            f"{figure(other)}{_right(row.target)}{ended}; difference of losses {interval}, {p}."
        )
    both = f"{figure(row.a)} and {figure(row.b)}{_right(row.target)}{ended}"
    if apart:
        return (
            f"{title}: the two differ ({both}, {p}), but on these stays it is not certain which is "
            f"{_how(measure)}: difference of losses {interval}."
        )
    seen = (
        f" These stays would show {figure(row.detectable)} four times in five."
        if row.detectable
        else ""
    )
    return f"{title}: no difference beyond chance ({both}, {p}).{seen}"


def sentence_of_seeds(row: SeedRow, measure: Measure, names: tuple[str, str]) -> str:
    """Which recipe is better over training seeds, and how many seeds would show it."""
    title = _title(measure, row.at, row.group)
    assert row.difference is not None
    spread = (
        f" Between seeds {figure(row.between_a)} and {figure(row.between_b)} (standard deviation), "
        f"of which the stays explain {figure(row.within_a)} and {figure(row.within_b)}."
    )
    needed = (
        f" {row.seeds_needed} seeds a side would find it four times in five."
        if row.seeds_needed
        else " More than a thousand seeds a side would be needed to find one this small."
    )
    p = _p(row.p_value)
    numbers = f"{figure(row.a)} and {figure(row.b)}{_right(row.target)}"
    if not row.better:
        said = f"{title}: the recipes do not differ beyond their seeds ({numbers}, {p})."
    else:
        name = names[0] if row.better == "a" else names[1]
        said = (
            f"{title}: {name} is {_how(measure)} on average ({numbers}); difference of losses "
            f"{figure(row.difference)} ({figure(row.low)} to {figure(row.high)}), {p}."
        )
    return said + spread + ("" if row.better else needed)


def _title(measure: Measure, at: float | None, group: str) -> str:
    place = " ".join(part for part in (group, "" if at is None else f"at {at:g}") if part)
    unit = f" ({measure.unit})" if measure.unit else ""
    return f"{measure.title}{' ' + place if place else ''}{unit}"


def _p(value: float | None) -> str:
    return (
        f"p {chance_of(value)}"
        if value is not None and value < 0.001
        else f"p = {chance_of(value)}"
    )


def _how(measure: Measure) -> str:
    return {"low": "lower", "high": "higher"}.get(measure.better, "nearer to the truth")


def _right(target: float | None) -> str:
    return "" if target is None else f" where {figure(target)} is right"
