"""A study put beside its cohort: the lines of its results, and every run behind them.

Whatever a study asks for that cannot be is refused here, before anything is trained.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import product

from edsim.errors import BadInputError
from edsim.lab.cohort import Cohort
from edsim.lab.models import seeded, traits_of
from edsim.lab.scores import ScoreSettings
from edsim.studies.runs import Run
from edsim.studies.study import OWN, Arm, Entry, Study
from edsim.studies.study_file import near
from edsim.studies.study_folder import sheet_name


@dataclass(frozen=True, slots=True)
class Plan:
    """What a study comes down to."""

    study: Study
    arms: tuple[Arm, ...]
    scoring: ScoreSettings
    pairs: tuple[tuple[Arm, Arm], ...]

    def runs(self, arm: Arm) -> list[Run]:
        """One for each training seed of an arm."""
        study = self.study
        device = study.device if traits_of(arm.producers[0]).is_network else "cpu"
        return [
            Run(
                producer=producer,
                device=device,
                vocabulary=study.vocabulary,
                launches=study.launches,
                rule=arm.rule,
                clock=arm.clock,
                draws=study.draws,
                cap=study.cap,
                rollout_seed=study.rollout_seed,
            )
            for producer in arm.producers
        ]

    def all_runs(self) -> list[Run]:
        """Every run once."""
        return list(dict.fromkeys(run for arm in self.arms for run in self.runs(arm)))


def plan_of(study: Study) -> Plan:
    """The lines of a study's results; impossible combinations are refused."""
    _check_rules(study)
    scoring = ScoreSettings(
        metrics=list(study.metrics) or None,
        populations=list(study.populations),
        resamples=study.resamples,
        slow=study.slow,
    )
    _check_draws(study, scoring)
    arms = tuple(arm for entry in study.models for arm in _arms(entry, study))
    twice = [name for name, n in Counter(arm.name for arm in arms).items() if n > 1]
    if twice:
        raise BadInputError(
            f"two lines of the results would be called '{twice[0]}'. Name the model once, or give "
            "one of them a `label`."
        )
    _check_files(arms)
    return Plan(study, arms, scoring, _pairs(study, arms))


def _check_files(arms: tuple[Arm, ...]) -> None:
    """Every sheet has a file of its own, on disks too that know no capitals."""
    owners: dict[str, Arm] = {}
    for arm in arms:
        for number in range(len(arm.producers)):
            name = sheet_name(arm, number)
            owner = owners.setdefault(name.casefold(), arm)
            if owner is not arm:
                raise BadInputError(
                    f"the lines '{owner.name}' and '{arm.name}' of the results would both be "
                    f"written to {name}. Give one of them another `label`."
                )


def check_beside(plan: Plan, cohort: Cohort) -> None:
    """Refuse what this cohort does not have: a vocabulary, a launch set, an oracle."""
    study = plan.study
    if study.vocabulary is not None and study.vocabulary not in cohort.manifest.vocabularies:
        names = list(cohort.manifest.vocabularies)
        raise BadInputError(
            f"the cohort is not encoded with vocabulary '{study.vocabulary}'."
            f"{near(study.vocabulary, names)} It has {', '.join(names)}."
        )
    cohort.n_launches(study.launches)


def _arms(entry: Entry, study: Study) -> list[Arm]:
    """A line for each rule and clock of a model."""
    traits = traits_of(entry.name)
    seeds = study.seeds if entry.seeds is None else entry.seeds
    rules, clocks = entry.rules or study.rules, entry.clocks or study.clocks
    for clock in clocks:
        if clock != OWN and clock not in traits.clocks:
            has = f"it has {', '.join(traits.clocks)}" if traits.clocks else "it has only its own"
            raise BadInputError(
                f"model '{entry.name}' has no clock '{clock}': {has}."
                f"{near(clock, traits.clocks)} Give it `clocks` of its own."
            )
    if not traits.takes_rules and set(rules) != {"vanilla"}:
        raise BadInputError(
            f"model '{entry.name}' runs by itself: no decoding rule can be applied to it. Write "
            f'{{name = "{entry.name}", rules = ["vanilla"]}}.'
        )
    return [
        Arm(
            name=_arm_name(entry.label or entry.name, rule, clock),
            producers=tuple(seeded(entry.name, seeds)),
            rule=rule,
            clock=None if clock == OWN else clock,
        )
        for rule, clock in product(rules, clocks)
    ]


def _arm_name(name: str, rule: str, clock: str) -> str:
    said = [name, *([clock] if clock != OWN else []), *([rule] if rule != "vanilla" else [])]
    return " ".join(said)


def _check_rules(study: Study) -> None:
    from edsim.rollout.decoding import parse_rule

    for rule in (*study.rules, *(rule for entry in study.models for rule in entry.rules or ())):
        parse_rule(rule)


def _check_draws(study: Study, scoring: ScoreSettings) -> None:
    """A measure that was asked for by name, and cannot be had."""
    needy = [measure.name for measure in scoring.measures() if measure.reads == "all draws"]
    if study.draws < 2 and study.metrics and needy:
        raise BadInputError(
            f"measure '{needy[0]}' reads several draws of each launch, and the study has "
            "draws = 1. Set `draws` to 2 or more; the paper's measures read the first alone."
        )


def _pairs(study: Study, arms: tuple[Arm, ...]) -> tuple[tuple[Arm, Arm], ...]:
    by_name = {arm.name: arm for arm in arms}
    for name in (name for pair in study.comparisons for name in pair):
        if name not in by_name:
            raise BadInputError(
                f"`comparisons` names '{name}', which is no line of the results."
                f"{near(name, by_name)} There are: {', '.join(by_name)}."
            )
    return tuple((by_name[a], by_name[b]) for a, b in study.comparisons)
