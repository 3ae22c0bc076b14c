"""Patterns: which programs they find, and which they must not."""

from __future__ import annotations

import numpy as np
import pytest

from gradproof.fixes.graph import Graph, Id
from gradproof.fixes.kinds.wider_program import widened
from gradproof.fixes.pattern import matches, parse
from gradproof.fixes.verify import rounded_gradient
from tests.fixes.expressions import program_of

# What a program computes, and a pattern that it is an instance of.
FOUND = [
    ("1 + exp(x)", "exp(X) + 1"),
    ("exp(x) + -1", "exp(X) - 1"),
    ("x * x - y * y", "A**2 - B**2"),
    ("x**2 - 1", "A**2 - 1"),
    ("power(x, 0.5) - 1", "sqrt(X) - 1"),
    ("reciprocal(x) - 1 / y", "1 / A - 1 / B"),
    ("rsqrt(x) - 1", "1 / sqrt(X) - 1"),
    ("(-1 * x) - y", "-X - Y"),
    ("x + -y", "X - Y"),
    ("identity(exp(x)) - 1", "exp(X) - 1"),
    ("(y + x) - y", "(C + X) - C"),
    ("(x * 100 + 1) - 100", "(X * S + C) - S"),
    ("exp(x) - exp(-x)", "exp(X) - exp(-X)"),
    ("exp(2 * x) + exp(x * 2) * 0 - exp(2 * x)", "A + B - A"),
]
NOT_FOUND = [
    ("exp(x) - 2", "exp(X) - 1"),
    ("x * x - y", "A**2 - B**2"),
    ("(y + x) - 3", "(C + X) - C"),
    ("1 - exp(x)", "exp(X) - 1"),
    ("exp(x) - exp(-y)", "exp(X) - exp(-X)"),
    ("x**3 - 1", "A**2 - 1"),
]


def _is_found(text: str, pattern: str) -> bool:
    program = program_of(text, {"x": 0.5, "y": 0.25}, "float64")
    return any(True for _ in matches(Graph(program), parse(pattern), Id(program.outputs[0])))


@pytest.mark.parametrize(("text", "pattern"), FOUND)
def test_a_pattern_is_found_in_every_spelling(text: str, pattern: str) -> None:
    assert _is_found(text, pattern)


@pytest.mark.parametrize(("text", "pattern"), NOT_FOUND)
def test_what_only_looks_alike_is_not_found(text: str, pattern: str) -> None:
    assert not _is_found(text, pattern)


def test_computing_in_float64_keeps_the_source_and_its_gradient_in_float32() -> None:
    program = program_of("tan(x)", {"x": 1.5707})
    wide = widened(program, "float64")
    assert wide is not None
    gradient = rounded_gradient(wide, wide.inputs[0])
    assert gradient is not None
    assert gradient.dtype == np.float32
    x = np.float64(np.float32(1.5707))
    assert gradient == np.float32(1 + np.tan(x) ** 2)


def test_a_program_in_float64_is_not_widened() -> None:
    assert widened(program_of("tan(x)", {"x": 1.5}, "float64"), "float64") is None
