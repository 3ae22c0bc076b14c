"""Every message as a user reads it: on one screen, in plain words, and with a last line that is enough to act."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import gradproof
from tests.causes.harness import CASES, markers, name_of

SCREEN = 45  # lines of one message, with the source and the patch in it
HEADLINE = 120  # characters: two lines of a narrow terminal, which is what a long name of the user's may take
_BEGIN = re.compile(r"^(error|warning|note)\[([a-z-]+)\]: (.+)$")
_LAST = re.compile(
    r"^gradproof: \d+ (?:error|warning)s?.*: \d+ (?:of \d+ )?gradients? .*"
    r"fix first (\S+?):(\d+)\S* \(([a-z-]+)\): (.+)$"
)
# Words of specialists that a message may not use, with what it says instead.
_JARGON = {
    r"\bmend": "fix", r"\b(its|on the) way\b|no other way to": "path", r"\bupright\b": "infinite slope",
    r"treats this point apart": "is not smooth here", r"selection selects": "the branch taken",
    r"what is dropped": "the branch that is not used", r"\bnonfinite\b": "NaN/inf",
    r"\bcotangent": "gradient that comes in", r"\badjoint": "gradient", r"\b[VJ][JV]P\b": "rule",
    r"\b(ulp|ULP)\b": "last digit", r"\bsubgradient": "slope", r"\bcatastrophic": "all digits", r"\bprimal\b": "value",
    r"\bAST\b": "source", r"\bbackprop": "gradient", r"\bDAG\b": "program", r"\bball\b": "proven",
}  # fmt: skip

TROUBLE = Path(__file__).parents[1] / "trouble"
SNAPSHOTS = sorted(CASES.glob("*/guilty_*.txt"))
NAMES = [f"{path.parent.name}/{path.stem}" for path in SNAPSHOTS]


def _messages(text: str) -> list[list[str]]:
    found: list[list[str]] = []
    for line in text.split("\n"):
        if _BEGIN.match(line):
            found.append([])
        elif line.startswith(("gradient  ", "  where the error of ")) and found:
            found.append([])  # the tables at the end belong to no message
            break
        if found:
            found[-1].append(line)
    return [lines for lines in found if lines and _BEGIN.match(lines[0])]


@pytest.mark.parametrize("path", SNAPSHOTS, ids=NAMES)
def test_a_message_fits_on_a_screen(path: Path) -> None:
    messages = _messages(path.read_text(encoding="utf-8"))
    assert messages
    for lines in messages:
        while not lines[-1].strip():
            lines.pop()
        assert len(lines) <= SCREEN, f"{len(lines)} lines"
        assert len(lines[0]) <= HEADLINE


@pytest.mark.parametrize("path", SNAPSHOTS, ids=NAMES)
def test_the_last_line_names_a_place_and_what_to_do(path: Path) -> None:
    last = path.read_text(encoding="utf-8").rstrip("\n").split("\n")[-1]
    found = _LAST.match(last)
    assert found is not None, last
    script = path.with_suffix(".py")
    assert found[1] == script.name
    assert (found[3], int(found[2])) in markers(script), name_of(script)
    assert len(found[4].split()) >= 3, "an action is more than a word"


@pytest.mark.parametrize("path", SNAPSHOTS, ids=NAMES)
def test_no_word_of_specialists_stands_unexplained(path: Path) -> None:
    prose = "\n".join(line for message in _messages(path.read_text(encoding="utf-8")) for line in message)
    for word, instead in _JARGON.items():
        assert not re.search(word, prose), f"say {instead}"


@pytest.mark.parametrize("path", SNAPSHOTS, ids=NAMES)
def test_a_fix_says_whether_it_was_run(path: Path) -> None:
    for message in _messages(path.read_text(encoding="utf-8")):
        text = "\n".join(message)
        if "\n  fix: " in text:
            assert "\n  checked: " in text or "\n  not checked: " in text


ALL = Path(__file__).parent / "messages.txt"
_NAMES_AND_NUMBERS = re.compile(r"`[^`]*`|[-+]?\d[\d.,]*(?:e[-+]?\d+)?")
_PARTS = ("  why: ", "  fix: ")


def _said(lines: list[str]) -> list[str]:
    """The headline, why and fix of a message, without its source, numbers and patch."""
    kept, is_kept = [], True
    for line in lines:
        if line.startswith("  ") and not line.startswith("   ") and ":" in line:
            is_kept = line.startswith(_PARTS)
        elif not line.strip() or line.lstrip().startswith(("-->", "|")) or re.match(r"^ *[\d.]+ \|", line):
            is_kept = False
        if is_kept:
            kept.append(line)
    return kept


def _all() -> str:
    """The messages of the cases and of the scripts of trouble, in every framework.

    Of those that differ in names and numbers only the first is kept.
    """
    found: dict[str, list[str]] = {}
    for path in (*SNAPSHOTS, *sorted(TROUBLE.rglob("*.txt"))):
        for lines in _messages(path.read_text(encoding="utf-8")):
            said = _said(lines)
            found.setdefault(_NAMES_AND_NUMBERS.sub("*", said[0]), said)
    return "".join("\n".join(said) + "\n\n" for _, said in sorted(found.items()))


def _texts_of(file: Path) -> Iterator[str]:
    """The strings of a source file that a user may read; docstrings and single words are none."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    owners = (ast.Module, ast.FunctionDef, ast.ClassDef)
    documented = [node.body[0] for node in ast.walk(tree) if isinstance(node, owners) and node.body]
    docstrings = {id(first.value) for first in documented if isinstance(first, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield from [node.value] if " " in node.value else []


def test_no_text_of_a_cause_a_framework_or_a_frontend_uses_such_words() -> None:
    """Also those that no snapshot shows: messages of PyTorch and JAX are made of these."""
    root = Path(gradproof.__file__).parent
    folders = (
        "causes",
        "diagnosis",
        "frameworks",
        "audit",
        "frontends/torch",
        "frontends/jax",
        "frontends/missing",
    )
    # What frameworks write themselves is recognised by their words.
    theirs = ("frontends/jax/misuse.py", "frontends/jax/read/refused.py")
    files = [file for folder in folders for file in sorted((root / folder).rglob("*.py"))]
    for file in files:
        if file.relative_to(root).as_posix() in theirs:
            continue
        for text in set(_texts_of(file)) - {"do not support JVP"}:
            for word, instead in _JARGON.items():
                assert not re.search(word, text), f"{file}: say {instead} in {text!r}"


def test_every_cause_has_its_messages_in_one_file_to_be_read_from_top_to_bottom() -> None:
    if os.environ.get("GRADPROOF_ACCEPT"):
        ALL.write_text(_all(), encoding="utf-8")
    kinds = {
        found.group(2) for found in map(_BEGIN.match, ALL.read_text(encoding="utf-8").split("\n")) if found
    }
    assert kinds == {found.group(2) for found in map(_BEGIN.match, _all().split("\n")) if found}


def test_the_file_of_all_messages_is_that_of_the_snapshots() -> None:
    assert ALL.read_text(encoding="utf-8") == _all()
