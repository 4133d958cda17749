"""A census of a cohort's test stays: who was there by the hour, and who was by simulation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edsim import __version__
from edsim.errors import BadCohortError, BadInputError
from edsim.lab.cohort import Cohort
from edsim.lab.few_people import few_people
from edsim.lab.producers import always_the_same
from edsim.lab.references import rollouts_asked
from edsim.lab.rollouts import RolloutSettings, roll_out
from edsim.lab.scores import cohort_facts
from edsim.lab.store import store_of
from edsim.metrics import census as measures
from edsim.metrics.census import Foretold
from edsim.privacy import small
from edsim.progress import Progress, silent
from edsim.sources import SOURCES
from edsim.tables.census import Census, CensusHour, CensusOf
from edsim.tables.rollouts import Rollouts
from edsim.tables.visits import SPLITS, Launches

WARM_UP_HOURS = 48
USUAL_DAYS = 28
HOUR = np.timedelta64(1, "h")


@dataclass(frozen=True, slots=True)
class _Arrivals:
    """Test stays that arrive in the period: where they are launched, and when they come and go."""

    launches: Launches
    arrival: NDArray[np.float64]
    """[stays], in hours since the period began; the two below as well."""
    launched: NDArray[np.float64]
    observed_end: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Drawn:
    """Remaining minutes of a producer's draws, infinite where the cap stopped it."""

    remaining: NDArray[np.float64]
    """[stays, draws]."""
    header: dict[str, Any]
    """Version, rule, clock and whether it is privileged."""


def census(
    cohort: Cohort,
    producers: Sequence[str],
    *,
    begin: datetime | None = None,
    end: datetime | None = None,
    draws: int = 100,
    beds: int | None = None,
    seed: int = 0,
    cap: int | None = None,
    vocabulary: str | None = None,
    clock: str | None = None,
    device: str = "cpu",
    progress: Progress = silent,
) -> Census:
    """Launch every test stay that arrives in a period once, and count who is there at every hour.

    A stay is launched at its triage row, else at its first. It is there from its arrival to its
    end; a draw stopped by the cap stays to the end of the period.
    """
    if draws < 2:
        raise BadInputError("a census needs at least 2 draws, to say how sure a simulator is.")
    if beds is not None and beds < 0:
        raise BadInputError(f"a department has 0 beds or more, and not {beds}.")
    name = cohort.vocabulary_name(vocabulary)
    moments = _moments(cohort)
    begin, end = _period(cohort, moments, begin, end)
    stays = _arrivals(cohort, name, moments, begin, end)
    settings = RolloutSettings(
        launches=f"arrivals {begin.isoformat()} to {end.isoformat()}",
        seed=seed,
        draws=draws,
        cap=cap,
        vocabulary=name,
        clock=clock,
        device=device,
    )
    n_hours = (end - begin) // timedelta(hours=1)
    observed = measures.present_at_hours(stays.arrival, stays.observed_end[:, None], n_hours)[0]
    counts = np.arange(n_hours) >= WARM_UP_HOURS
    hidden = few_people(cohort, stays.launches)
    return Census(
        cohort=cohort_facts(cohort, name),
        vocabulary=name,
        begin=begin.isoformat(),
        end=end.isoformat(),
        warm_up_hours=WARM_UP_HOURS,
        draws=draws,
        cap=settings.cap or cohort.manifest.cap,
        seed=seed,
        beds=beds,
        n_stays=None if hidden else len(stays.launches),
        mean_observed=None if hidden else _number(observed[counts].mean()),
        exceeded=None if beds is None or hidden else _number((observed > beds)[counts].mean()),
        producers=tuple(
            _of_producer(
                one,
                _drawn(cohort, one, stays, settings, progress),
                stays,
                Foretold(observed, np.zeros((0, n_hours), np.int64), counts),
                begin,
                beds,
                _told(cohort, observed),
                hidden=hidden,
            )
            for one in producers
        ),
        code_version=__version__,
    )


def _moments(cohort: Cohort) -> NDArray[np.datetime64]:
    """When each stay arrived on one clock for all patients; refused where there is none."""
    manifest = cohort.manifest
    source = SOURCES.get(manifest.source)
    if source is None or source.arrivals is None:
        why = "" if source is None else source.no_common_clock
        raise BadCohortError(
            f"a cohort of the source '{manifest.source}' has no census: "
            f"{why or 'nothing is known of when its patients were there together'}. A census needs "
            "arrivals on one clock; a synthetic cohort has them, and an event log."
        )
    return source.arrivals(cohort.stays(), manifest.source_options)


def _period(
    cohort: Cohort,
    moments: NDArray[np.datetime64],
    begin: datetime | None,
    end: datetime | None,
) -> tuple[datetime, datetime]:
    """The period in whole hours; by default four weeks from the first day of a test stay."""
    is_test = (cohort.stays()["split"] == "test").to_numpy()
    if not is_test.any():
        raise BadCohortError("the test split has no stays, so there is nobody to count.")
    first, last = (
        edge.astype("datetime64[h]").astype(datetime)
        for edge in (moments[is_test].min(), moments[is_test].max())
    )
    begin = (begin or first.replace(hour=0)).replace(minute=0, second=0, microsecond=0)
    end = (end or begin + timedelta(days=USUAL_DAYS)).replace(minute=0, second=0, microsecond=0)
    if begin.tzinfo is not None or end.tzinfo is not None:
        raise BadInputError("write times without a zone: they are on the record's own clock.")
    if end - begin <= timedelta(hours=WARM_UP_HOURS):
        raise BadInputError(
            f"the period from {begin.isoformat()} to {end.isoformat()} is too short: its first "
            f"{WARM_UP_HOURS} hours are warm-up and count in no summary."
        )
    if begin > last or end < first:
        raise BadInputError(
            f"no test stay arrives from {begin.isoformat()} to {end.isoformat()}: they arrive from "
            f"{first.date().isoformat()} to {last.date().isoformat()}."
        )
    return begin, end


def _arrivals(
    cohort: Cohort,
    vocabulary: str,
    moments: NDArray[np.datetime64],
    begin: datetime,
    end: datetime,
) -> _Arrivals:
    visits = cohort.visits(vocabulary)
    assert visits.split is not None
    inside = (moments >= np.datetime64(begin)) & (moments < np.datetime64(end))
    rows = np.flatnonzero((visits.split == SPLITS.index("test")) & inside)
    if not len(rows):
        raise BadInputError(
            f"no test stay arrives from {begin.isoformat()} to {end.isoformat()}. Choose a longer "
            "period."
        )
    triage = visits.known.triage_length[rows] if visits.known is not None else np.zeros(len(rows))
    lengths = np.maximum(triage, 1)
    launches = np.stack([rows, lengths], axis=1).astype(np.int32)
    arrival = (moments[rows] - np.datetime64(begin)) / HOUR
    first_row = arrival + visits.start[rows] / 60
    launched = first_row + visits.prefixes(launches).elapsed_minutes() / 60
    left = launched + visits.suffixes(launches).total_minutes() / 60
    return _Arrivals(launches, arrival, launched, left)


def _drawn(
    cohort: Cohort, producer: str, stays: _Arrivals, settings: RolloutSettings, progress: Progress
) -> _Drawn:
    """Draws of a producer, kept in the cohort's store where its name decides them."""
    if not always_the_same(producer):
        return _summary(roll_out(cohort, producer, settings, progress, at=stays.launches))

    def make(path: Path) -> None:
        made = _summary(roll_out(cohort, producer, settings, progress, at=stays.launches))
        with path.open("wb") as file:
            np.savez_compressed(file, remaining=made.remaining, **made.header)

    whole = rollouts_asked(cohort, producer, replace(settings, launches="all"))
    asked = replace(
        whole,
        kind="census",
        name=f"{whole.counted}-{settings.vocabulary}-census",
        inputs={**whole.inputs, "launches": settings.launches},
        ending=".npz",
        units=float(len(stays.launches) * settings.draws),
    )
    with np.load(store_of(cohort).get(asked, make, progress), allow_pickle=False) as kept:
        header = {name: kept[name].item() for name in kept.files if name != "remaining"}
        return _Drawn(kept["remaining"], header)


def _summary(rollouts: Rollouts) -> _Drawn:
    minutes = rollouts.generated.total_minutes()
    remaining = np.where(rollouts.terminated(), minutes, np.inf)
    header = rollouts.header
    return _Drawn(
        remaining.reshape(-1, header.draws),
        {
            "producer_version": header.producer_version,
            "rule": header.rule,
            "clock": header.clock,
            "privileged": header.privileged,
        },
    )


def _of_producer(
    name: str,
    drawn: _Drawn,
    stays: _Arrivals,
    truth: Foretold,
    begin: datetime,
    beds: int | None,
    told: Sequence[bool],
    *,
    hidden: bool,
) -> CensusOf:
    """What a producer foretells. Where the truth is hidden, so is all that compares with it, and
    every hour: arrivals are given, so that draws tell how many came."""
    end = stays.launched[:, None] + drawn.remaining / 60
    n_hours = len(truth.observed)
    one = replace(truth, drawn=measures.present_at_hours(stays.arrival, end, n_hours))
    crps, low, high = (None,) * 3 if hidden else map(_number, measures.mean_crps(one))
    brier = None if beds is None or hidden else _number(measures.exceed_brier(one, beds))
    return CensusOf(
        producer=name,
        crps=crps,
        crps_low=low,
        crps_high=high,
        bias=None if hidden else _number(measures.bias(one)),
        within=None if hidden else _number(measures.share_within(one)),
        exceed_brier=brier,
        capped=float(np.isinf(drawn.remaining).mean()),
        hours=() if hidden else _hours(one, begin, beds, told),
        **drawn.header,
    )


def _told(cohort: Cohort, observed: NDArray[np.int64]) -> list[bool]:
    """At which hours the observed count may be shown."""
    return [not (cohort.manifest.restricted and small(int(count))) for count in observed]


def _hours(
    one: Foretold, begin: datetime, beds: int | None, told: Sequence[bool]
) -> tuple[CensusHour, ...]:
    low, median, high = np.quantile(one.drawn, (measures.LOW, 0.5, measures.HIGH), axis=0)
    mean, crps = one.drawn.mean(axis=0), measures.hourly_crps(one)
    exceed = None if beds is None else measures.exceed_share(one, beds)
    return tuple(
        CensusHour(
            time=(begin + timedelta(hours=h)).isoformat(),
            observed=int(count) if told[h] else None,
            mean=float(mean[h]),
            low=float(low[h]),
            median=float(median[h]),
            high=float(high[h]),
            p_exceed=None if exceed is None else float(exceed[h]),
            crps=float(crps[h]) if told[h] else None,
            warm_up=not one.counts[h],
        )
        for h, count in enumerate(one.observed)
    )


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
