"""Made-up scores, visits and censuses for reports, with numbers that can be followed by eye."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from edsim.tables.census import Census, CensusHour, CensusOf
from edsim.tables.scores import ScoreRow, ScoreSheet
from edsim.tables.shown_visits import ShownDraw, ShownLaunch, ShownVisit, ShownVisits
from edsim.tables.verdicts import Verdict

TOKENS = ("END", "Triage", "Vitals normal", "Vitals abnormal", "Discharge home")
STEPS = (1, 2, 3, 5, 10, 20)
HOURS = (1, 2, 4, 8, 12)
EVIL = (
    "<script>window.broken = true</script>",
    "\"quoted' & <b>bold</b>",
    "a very long name " * 12,
    "تقييم مرضى الطوارئ",
    "👩‍⚕️ triage 🏥",
    "</script><img src=x onerror='window.broken = true'>",
    "datum['x'] + signal('y')",
    "unbroken" * 38,
)


def cohort(**more: Any) -> dict[str, Any]:
    """What a score sheet says of its cohort."""
    return {
        "id": "made-up-1",
        "content_hash": "c0ffee",
        "source": "synthetic",
        "restricted": False,
        "time_of_day": True,
        "n_stays": 500,
        "n_subjects": 400,
        "n_events": 4_000,
        "cap": 128,
        "split": {
            "rule": "subjects 70/15/15 by keyed hash, seed 0",
            "parts": {"train": {"stays": 350, "subjects": 280, "events": 2_800}},
        },
        "attrition": [
            {
                "rule": "all visits",
                "n_stays": 510,
                "n_subjects": 405,
                "n_events": 4_100,
                "note": "",
            },
            {
                "rule": "have a triage",
                "n_stays": 500,
                "n_subjects": 400,
                "n_events": 4_000,
                "note": "",
            },
        ],
        "discharges": ["Discharge home"],
    } | more


def row(metric: str, value: float | None, **more: Any) -> ScoreRow:
    """A row with an interval of a tenth around the value."""
    some = {"n_launches": 1_000, "n_stays": 120, "n_subjects": 90}
    if value is not None:
        some |= {"low": 0.9 * value, "high": 1.1 * value, "loss": value}  # type: ignore[dict-item]
    return ScoreRow(metric=metric, value=value, **(some | more))


def sheet(
    producer: str,
    *,
    jsd: float = 0.01,
    termination: float = 0.98,
    duration: float = 0.8,
    seed: int | None = None,
    tokens: Sequence[str] = TOKENS,
    groups: Sequence[str] = ("F", "M"),
    verdicts: Sequence[Verdict] = (),
    rows: Sequence[ScoreRow] = (),
    **more: Any,
) -> ScoreSheet:
    """The scores of a producer whose event mix, ending and duration are as given."""
    settings: dict[str, Any] = {
        "producer_version": "1",
        "recipe": {},
        "training_seed": seed,
        "rule": "vanilla",
        "clock": "sampled",
        "launches": "matched-1000",
        "cap": 128,
        "draws": 4,
        "rollout_seed": 0,
        "privileged": False,
        "vocabulary": "ed5",
        "vocabulary_sha256": "abc",
        "cohort": cohort(),
        "code_version": "0.1.0",
    }
    return ScoreSheet(
        producer=producer,
        tokens=tuple(tokens),
        rows=(*_rows(jsd, termination, duration, tokens), *_groups(jsd, groups), *rows),
        verdicts=tuple(verdicts),
        **(settings | more),
    )


def _rows(jsd: float, termination: float, duration: float, tokens: Sequence[str]) -> list[ScoreRow]:
    floor = {"floor": 0.0005, "floor_kind": "oracle", "reference": 0.01}
    share = 1 / len(tokens)
    ended = {"target": "1", "loss": 1 - termination, "high": min(1.0, termination + 0.005)}
    ended |= {"low": termination - 0.005, "floor": 0.001, "reference": 0.99}
    rows = [
        row("termination", termination, position=(1 - termination) / 0.01, **ended),
        row("jsd", jsd, position=(jsd - 0.0005) / 0.0095, target="low", **floor),
        row("xf", jsd / 0.01, target="low"),
        row(
            "jsd_triples", 3 * jsd, position=jsd / 0.01, target="low", **floor | {"reference": 0.03}
        ),
        row("duration_ratio", duration, target="1", loss=abs(1 - duration), reference=0.9),
        row("duration_ratio_shared", duration, target="1"),
        row("occupancy_mae", 5 * abs(1 - duration), target="low", floor=0.2, reference=2.0),
        row("crps", 100 + 1_000 * jsd, target="low"),
    ]
    rows += [row("step_jsd", jsd * k / 10, at=float(k)) for k in STEPS]
    rows += [row("step_gap", 20.0, at=float(k), target="25") for k in STEPS]
    rows += [row("pit", 1.0, at=k / 10) for k in range(10)]
    for h in HOURS:
        rows += [
            row("occupancy_error", -10 * (1 - duration), at=float(h), target="0"),
            row("occupancy_generated", 60.0 / h, at=float(h), target=f"{70 / h}"),
            row("occupancy_observed", 70.0 / h, at=float(h)),
        ]
        rows += [
            row(
                "reliability",
                k / (10 + h),
                group=f"h={h}",
                at=k / 10,
                target=f"{k / 10 + 0.05:.2f}",
            )
            for k in range(1, 10)
        ]
    for k, token in enumerate(tokens):
        rows.append(row("token_share_observed", share, group=token))
        rows.append(row("token_share_generated", share * (1.5 if k % 2 else 0.5), group=token))
    return rows


def _groups(jsd: float, groups: Sequence[str]) -> list[ScoreRow]:
    return [
        row(metric, value, population="sex", group=group, n_launches=100 + k, n_subjects=30 + k)
        for k, group in enumerate(groups)
        for metric, value in (("jsd", jsd), ("termination", 0.9), ("duration_ratio", 1.1))
    ]


def predicted(producer: str, accuracy: float, **more: Any) -> ScoreSheet:
    """The scores of a producer's predictions."""
    said = row("accuracy", accuracy, target="high", loss=1 - accuracy, reference=0.5)
    return replace(sheet(producer, **more), rule="open loop", draws=0, rows=(said,))


def visits(
    producer: str, *, tokens: Sequence[str] = TOKENS, n: int = 3, draws: int = 2
) -> ShownVisits:
    """`n` visits of six events with two launch points; draws end or are cut at 3 events."""
    ends = ShownDraw(tokens=(2, 4, 0), minutes=(5.0, 90.0, 0.0))
    cut = ShownDraw(tokens=(2, 2, 2), minutes=(1.0, 0.0, 1.5))
    return ShownVisits(
        producer=producer,
        rule="vanilla",
        clock="sampled",
        content_hash="c0ffee",
        vocabulary_sha256="abc",
        tokens=tuple(tokens),
        cap=128,
        visits=tuple(
            ShownVisit(
                stay_id=f"stay-{30_000_000 + k}",
                tokens=(1, 2, 3, 3, 2, 4, 0),
                minutes=(0.0, 10.0, 0.0, 45.0, 120.0, 30.0, 0.0),
                launches=tuple(
                    ShownLaunch(prefix_length=length, draws=(ends, cut)[:draws])
                    for length in (2, 4)
                ),
            )
            for k in range(n)
        ),
    )


def crowded(producer: str) -> ShownVisits:
    """A visit of twelve events at once, launched after them, and eleven at once two days later."""
    one = visits(producer, n=1, draws=0)
    draws = (ShownDraw(tokens=(*[2] * 11, 0), minutes=(2_880.0, *[0.0] * 10, 30.0)),)
    visit = ShownVisit(
        stay_id="crowded",
        tokens=(*[2] * 12, 3, 4, 0),
        minutes=(*[0.0] * 12, 90.0, 60.0, 0.0),
        launches=(ShownLaunch(prefix_length=12, draws=draws),),
    )
    return replace(one, visits=(visit,))


def census(*producers: str, n_hours: int = 48) -> Census:
    """Two days of a department of about twenty patients."""
    hours = tuple(
        CensusHour(
            time=f"2020-02-{1 + h // 24:02d}T{h % 24:02d}:00:00",
            observed=20 + h % 5,
            mean=21.0,
            low=15.0,
            median=21.0,
            high=27.0,
            crps=1.5,
        )
        for h in range(n_hours)
    )
    return Census(
        cohort=cohort(),
        vocabulary="ed5",
        begin="2020-02-01T00:00:00",
        end="2020-02-03T00:00:00",
        warm_up_hours=48,
        draws=20,
        cap=128,
        seed=0,
        beds=25,
        n_stays=60,
        mean_observed=22.0,
        exceeded=0.1,
        producers=tuple(
            CensusOf(producer=name, crps=1.5, bias=0.4, within=0.9, hours=hours)
            for name in producers
        ),
    )


def study(folder: Path) -> Path:
    """A folder as a study leaves it: seeds, predictions, verdicts, visits, a census."""
    from edsim.tables.census import write_census
    from edsim.tables.scores import write_sheet
    from edsim.tables.shown_visits import write_visits

    loop = Verdict(
        producer="gru@1",
        fault="absorbing loop",
        sentence="12.0% of rollouts fall into a circle and stay in it until the cap of 128.",
        evidence=("share_tail_10",),
    )
    fine = Verdict(producer="joint@1", fault="", sentence="Nothing found on 1,000 launches.")
    sheets = [
        sheet("ngram:3", jsd=0.01, duration=0.9, termination=0.99),
        *(
            sheet(
                f"gru@{n}",
                jsd=0.3 + 0.05 * n,
                termination=0.6,
                duration=0.98,
                seed=n,
                verdicts=(loop,),
            )
            for n in (1, 2, 3)
        ),
        *(
            sheet(f"transformer@{n}", jsd=0.04 * 3**n, termination=0.7, duration=0.4, seed=n)
            for n in (1, 2, 3)
        ),
        *(
            sheet(
                f"joint@{n}",
                jsd=0.001 * n,
                termination=0.999,
                duration=1.05,
                seed=n,
                verdicts=(fine,),
            )
            for n in (1, 2, 3)
        ),
        sheet("oracle", jsd=0.0005, termination=1.0, duration=1.0, privileged=True),
    ]
    for number, one in enumerate(sheets):
        write_sheet(one, folder / f"{number}.scores.json")
    accuracies = {"ngram:3": 0.55, "gru@1": 0.57, "transformer@1": 0.44, "joint@1": 0.58}
    for name, accuracy in accuracies.items():
        write_sheet(predicted(name, accuracy), folder / "open" / f"{name[:4]}.scores.json")
    for name in ("ngram:3", "joint@1"):
        write_visits(visits(name), folder / f"{name[:4]}.visits.json")
    write_census(census("ngram:3", "joint@1"), folder / "february.census.json")
    return folder
