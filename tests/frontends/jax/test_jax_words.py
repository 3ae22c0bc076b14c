"""Where a message points, and what it says, where a script of verdicts and causes does not show it."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
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
    assert (span.line, span.column, span.end_column) == (backward.__code__.co_firstlineno + 2, 51, 55)


def test_a_decomposition_is_singular_where_its_values_are_equal_and_not_at_one_of_the_numbers():
    def loading(matrix):
        return jnp.linalg.eigh(matrix)[1][0, -1] ** 2

    (report,) = judged(lambda: jax.grad(loading)(1.5 * jnp.eye(2)))
    (found,) = report.diagnostics
    assert found.primary.label == "the slope is infinite at equal eigenvalues"
    assert "add a small constant" not in found.fix.text  # equal eigenvalues stay equal


def test_an_index_is_not_told_to_become_a_number_with_a_decimal_point():
    def loss(w, labels):
        return -jnp.mean(jax.nn.log_softmax(w)[labels])

    def run():
        labels = jnp.array([0, 2])
        with pytest.raises(TypeError):
            jax.grad(loss, argnums=1)(jnp.zeros(3), labels)

    (report,) = judged(run)
    (found,) = report.diagnostics
    assert found.kind == "integer-dtype" and "used as an index" in found.fix.text
    assert found.fix.patch == ""


def test_an_index_past_the_end_is_told_as_one_where_nan_is_read():
    def loss(w):
        return -jnp.mean(jnp.take(jax.nn.log_softmax(w), jnp.array([0, 3])))

    (report,) = judged(lambda: jax.grad(loss)(jnp.zeros(3)))
    (found,) = report.diagnostics
    assert (report.verdict.value, found.kind) == ("undefined", "invalid-domain")
    assert "index lies past the end" in found.headline and "1 of 2 entries" in found.primary.label


def test_a_matrix_that_rounding_has_made_indefinite_is_told_as_that():
    places = jnp.array([0.0, 0.001, 0.002, 1.0])

    def loss(scale):
        kernel = jnp.exp(-((places[:, None] - places[None, :]) ** 2) / scale)
        return jnp.sum(jnp.log(jnp.diag(jnp.linalg.cholesky(kernel))))

    (report,) = judged(lambda: jax.grad(loss)(jnp.float32(4.0)))
    (found,) = report.diagnostics
    assert (report.verdict.value, found.kind) == ("nonfinite", "invalid-domain")
    assert "rounding leaves a matrix" in found.headline and "-1" in dict(found.evidence)["eigenvalues"]


def test_a_matrix_without_a_factor_is_told_as_that():
    def loss(rho):
        matrix = jnp.eye(2) + rho * (1 - jnp.eye(2))
        return jnp.sum(
            jax.scipy.linalg.solve_triangular(jnp.linalg.cholesky(matrix), jnp.ones(2), lower=True)
        )

    (report,) = judged(lambda: jax.grad(loss)(1.25))
    (found,) = report.diagnostics
    assert (report.verdict.value, found.kind) == ("undefined", "invalid-domain")
    assert "`cholesky` is not positive definite" in found.headline
    assert dict(found.evidence)["eigenvalues"] == "from -0.25 to 2.25"


def test_a_zero_that_is_a_factor_of_the_argument_is_no_mask():
    def distance(latitude, longitude):
        a = jnp.sin(latitude / 2) ** 2 + jnp.cos(latitude) * jnp.sin(longitude / 2) ** 2
        return jnp.arcsin(jnp.sqrt(a))

    (report,) = judged(lambda: jax.grad(distance)(0.0, 0.0))
    (found,) = report.diagnostics
    assert (report.verdict.value, found.kind, found.severity) == ("undefined", "singular-point", "error")


def test_the_largest_number_of_half_precision_is_told_with_all_its_digits():
    def distance(a):
        return jnp.sqrt(jnp.sum(a * a))

    (report,) = judged(lambda: jax.grad(distance)(jnp.array([300.0, -250.0], dtype=jnp.float16)))
    (found,) = report.diagnostics
    assert found.kind == "overflow" and "90000" in found.headline
    assert dict(found.evidence)["limit"] == "the largest float16 is 65504"
