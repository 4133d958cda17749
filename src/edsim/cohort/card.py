"""CARD.md: what somebody has to know before working with a cohort, written beside it.

It says what cohort.json says, in words and without counts of few subjects, so that it can be shown
where the cohort itself cannot.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from edsim.cohort.manifest import Manifest
from edsim.privacy import hidden_parts, without_small_counts, without_small_steps
from edsim.tables.extract import Step

CARD_FILE = "CARD.md"
_FEW = "few"
_LONGEST_OPTION = 80


def card_of(manifest: Manifest, title: str) -> str:
    """The card as Markdown; `title` is what the source calls itself."""
    sections = {
        "What it is": _facts(manifest, title),
        "Who is in": _attrition(manifest),
        "How it is divided": _split(manifest),
        "What one event is": _vocabularies(manifest),
        "Where models begin": _launches(manifest),
        "What was found odd": _notices(manifest),
        "What it does not say": _limits(manifest),
        "Where it came from": _origin(manifest),
    }
    parts = [f"# Cohort {manifest.cohort_id}"]
    parts += [f"## {name}\n\n{text}" for name, text in sections.items() if text]
    return "\n\n".join(parts) + "\n"


def _facts(manifest: Manifest, title: str) -> str:
    mean = manifest.n_events / manifest.n_stays
    return _table(
        ("", ""),
        [
            ("source", f"{manifest.source}: {title}"),
            ("release", manifest.source_version),
            ("size", f"{manifest.n_stays:,} stays of {manifest.n_subjects:,} subjects"),
            ("events", f"{manifest.n_events:,}, {mean:.2f} a stay, END not counted"),
            ("cap of a rollout", f"{manifest.cap} events ({manifest.cap_rule})"),
            ("content hash", f"`{manifest.content_hash}`"),
            ("use", _use(manifest)),
            ("made by", f"edsim-bench {manifest.code_version}"),
        ],
    )


def _use(manifest: Manifest) -> str:
    if manifest.restricted:
        return (
            "under a data use agreement: files for their owner alone, nothing of fewer than ten "
            "subjects is shown"
        )
    if manifest.open_data is not None:
        return f"open data, said the builder: {manifest.open_data}"
    return "open: no row comes from a patient"


def _attrition(manifest: Manifest) -> str:
    steps: Sequence[Step] = manifest.attrition
    if manifest.restricted:
        steps = without_small_steps(steps)
    rows = [
        (
            _said(_with_note(step), manifest),
            f"{step.n_stays:,}",
            f"{step.n_subjects:,}",
            f"{step.n_events:,}",
        )
        for step in steps
    ]
    return _table(("rule", "stays", "subjects", "events"), rows)


def _with_note(step: Step) -> str:
    return f"{step.rule} ({step.note})" if step.note else step.rule


def _split(manifest: Manifest) -> str:
    parts: Mapping[str, Mapping[str, int]] = manifest.split["parts"]
    hidden = hidden_parts(parts, restricted=manifest.restricted)
    rows = [
        (name, *(_FEW if name in hidden else f"{counts[size]:,}" for size in _SIZES))
        for name, counts in parts.items()
    ]
    rule = str(manifest.split["rule"])
    return f"{rule[:1].upper()}{rule[1:]}. No subject is in two parts.\n\n" + _table(
        ("part", *_SIZES), rows
    )


_SIZES = ("stays", "subjects", "events")


def _vocabularies(manifest: Manifest) -> str:
    rows = [
        (
            name,
            str(said["n_tokens"]),
            ", ".join(said["discharges"]) or "none",
            f"`{said['sha256'][:12]}`",
        )
        for name, said in manifest.vocabularies.items()
    ]
    return _table(("vocabulary", "tokens, END included", "discharges", "hash"), rows)


def _launches(manifest: Manifest) -> str:
    hidden = hidden_parts(manifest.split["parts"], restricted=manifest.restricted)
    rows = []
    for name, said in manifest.launches.items():
        part = "val" if name.startswith("val-") else "test"
        count = "-" if "n" not in said else _FEW if part in hidden else f"{said['n']:,}"
        rows.append((name, part, count))
    return _table(("launch set", "part", "launches"), rows)


def _notices(manifest: Manifest) -> str:
    return "\n".join(f"- {_said(notice, manifest)}" for notice in manifest.notices)


def _limits(manifest: Manifest) -> str:
    said = [
        "Visits are independent of each other here: no beds, no queue, no staff.",
        "It is one record of one place in one period. What holds here need not hold elsewhere.",
    ]
    if not manifest.time_of_day:
        said.append("The time of day means nothing: it is shifted, or of an unknown zone.")
    if manifest.source == "synthetic":
        said.append(
            "Every visit is drawn from a known process. It supports claims about estimators, "
            "protocols and code, and no clinical one."
        )
    return "\n".join(f"- {one}" for one in said)


def _origin(manifest: Manifest) -> str:
    options = [
        (name, f"`{value}`" if len(str(value)) <= _LONGEST_OPTION else "see cohort.json")
        for name, value in manifest.source_options.items()
    ]
    files = [
        (file.role, file.name, f"{file.n_bytes:,}", f"`{file.sha256}`")
        for file in manifest.raw_files
    ]
    tables = [
        _table(("option", "value"), options) if options else "",
        _table(("role", "file", "bytes", "SHA-256"), files) if files else "",
        "Everything else is in cohort.json; `edsim cohort check` verifies every byte.",
    ]
    return "\n\n".join(part for part in tables if part)


def _said(sentence: str, manifest: Manifest) -> str:
    return without_small_counts(sentence) if manifest.restricted else sentence


def _table(header: tuple[str, ...], rows: Iterable[tuple[Any, ...]]) -> str:
    lines = [header, ("---",) * len(header), *rows]
    return "\n".join(f"| {' | '.join(_cell(cell) for cell in line)} |" for line in lines)


def _cell(text: str) -> str:
    """A text that ends neither its cell nor its row, and begins no markup of its own."""
    plain = " ".join(text.split()).replace("|", "\\|")
    return plain.replace("<", "&lt;")
