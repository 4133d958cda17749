"""CITATION.cff is of this version, and of the paper."""

from __future__ import annotations

import os
import re
from pathlib import Path

import yaml

import edsim
from places import ROOT, missing


def test_the_citation_is_of_this_version_and_licence() -> None:
    said = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert {"cff-version", "message", "title", "authors"} <= said.keys(), "what the format asks for"
    assert said["version"] == edsim.__version__
    assert f'license = "{said["license"]}"' in (ROOT / "pyproject.toml").read_text()


def test_the_paper_is_cited_by_its_own_title() -> None:
    place = os.environ.get("EDSIM_PAPER_TEX", ROOT.parent / "shared" / "paper" / "edsim-bench.tex")
    if not Path(place).is_file():
        missing("the paper's text is not here: set EDSIM_PAPER_TEX to its file")
    (title,) = re.findall(r"\\title\{(.*?)\}", Path(place).read_text(encoding="utf-8"), re.DOTALL)
    said = yaml.safe_load((ROOT / "CITATION.cff").read_text())["preferred-citation"]
    assert said["title"] == " ".join(title.replace("\\\\", " ").split())
