"""What a change makes superfluous goes with it, and no gap is left."""

from __future__ import annotations

import ast

import pytest

from gradproof.fixes.lines import left_out, replaced_alone
from gradproof.fixes.source import parsed
from tests.fixes.patched import changed


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("i = f(x)\ny = t[i]\n", ["-i = f(x)", "-y = t[i]", "+y = g(x)"]),
        ("i = f(x)\ny = t[i]\nprint(i)\n", ["-y = t[i]", "+y = g(x)"]),
        ("x = f(x)\ny = t[x]\n", ["-y = t[x]", "+y = g(x)"]),
    ],
)
def test_a_name_that_nothing_uses_any_more_goes(before: str, expected: list[str]) -> None:
    source = parsed(before)
    assert source is not None
    place = next(one for one in ast.walk(source.tree) if isinstance(one, ast.Subscript))
    assert changed(replaced_alone(source, [(place, "g(x)")], "a.py")) == expected


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a = 1\n\n\ndef f():\n    pass\n\n\nb = 2\n", "a = 1\n\n\nb = 2\n"),
        ("a = 1\n\nf = 3\nb = 2\n", "a = 1\n\nb = 2\n"),
        ("a = 1\n\nf = 3\n\nb = 2\n", "a = 1\n\nb = 2\n"),
        ("a = 1\nf = 3\n\nb = 2\n", "a = 1\n\nb = 2\n"),
    ],
)
def test_one_gap_is_left_where_a_statement_stood(before: str, after: str) -> None:
    source = parsed(before)
    assert source is not None
    diff = left_out(source, [source.tree.body[1]], "a.py")
    n_gone = sum(line.startswith("-") and not line.startswith("---") for line in diff.splitlines())
    assert n_gone == len(before.splitlines()) - len(after.splitlines()) and "+b" not in diff
