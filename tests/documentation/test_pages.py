"""What the pages show is true: their commands run, their links lead somewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from documents import Step, pages, stand_ins_of, steps_of
from places import ROOT, missing

PAGES = pages()
EVERY_PAGE = [*ROOT.glob("*.md"), *sorted((ROOT / "docs").rglob("*.md"))]
LONGEST = 300


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


def run(step: Step, folder: Path, page: str) -> str:
    """Do what the page says, as its reader would; what was printed."""
    if step.kind == "file":
        (folder / step.name).write_text(step.text, encoding="utf-8")
        return ""
    how = ["bash", "-o", "pipefail", "-c"] if step.kind == "sh" else [sys.executable, "-c"]
    done = subprocess.run(
        [*how, step.text],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=LONGEST,
        env=surroundings(),
    )
    said = (done.stdout + done.stderr)[-2_000:]
    where = f"{page}, line {step.line}: {step.text}\n{said}"
    assert done.returncode == step.exit_code, where
    return done.stdout


def run_all(steps: Iterable[Step], folder: Path, page: str) -> None:
    """Every step after the other; what a page shows as printed is looked for in what was."""
    printed: set[str] = set()
    for step in steps:
        if step.kind == "printed":
            missed = [line for line in lines_of(step.text) if line not in {*printed, "..."}]
            assert missed == [], f"{page}, line {step.line}: not printed"
        else:
            printed.update(lines_of(run(step, folder, page)))


def lines_of(text: str) -> list[str]:
    """The lines that say something, however far apart their columns stand."""
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def surroundings() -> dict[str, str]:
    """Our own `edsim` and Python come first; pages find the repository and the open data by name."""
    data = os.environ.get("EDSIM_OPEN_DATA", str(ROOT.parent / "shared" / "data"))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "EDSIM_OPEN_DATA": data, "CHECKOUT": str(ROOT)}


@pytest.mark.docs
@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_command_and_snippet_of_a_page_runs(page: Path, tmp_path: Path) -> None:
    steps = steps_of(page)
    needs_data = any("$EDSIM_OPEN_DATA" in step.text for step in steps)
    if needs_data and not Path(surroundings()["EDSIM_OPEN_DATA"]).is_dir():
        missing("the open data are not here: set EDSIM_OPEN_DATA to their folder")
    run_all(steps, tmp_path, named(page))


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_the_stand_ins_of_a_page_are_of_its_own_words(page: Path) -> None:
    stand_ins, body = stand_ins_of(page)
    assert stand_ins.unused(body) == []


@pytest.mark.parametrize("page", EVERY_PAGE, ids=named)
def test_every_link_to_a_file_leads_to_one(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8"))
    gone = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert gone == []


def test_a_page_is_run_as_it_says(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# Page\n\n```sh\n# a remark\nmake that\ncat big.txt \\\n  | wc -l > n\nfalse --of-old\n```\n\n"
        '```python title="mine.py"\nN = 7\n```\n\n```python\nimport mine\nprint(mine.N)\n```\n\n'
        '```text\nnot run\n```\n\n```text title="printed"\n 7\n...\n```\n\n'
        "## How this page is tested\n\n```sh\nprintf 'a\\nb\\n' > small.txt\n```\n\n"
        "| here | in the test |\n| --- | --- |\n| `make` | not run: takes long |\n"
        "| `big.txt` | `small.txt` |\n| `false` | exit code 1 |\n"
    )
    steps = steps_of(page)
    assert [(step.kind, step.line) for step in steps] == [
        ("sh", 32),
        ("sh", 6),
        ("sh", 8),
        ("file", 12),
        ("python", 16),
        ("printed", 25),
    ]
    run_all(steps, tmp_path, "page")
    assert (tmp_path / "n").read_text().strip() == "2"
    with pytest.raises(AssertionError, match="page, line 3: exit 4"):
        run(Step("sh", "exit 4", 3), tmp_path, "page")
    with pytest.raises(AssertionError, match="page, line 3: not printed"):
        run_all([Step("sh", "echo 8", 1), Step("printed", "8\n9\n", 3)], tmp_path, "page")
