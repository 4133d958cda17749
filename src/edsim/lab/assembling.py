"""Shards of rollouts that were made elsewhere, as a table of the cohort."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from edsim import __version__
from edsim.errors import BadInputError
from edsim.lab.cohort import Cohort
from edsim.lab.launch_sets import found_launch_set
from edsim.lab.rollouts import write_of
from edsim.tables.facts import VocabularyFacts
from edsim.tables.rollouts import Rollouts, RolloutsHeader


def assembled(cohort: Cohort, folder: Path, path: Path, vocabulary: str | None = None) -> Rollouts:
    """The rollouts of shards that were made elsewhere, written as a file."""
    from edsim.rollout import shards
    from edsim.rollout.decoding import parse_rule
    from edsim.rollout.work_folder import WorkFolder

    decides = WorkFolder.open(folder).decides
    facts = VocabularyFacts.open(cohort.encoded(cohort.vocabulary_name(vocabulary)))
    if decides["vocabulary"] != facts.sha256:
        raise BadInputError(
            f"the shards are of another vocabulary than '{facts.name}' of the cohort. Name theirs "
            "with --vocabulary, or the cohort they were made for."
        )
    if decides["visits"] != shards.hash_of_visits(cohort.encoded(facts.name)):
        raise BadInputError(
            f"the shards continue the visits of another cohort than {cohort.manifest.cohort_id}. "
            "Name the one they were made for with --cohort."
        )
    rule, manifest = parse_rule(decides["rule"]), cohort.manifest
    said = decides["identity"]
    header = RolloutsHeader(
        producer=str(said.get("producer", said.get("loader", ""))),
        recipe=dict(said.get("recipe", said)),
        training_seed=said.get("training_seed"),
        clock=str(said.get("clock", "own")),
        device=str(said.get("device", "")),
        rule=str(rule),
        rule_settings=rule.settings(),
        cap=decides["cap"],
        seed=decides["seed"],
        draws=decides["draws"],
        vocabulary=facts.name,
        vocabulary_sha256=facts.sha256,
        tokens=facts.tokens,
        cohort_id=manifest.cohort_id,
        content_hash=manifest.content_hash,
        restricted=manifest.restricted,
        code_version=__version__,
    )
    rollouts = shards.assemble(folder, header)
    held = rollouts.launches[rollouts.draw == 0]
    named = replace(header, launches=found_launch_set(held, cohort) or "")
    rollouts = replace(rollouts, header=named)
    write_of(cohort, rollouts, path)
    return rollouts
