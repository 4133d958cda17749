"""The order of packages in docs/architecture.md: nothing imports to its right, nor too early."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SRC = Path(__file__).parent.parent / "src"

# package (longest match wins): its layer, and what else it may import of its own layer
LAYERS: dict[str, tuple[int, set[str]]] = {
    "edsim": (0, set()),
    "edsim.errors": (0, set()),
    "edsim.seeds": (0, set()),
    "edsim.compiled": (0, set()),
    "edsim.progress": (0, set()),
    "edsim.privacy": (0, {"edsim.tables"}),
    "edsim.charts": (0, {"edsim.tables"}),
    "edsim.tables": (0, {"edsim.errors", "edsim.seeds"}),
    "edsim.sources": (1, set()),
    "edsim.encoding.vocabulary": (1, set()),
    "edsim.cohort": (2, set()),
    "edsim.encoding": (2, set()),
    "edsim.models": (3, set()),
    "edsim.models.protocol": (0, {"edsim.tables"}),
    "edsim.models.foresight": (0, {"edsim.tables", "edsim.models.protocol"}),
    "edsim.training": (4, set()),
    "edsim.rollout": (4, set()),
    "edsim.metrics": (4, set()),
    "edsim.lab": (5, {"edsim.conformance"}),
    "edsim.conformance": (5, set()),
    "edsim.bench": (5, {"edsim.lab"}),
    "edsim.studies": (6, set()),
    "edsim.report": (6, set()),
    "edsim.leaderboard": (6, {"edsim.report"}),
    "edsim.cli": (7, set()),
    "edsim.__main__": (8, set()),
}

# what may stand at the top of a module, below the command line; the rest is imported where used
LIGHT_AT_THE_TOP = {"numpy", "edsim"}
TORCH_AT_THE_TOP = ("edsim.models", "edsim.training", "edsim.rollout", "edsim.conformance")
# modules that are themselves imported where they are used, and what they may therefore have there
KERNELS = {
    "edsim.models.neural.attention_on_gpu": {"triton"},
    "edsim.bench.neural_work": {"torch"},
    "edsim.bench.reencoding": {"torch"},
}


def modules() -> Iterator[tuple[str, Path]]:
    for path in sorted(SRC.rglob("*.py")):
        parts = list(path.relative_to(SRC).with_suffix("").parts)
        if parts[-1] == "__init__":
            parts.pop()
        yield ".".join(parts), path


def package_of(module: str) -> str:
    matches = [name for name in LAYERS if module == name or module.startswith(name + ".")]
    return max(matches, key=len)


def imports(tree: ast.AST, module: str) -> Iterator[tuple[str, ast.stmt]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: imports are absolute"
            for alias in node.names:
                yield f"{node.module}.{alias.name}", node


@pytest.mark.parametrize(("module", "path"), list(modules()), ids=lambda value: str(value))
def test_a_package_imports_nothing_to_its_right(module: str, path: Path) -> None:
    own = package_of(module)
    layer, friends = LAYERS[own]
    for name, _ in imports(ast.parse(path.read_text()), module):
        if not name.startswith("edsim"):
            continue
        other = package_of(name)
        allowed = other in (own, "edsim") or LAYERS[other][0] < layer or other in friends
        assert allowed, f"{module} imports {name}, which lies to its right"


@pytest.mark.parametrize(("module", "path"), list(modules()), ids=lambda value: str(value))
def test_heavy_libraries_are_imported_where_they_are_used(module: str, path: Path) -> None:
    if package_of(module) in ("edsim.cli",):
        return
    tree = ast.parse(path.read_text())
    torch = {"torch"} if package_of(module).startswith(TORCH_AT_THE_TOP) else set()
    light = torch | LIGHT_AT_THE_TOP | set(__import__("sys").stdlib_module_names)
    light |= KERNELS.get(module, set())
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for name, _ in imports(node, module):
                assert name.split(".")[0] in light, f"{module} imports {name} at its top"


def test_every_package_has_a_layer() -> None:
    known = {name for name in LAYERS if name != "edsim"}
    for module, _ in modules():
        if module not in ("edsim",):
            assert package_of(module) in known, f"{module} has no layer"


def test_torch_is_nowhere_below_models() -> None:
    allowed = (*TORCH_AT_THE_TOP, "edsim.lab", "edsim.bench")
    for module, path in modules():
        for name, _ in imports(ast.parse(path.read_text()), module):
            if name.split(".")[0] == "torch":
                assert package_of(module).startswith(allowed), module
