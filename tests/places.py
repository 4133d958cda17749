"""Where things outside the tests are, and what a test does where one of them is missing."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NoReturn

import pytest

ROOT = Path(__file__).parent.parent


def missing(what: str) -> NoReturn:
    """Skip with a sentence; where everything has to be there (CI), fail with it."""
    if os.environ.get("CI"):
        pytest.fail(what)
    pytest.skip(what)
