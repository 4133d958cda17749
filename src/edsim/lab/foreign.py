"""Simulators that come from outside: `module:object`, `file.py:object`, or an entry point."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from edsim.cohort.manifest import hash_file
from edsim.errors import BadInputError, raised
from edsim.tables.facts import VocabularyFacts

GROUP = "edsim.simulators"
CALLS = ("start", "propose", "commit", "keep")


def entry_point_names() -> list[str]:
    """The simulators that installed packages make known."""
    return sorted(point.name for point in entry_points(group=GROUP))


def load_foreign(name: str, facts: VocabularyFacts) -> Any:
    """The simulator or process of that name: an object's four calls, or a function of prefixes.

    A class, or a function of one argument, is called with the facts and gives the simulator.
    """
    found = _find(name)
    if is_simulator(found) and not inspect.isclass(found):
        return found
    if _is_process(found):
        return found
    if callable(found):
        try:
            made = found(facts)
        except (Exception, SystemExit) as error:
            raise BadInputError(
                f"'{name}' could not be made: called with the facts of the vocabulary, it "
                f"{raised(error)}. A simulator class takes one argument, the facts."
            ) from error
        if is_simulator(made) or _is_process(made):
            return made
        found = made
    lacking = [call for call in CALLS if not callable(getattr(found, call, None))]
    raise BadInputError(
        f"'{name}' is not a simulator: it has no {', '.join(lacking)}. A simulator has "
        f"{', '.join(CALLS)}; a process is a function simulate(prefixes, *, cap, draws, seed)."
    )


def code_hash(name: str) -> str:
    """SHA-256 of the file in which the named object is written; "" where there is none."""
    found = _find(name)
    try:
        kind = inspect.isclass(found) or inspect.isroutine(found)
        file = inspect.getsourcefile(found if kind else type(found))
    except TypeError:
        return ""
    return "" if file is None else hash_file(Path(file))


def is_simulator(candidate: Any) -> bool:
    """Whether it has the four calls of `models.protocol.Simulator`."""
    return all(callable(getattr(candidate, call, None)) for call in CALLS)


def _is_process(candidate: Any) -> bool:
    if inspect.isclass(candidate) or not callable(candidate):
        return False
    try:
        names = set(inspect.signature(candidate).parameters)
    except (TypeError, ValueError):
        return False
    return {"cap", "draws", "seed"} <= names


def _find(name: str) -> Any:
    points = {point.name: point for point in entry_points(group=GROUP)}
    if name in points:
        with _plain_messages(name):
            return points[name].load()
    place, colon, attribute = name.rpartition(":")
    if not colon or not place or not attribute:
        raise BadInputError(f"'{name}' names no simulator: write module:object or file.py:object.")
    module = _module(place, name)
    try:
        for part in attribute.split("."):
            module = getattr(module, part)
    except AttributeError:
        raise BadInputError(f"'{place}' has no '{attribute}'.") from None
    return module


def _module(place: str, name: str) -> Any:
    with _plain_messages(name):
        if place.endswith(".py"):
            return _from_file(place)
        if str(Path.cwd()) not in sys.path:  # as `python -m` would find it
            sys.path.insert(0, str(Path.cwd()))
        return importlib.import_module(place)


def _from_file(place: str) -> Any:
    """A file as a module, under a name that no other module has, whatever the file is called."""
    path = Path(place).resolve()
    module_name = f"file:{path.stem}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None or not path.exists():
        raise BadInputError(f"there is no file '{place}'.")
    if str(path.parent) not in sys.path:  # for modules that lie beside it
        sys.path.append(str(path.parent))
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    spec.loader.exec_module(module)
    return module


@contextmanager
def _plain_messages(name: str) -> Iterator[None]:
    """Whatever goes wrong while somebody's module is run, as a message about the name."""
    try:
        yield
    except BadInputError:
        raise
    except ModuleNotFoundError as error:
        itself = error.name == name.partition(":")[0].split(".")[0]
        missing = "itself" if itself else f"'{error.name}'"
        raise BadInputError(
            f"'{name}' cannot be imported: the module {missing} is not found. Run edsim where it "
            "lies, or install it."
        ) from None
    except (Exception, SystemExit) as error:
        raise BadInputError(f"'{name}' cannot be imported: its module {raised(error)}.") from error
