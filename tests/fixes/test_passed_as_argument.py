"""A frozen value becomes an argument wherever the function is called; otherwise nothing is offered."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from gradproof.fixes.kinds import passed_as_argument
from gradproof.ir.span import Span
from gradproof.ir.surroundings import Baked
from tests.fixes.patched import changed

SCRIPT = """import tensorflow as tf
scale = 1.0
{mark}
def energy({arguments}):
    return tf.reduce_sum(x * x) / scale
x = tf.Variable(3.0)
{use}
"""


def _offered(mark: str = "@tf.function", arguments: str = "x", use: str = "energy(x)") -> list[str]:
    text = SCRIPT.format(mark=mark, arguments=arguments, use=use)
    baked = Baked("energy", "scale", "1.0", "2.0", Span("f.py", 5, 34, 5, 39))
    case = SimpleNamespace(
        capture=SimpleNamespace(around=SimpleNamespace(baked=(baked,))), sources={"f.py": text}
    )
    fault: Any = SimpleNamespace(case=case, found=SimpleNamespace(span=baked.span, subject="`scale`"))
    return [line for fix in passed_as_argument.offer(fault) for line in changed(fix.patch)]


def test_the_function_and_every_call_of_it_are_changed() -> None:
    assert _offered(use="y = energy(x) + energy(\n    2 * x,\n)") == [
        "-def energy(x):",
        "+def energy(x, scale):",
        "-y = energy(x) + energy(",
        "-2 * x,",
        "-)",
        "+y = energy(x, scale) + energy(",
        "+2 * x, scale)",
    ]


def test_arguments_by_name_are_followed_by_one_by_name() -> None:
    assert _offered(use="energy(x, training=True)", arguments="x, training")[-1:] == [
        "+energy(x, training=True, scale=scale)"
    ]


@pytest.mark.parametrize(
    "where",
    [
        {"use": "tf.map_fn(energy, x)"},
        {"use": "energy(*xs)"},
        {"use": "energy()", "arguments": ""},
        {"arguments": "x, n=2"},
        {"arguments": "x, *more"},
        {"mark": "@tf.function(input_signature=[tf.TensorSpec([])])"},
        {"use": "obj.energy(x)"},
    ],
)
def test_silent_where_an_argument_more_would_be_mistaken(where: dict[str, str]) -> None:
    assert _offered(**where) == []
