"""`jax.test_util.check_grads`: what it says, what we say, and who is to blame where they differ."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from jax.test_util import check_grads
from jax_runs import judged


def fast(x):
    return jnp.sin(1000.0 * x)


def large(x):
    return jnp.sum(x**2) * 1e4 + jnp.sin(x[0])


def smooth(x):
    return jnp.sum(jnp.sin(x) * x)


def two(a, b):
    return jnp.sum(jnp.tanh(a @ b))


@jax.custom_vjp
def wrong(x):
    return jnp.sin(x)


wrong.defvjp(lambda x: (jnp.sin(x), x), lambda x, g: (-g * jnp.cos(x),))

HALF, VECTOR = jnp.float32(0.5), jnp.array([30.0, -2.0])
PAIR = (jnp.ones((2, 3)) * 0.3, jnp.ones((3, 2)) * 0.1)
# function, arguments, order, options; whether the check passes, and the causes that we find
MATRIX = {
    "right": (smooth, (VECTOR / 30,), 1, {}, True, set()),
    "right, twice": (smooth, (VECTOR / 30,), 2, {}, True, set()),
    "right, two arguments": (two, PAIR, 1, {}, True, set()),
    "right, reverse": (smooth, (VECTOR / 30,), 2, {"modes": ["rev"]}, True, set()),
    "right, forward": (smooth, (VECTOR / 30,), 2, {"modes": ["fwd"]}, True, set()),
    "a step too large, forward": (fast, (HALF,), 1, {"modes": ["fwd"], "eps": 1e-3}, False, {"step-size"}),
    "a step too large, reverse": (fast, (HALF,), 1, {"modes": ["rev"], "eps": 1e-3}, False, {"step-size"}),
    "a step too small, forward": (large, (VECTOR,), 1, {"modes": ["fwd"], "eps": 1e-7}, False, {"step-size"}),
    "a step too small, reverse": (large, (VECTOR,), 1, {"modes": ["rev"], "eps": 1e-7}, False, {"step-size"}),
    "two arguments, too large": (
        lambda a, b: two(a * 40, b),
        PAIR,
        1,
        {"modes": ["rev"], "eps": 0.1},
        False,
        {"step-size"},
    ),
    "a tolerance too fine": (
        smooth,
        (VECTOR / 30,),
        1,
        {"modes": ["fwd"], "atol": 1e-9, "rtol": 1e-9},
        False,
        {"tolerance"},
    ),
    "a tolerance too fine, reverse": (
        smooth,
        (VECTOR / 30,),
        1,
        {"modes": ["rev"], "atol": 1e-9, "rtol": 1e-9},
        False,
        {"tolerance"},
    ),
    "a wrong rule": (wrong, (HALF,), 1, {"modes": ["rev"]}, False, {"custom-gradient"}),
    "a wrong rule, passed": (wrong, (HALF,), 1, {"modes": ["rev"], "atol": 9.0}, True, {"custom-gradient"}),
}


@pytest.mark.parametrize("name", MATRIX)
def test_its_verdict_and_ours(name):
    function, args, order, options, passes, causes = MATRIX[name]
    outcome = []

    def run():
        try:
            check_grads(function, args, order=order, **options)
            outcome.append(True)
        except AssertionError:
            outcome.append(False)

    reports = judged(run)
    found = {cause.kind for one in reports for cause in one.diagnostics}
    assert (outcome, found) == ([passes], causes)
    expected = {"wrong"} if "custom-gradient" in causes else {"correct"}
    assert {one.verdict.value for one in reports} == expected
