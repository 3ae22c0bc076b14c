"""What a function returns, written where it is called: only where it certainly means the same."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from gradproof.fixes.inlined import inlined
from gradproof.fixes.source import parsed
from tests.fixes.patched import changed, patched

OWN = """
SCALE = 2.0
def f(x, k=3.0):
    '''Text.'''
    y = x * k
    y = y + SCALE
    return y / (1.0 + y)
def decorated(x): return x
decorated = wrap(decorated)
def branches(x):
    if x: return 1.0
    return 2.0
def inner(x): return [x for x in x]
class Model:
    def forward(self, x): return self.w * self.half(x)
    def half(self, x): return x / 2
model = Model()
other = Model() if SCALE else None
"""


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("f(a)", "(a * 3.0 + SCALE) / (1.0 + (a * 3.0 + SCALE))"),
        ("f(g(a), k=b)", "(g(a) * b + SCALE) / (1.0 + (g(a) * b + SCALE))"),
        ("model(a)", "model.w * model.half(a)"),
        ("model.half(a + b)", "(a + b) / 2"),
        ("f()", None),
        ("f(*a)", None),
        ("f(a, b, a)", None),
        ("decorated(a)", None),
        ("branches(a)", None),
        ("inner(a)", None),
        ("other(a)", None),
        ("np.f(a)", None),
    ],
)
def test_only_what_a_call_certainly_returns_is_written_for_it(call: str, expected: str | None) -> None:
    source = parsed(f"{OWN}z = {call}\n")
    assert source is not None
    last = source.tree.body[-1]
    assert isinstance(last, ast.Assign) and isinstance(last.value, ast.Call)
    found = inlined(source, last.value)
    assert (None if found is None else ast.unparse(found)) == expected


def test_a_name_of_the_module_that_means_something_else_at_the_call_is_not_written() -> None:
    source = parsed(f"{OWN}def g(a):\n    SCALE = 1.0\n    return f(a)\n")
    assert source is not None
    calls = [one for one in ast.walk(source.tree) if isinstance(one, ast.Call) and ast.unparse(one) == "f(a)"]
    assert inlined(source, calls[0]) is None


SHARED = """import numpy as np
import gradproof


def density(x):
    return np.exp(-0.5 * x ** 2) / 2.5


x = gradproof.Variable(np.array([0.5, 60.0]))
with gradproof.GradientTape() as tape:
    p = density(x)
    loss = np.sum(np.log(p)){more}
print(tape.gradient(loss, x))
"""


@pytest.mark.parametrize(
    ("more", "gone"),
    [
        ("", ["-def density(x):", "-return np.exp(-0.5 * x ** 2) / 2.5", "-p = density(x)"]),
        (" + 0.0 * density(2.0)", ["-p = density(x)"]),
        (" + 0.0 * np.sum(p)", []),
    ],
)
def test_a_function_goes_with_its_last_call_and_a_name_with_its_last_use(
    tmp_path: Path, more: str, gone: list[str]
) -> None:
    _, diff, after = patched(SHARED.format(more=more), tmp_path)
    assert str(after.verdict) == "correct"
    assert [line for line in changed(diff) if line != "-"] == [
        *gone,
        f"-loss = np.sum(np.log(p)){more}",
        f"+loss = np.sum(-0.5 * x ** 2 - np.log(2.5)){more}",
    ]
