"""A minus stands where a person would write it."""

from __future__ import annotations

import ast

import pytest

from gradproof.fixes.edit import with_texts
from gradproof.fixes.signs import with_merged_sign
from gradproof.fixes.source import parsed


@pytest.mark.parametrize(
    ("before", "text", "after"),
    [
        ("a + g(x)", "-f(x)", "a - f(x)"),
        ("a - g(x)", "-f(x)", "a + f(x)"),
        ("-g(x)", "-f(x)", "f(x)"),
        ("g(x) + a", "-f(x)", "-f(x) + a"),
        ("y * log(p) + (1 - y) * g(x)", "-f(x)", "y * log(p) - (1 - y) * f(x)"),
        ("(1 - y) * g(x)", "-f(x)", "-(1 - y) * f(x)"),
        ("é + y * g(x) / 2", "-(a + b)", "é - y * (a + b) / 2"),
        ("-(y * g(x)).mean()", "-f(x)", "-(-y * f(x)).mean()"),
        ("-(1 - y) * p * g(x)", "-f(x)", "(1 - y) * p * f(x)"),
        ("h(-y * g(x))", "-f(x)", "h(y * f(x))"),
        ("a + (y * g(x))", "-f(x)", "a + (-y * f(x))"),
        ("h(g(x))", "-f(x)", "h(-f(x))"),
        ("a + g(x)", "f(x) - b", "a + f(x) - b"),
    ],
)
def test_a_minus_goes_into_what_stands_around(before: str, text: str, after: str) -> None:
    source = parsed(f"z = {before}\n")
    assert source is not None
    calls = [one for one in ast.walk(source.tree) if isinstance(one, ast.Call)]
    call = next(one for one in calls if ast.unparse(one) == "g(x)")
    place, new = with_merged_sign(source, call, text)
    changed = with_texts(source, [(place, new)])
    assert changed == [f"z = {after}\n"]
