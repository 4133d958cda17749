"""Examples in docstrings are true."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

from places import ROOT

SRC = ROOT / "src"
WITH_EXAMPLES = [path for path in sorted(SRC.rglob("*.py")) if "\n    >>> " in path.read_text()]


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=lambda path: str(path.relative_to(SRC)))
def test_the_examples_of_a_module_are_true(path: Path) -> None:
    name = ".".join(path.relative_to(SRC).with_suffix("").parts)
    module = importlib.import_module(name)
    found = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert (found.failed, found.attempted > 0) == (0, True)
