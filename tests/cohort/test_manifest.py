"""cohort.json comes back as it was written, and any other is refused with a reason."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from edsim.cohort.manifest import MANIFEST_FILE, read_manifest
from edsim.errors import BadCohortError
from edsim.lab.build import build_cohort
from edsim.sources.synthetic import SOURCE, SyntheticOptions


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    out = tmp_path_factory.mktemp("manifest") / "C"
    built = build_cohort(SOURCE, SyntheticOptions(stays=60), out)
    read = read_manifest(out)
    assert (read.content_hash, read.attrition, read.files) == (
        built.content_hash,
        built.attrition,
        built.files,
    )
    return (out / MANIFEST_FILE).read_text()


def changed(text: str, **fields: object) -> str:
    return json.dumps({**json.loads(text), **fields}, indent=1, ensure_ascii=False) + "\n"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda text: "", "was changed after it was written"),
        (lambda text: "[]", "was changed after it was written"),
        (lambda text: text[:-2], "was changed after it was written"),
        (lambda text: text + " ", "was changed after it was written"),
        (lambda text: changed(text, restricted=True), "was changed after it was written"),
        (lambda text: changed(text, n_stays=61), "was changed after it was written"),
        (lambda text: changed(text, schema_version=2), "written with schema 2"),
    ],
)
def test_what_was_not_written_so_is_refused(
    text: str, tmp_path: Path, change: object, expected: str
) -> None:
    (tmp_path / MANIFEST_FILE).write_text(change(text))  # type: ignore[operator]
    with pytest.raises(BadCohortError, match=expected):
        read_manifest(tmp_path)


def test_a_folder_without_one_is_no_cohort(tmp_path: Path) -> None:
    with pytest.raises(BadCohortError, match=r"holds no cohort\.json"):
        read_manifest(tmp_path)
