"""The invariants of ARCHITECTURE.md that concern the source itself."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import gradproof

ROOT = Path(gradproof.__file__).parent
# A layer may import itself and everything before it.
LAYERS = [
    {"errors", "options", "clock"},
    {"ir"},
    {"domains"},
    {"ops"},
    {"engine", "blackbox"},
    {"judge"},
    {"diagnosis"},
    {"causes", "fixes"},
    {"render"},
    {"frontends", "tape"},
    {"audit"},
    {"checking", "cli", "plugins", "keras", "__init__", "__main__"},
]
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
FRAMEWORKS = {"tensorflow", "keras", "jax", "torch"}
FILES = sorted(ROOT.rglob("*.py"))


def _layer(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def _imports(path: Path) -> list[tuple[str, bool]]:
    """Absolute names that a file imports, and whether at its top level."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    top = set(map(id, tree.body))
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(alias.name, id(node) in top) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.append((node.module, id(node) in top))
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_downwards(path: Path) -> None:
    own = RANK[_layer(path)]
    for name, is_top_level in _imports(path):
        parts = name.split(".")
        if parts[0] == "gradproof" and len(parts) > 1 and is_top_level:
            assert RANK[parts[1]] <= own, f"{path.name} imports {name}, which stands above it"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_only_frontends_and_plugins_know_a_framework(path: Path) -> None:
    if _layer(path) in ("frontends", "plugins"):
        return
    for name, _ in _imports(path):
        assert name.split(".")[0] not in FRAMEWORKS, f"{path.name} imports {name}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_file_says_what_it_is_for_and_is_short(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(text)), "the module docstring is missing"
    assert len(text.splitlines()) <= 300, "a file is one idea: split it"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_prints_except_the_command_line(path: Path) -> None:
    if _layer(path) in ("cli", "__main__"):
        return
    calls = [
        node.func
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
    ]
    assert not any(isinstance(function, ast.Name) and function.id == "print" for function in calls)


def test_importing_gradproof_imports_no_framework_and_is_quick() -> None:
    code = (
        "import sys, time; start = time.perf_counter(); import gradproof; took = time.perf_counter() - start; "
        f"heavy = sorted({FRAMEWORKS | {'scipy', 'flint', 'rich'}} & set(sys.modules)); print(took, heavy)"
    )
    best, heavy = min(
        (float(line.split(" ", 1)[0]), line.split(" ", 1)[1])
        for line in (
            subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
            for _ in range(3)
        )
    )
    assert heavy.strip() == "[]"
    assert best < 0.3
