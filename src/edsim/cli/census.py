"""`edsim census`: how many patients are there by the hour, in truth and by simulation."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from edsim.cli.console import console
from edsim.cli.progress import shown_progress

if TYPE_CHECKING:
    from edsim.tables.census import Census


def census(
    *producers: str,
    cohort: Path,
    begin: Annotated[datetime | None, Parameter(name="--from")] = None,
    end: Annotated[datetime | None, Parameter(name="--to")] = None,
    draws: int = 100,
    beds: int | None = None,
    seed: int = 0,
    cap: int | None = None,
    vocabulary: str | None = None,
    clock: str | None = None,
    device: str = "cpu",
    json: Path | None = None,
    overwrite: bool = False,
) -> None:
    """Count who is there at every hour of a period, beside what simulators foretell.

    Every test stay that arrives in the period is launched once, at its triage row (else its first),
    and is there until it ends. Arrivals are given, not forecast; the first 48 hours fill the
    department and count in no summary.

    Parameters
    ----------
    producers
        As in `edsim rollout`, such as ngram:3 and oracle.
    cohort
        A cohort made by `edsim cohort build` whose patients share one clock.
    begin
        First hour, such as 2020-02-01; by default the day of the first test arrival.
    end
        Where the period ends; four weeks after its begin by default.
    draws
        Continuations of each stay; together they are so many possible worlds.
    beds
        A bed count: how likely is it that more patients are there?
    seed
        Seed of the rollout's chance.
    cap
        Most generated events, END included; the cohort's own by default.
    vocabulary
        Vocabulary to simulate in; the cohort's first by default.
    clock
        Of neural simulators: their own default, or another that they support.
    device
        Where a model runs: cpu, or cuda.
    json
        A file for every hour, such as march.census.json.
    overwrite
        Replace the file if it is there.
    """
    from edsim.errors import BadInputError, OutputError
    from edsim.lab.census import census as counted
    from edsim.lab.cohort import open_cohort
    from edsim.tables.census import write_census

    if not producers:
        raise BadInputError("name who is to foretell the census: producers, such as ngram:3.")
    if json is not None and json.exists() and not overwrite:
        raise OutputError(f"'{json}' is already there. Choose another place, or --overwrite.")
    opened = open_cohort(cohort)
    with shown_progress() as progress:
        found = counted(
            opened,
            producers,
            begin=begin,
            end=end,
            draws=draws,
            beds=beds,
            seed=seed,
            cap=cap,
            vocabulary=vocabulary,
            clock=clock,
            device=device,
            progress=progress,
        )
    _show(found)
    if json is not None:
        write_census(found, json)
        console.print(f"Written to {json}", markup=False, soft_wrap=True)


def _show(found: Census) -> None:
    from rich.markup import escape

    from edsim.cli.show import table_of

    exceeds = [] if found.beds is None else [f"P(over {found.beds})", "Brier"]
    table = table_of(
        "Census, hour by hour",
        "producer",
        "CRPS",
        "95 %",
        "bias",
        "within 90 %",
        *exceeds,
        "capped",
    )
    for one in found.producers:
        counted = [hour for hour in one.hours if not hour.warm_up]
        p = [hour.p_exceed or 0.0 for hour in counted]
        table.add_row(
            escape(one.producer),
            _figure(one.crps),
            "-" if one.crps_low is None else f"{one.crps_low:.3f} to {_figure(one.crps_high)}",
            "-" if one.bias is None else f"{one.bias:+.2f}",
            "-" if one.within is None else f"{one.within:.0%}",
            *(
                []
                if found.beds is None
                else [_figure(sum(p) / len(p) if p else None), _figure(one.exceed_brier)]
            ),
            f"{one.capped:.1%}",
        )
    console.print(table)
    n = "under 10" if found.n_stays is None else f"{found.n_stays:,}"
    console.print(
        f"[dim]{n} test stays arriving from {found.begin[:16]} to {found.end[:16]}, "
        f"{found.draws} draws each; CRPS and bias in patients, mean over the hours after the first "
        f"{found.warm_up_hours}. Observed: {_figure(found.mean_observed)} patients at a time"
        + ("" if found.exceeded is None else f", more than {found.beds} in {found.exceeded:.1%}")
        + ".[/]"
    )


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
