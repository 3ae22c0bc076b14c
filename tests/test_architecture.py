"""The invariants of ARCHITECTURE.md that concern the source itself."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import gradproof

ROOT = Path(gradproof.__file__).parent
# A layer may import itself and everything before it.
LAYERS = [
    {"errors", "options", "clock", "frameworks", "internal_error", "whole_file"},
    {"ir"},
    {"domains"},
    {"ops"},
    {"engine", "blackbox"},
    {"judge"},
    {"diagnosis"},
    {"causes", "fixes", "modes"},
    {"render"},
    {"frontends", "tape"},
    {"audit"},
    {"cluster"},
    {"deferred", "sweep"},
    {"checking", "comparing", "cli", "plugins", "keras", "lightning", "transformers", "__init__", "__main__"},
]
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
FRAMEWORKS = {"tensorflow", "keras", "jax", "torch"}


@cache
def _trees() -> dict[Path, ast.Module]:
    """Every file, parsed: by the worker alone that runs the tests of this file, and not whenever they are collected."""
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(ROOT.rglob("*.py"))}


@pytest.fixture(autouse=True, scope="module")
def _trees_are_let_go() -> Iterator[None]:
    """They are millions of objects, which every later collection of garbage would look through."""
    yield
    _trees.cache_clear()


def _layer(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def _imports(tree: ast.Module) -> list[str]:
    """Absolute names that a file imports, inside of its functions too."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.append(node.module)
    return found


# What a user prints fetches its words from above when it is asked for them, and only then.
PRINTED = {
    ("diagnosis/report.py", "gradproof.render.to_text"),
    ("diagnosis/report.py", "gradproof.render.to_html"),
    ("modes/model.py", "gradproof.render.modes_text"),
    ("modes/model.py", "gradproof.render.modes_html"),
    ("blackbox/numerical_check.py", "gradproof.causes"),
    ("blackbox/numerical_check.py", "gradproof.render.diagnostic_text"),
    ("blackbox/numerical_check.py", "gradproof.render.line"),
}


def test_the_map_names_every_file_of_the_shared_rooms_and_no_other() -> None:
    page = (Path(__file__).parents[1] / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)/` \| (.*) \|$", page.partition("## The rooms")[2], re.MULTILINE))
    assert {
        "record",
        "assemble",
        "missing",
        "exits",
        "frozen",
        "after",
        "library",
        "check",
        "recipes",
    } == rows.keys()
    for room, text in rows.items():
        there = {path.stem for path in (ROOT / "frontends" / room).glob("*.py")} - {"__init__"}
        assert set(re.findall(r"`(\w+)`", text)) == there, room


def test_imports_point_downwards() -> None:
    upwards = {
        (str(path.relative_to(ROOT)), name)
        for path, tree in _trees().items()
        for name in _imports(tree)
        if name.startswith("gradproof.") and RANK[name.split(".")[1]] > RANK[_layer(path)]
    }
    assert upwards == PRINTED


def test_only_frontends_and_plugins_know_a_framework() -> None:
    for path, tree in _trees().items():
        if _layer(path) in ("frontends", "plugins"):
            continue
        for name in _imports(tree):
            assert name.split(".")[0] not in FRAMEWORKS, f"{path} imports {name}"


def test_a_frontend_is_named_by_nobody_but_the_file_that_selects_one() -> None:
    for path, tree in _trees().items():
        for name in _imports(tree):
            room, _, _ = name.removeprefix("gradproof.frontends.").partition(".")
            if not name.startswith("gradproof.frontends.") or room not in FRAMEWORKS:
                continue
            own = path.is_relative_to(ROOT / "frontends" / room)
            assert own or path == ROOT / "frontends" / "select.py", f"{path} imports {name}"


def test_every_file_says_what_it_is_for_and_is_short() -> None:
    for path, tree in _trees().items():
        assert ast.get_docstring(tree), f"{path}: the module docstring is missing"
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 300, f"{path} is one idea: split it"


# The road of the run itself: what Python would have written, and the terminal that pytest hands over.
WRITING = {"audit/runner.py", "plugins/pytest_summary.py"}


# What a file may not name, as an attribute or by `from ... import`.
WRITERS = {
    *(("sys", name) for name in ("stdout", "stderr", "__stdout__", "__stderr__")),
    *(("logging", name) for name in ("debug", "info", "warning", "error", "exception", "critical")),
    ("warnings", "warn"), ("os", "write"), ("traceback", "print_exc"), ("traceback", "print_exception"),
}  # fmt: skip


def test_nothing_writes_to_the_terminal_except_the_command_line() -> None:
    """The output of a program that is watched is its own: no text, no warning and no log of ours stands in it."""
    writing = {
        str(path.relative_to(ROOT))
        for path, tree in _trees().items()
        if _layer(path) not in ("cli", "__main__") and any(map(_writes, ast.walk(tree)))
    }
    assert writing == WRITING


def _writes(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom):
        return any((node.module, alias.name) in WRITERS for alias in node.names)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id == "print"
    if not (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)):
        return False
    return (node.value.id, node.attr) in WRITERS


def test_importing_gradproof_imports_no_framework_and_is_quick() -> None:
    code = (
        "import sys, time; start = time.process_time(); import gradproof; took = time.process_time() - start; "
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


def test_no_file_above_the_frontends_names_a_framework() -> None:
    """What differs between frameworks is data in `frameworks/`; docstrings may show a framework's code."""
    word = re.compile(r"\b(tensorflow|TensorFlow|keras|Keras|torch|PyTorch|jax|JAX|tf\.|jnp\.)")
    for path, tree in _trees().items():
        if _layer(path) in (
            "frameworks",
            "frontends",
            "plugins",
            "keras",
            "__init__",
        ):  # the latter names a plugin
            continue
        for node in _texts(tree):
            assert not word.search(node.value), f"{path}:{node.lineno} names a framework: {node.value!r}"


def _texts(tree: ast.Module) -> Iterator[ast.Constant]:
    """The strings of a file that are no docstrings."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    bodies = [node.body for node in ast.walk(tree) if isinstance(node, documented)]
    # A string that stands alone documents what is above it.
    alone = {id(one.value) for body in bodies for one in body if isinstance(one, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield node


def test_no_class_name_is_defined_twice() -> None:
    """One word for each idea: whoever reads a name need not ask which of two it is."""
    homes: dict[str, list[str]] = {}
    for path, tree in _trees().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}


def test_only_the_judge_makes_a_verdict() -> None:
    """Others pass on what `judge/` has said; reading a report back is no verdict of ours."""
    for path, tree in _trees().items():
        if _layer(path) == "judge":
            continue
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            assert not (isinstance(node.func, ast.Name) and node.func.id == "Judgement"), (
                f"{path}:{node.lineno}"
            )
            given = [one.value for one in node.keywords if one.arg == "verdict"]
            named = [part for value in given for part in ast.walk(value) if isinstance(part, ast.Attribute)]
            assert not any(ast.unparse(part.value) == "Verdict" for part in named), f"{path}:{node.lineno}"
