"""Where a message points, and what it says, where a script of verdicts and causes does not show it."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax_runs import judged


def test_the_none_that_a_rule_returns_is_what_is_pointed_at():
    @jax.custom_vjp
    def robust(r, c):
        return c**2 * (jnp.sqrt(1 + (r / c) ** 2) - 1)

    def backward(kept, g):
        r, c = kept
        return g * r / jnp.sqrt(1 + (r / c) ** 2), None

    robust.defvjp(lambda r, c: (robust(r, c), (r, c)), backward)
    right, wrong = judged(lambda: jax.grad(robust, (0, 1))(jnp.float32(1.5), jnp.float32(0.75)))
    (found,) = wrong.diagnostics
    assert right.diagnostics == () and "returns None" in found.headline
    span = found.primary.span
    assert (span.line, span.column, span.end_column) == (17, 51, 55)


def test_a_decomposition_is_singular_where_its_values_are_equal_and_not_at_one_of_the_numbers():
    def loading(matrix):
        return jnp.linalg.eigh(matrix)[1][0, -1] ** 2

    (report,) = judged(lambda: jax.grad(loading)(1.5 * jnp.eye(2)))
    (found,) = report.diagnostics
    assert found.primary.label == "the slope is infinite at equal eigenvalues"
    assert "add a small constant" not in found.fix.text  # equal eigenvalues stay equal
