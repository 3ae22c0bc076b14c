"""Reductions entry by entry against NumPy, and their derivatives where formulas break down."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

from gradproof.domains.ball import BallDomain
from gradproof.domains.ball64 import BallDomain64
from gradproof.domains.ieee import Ieee
from gradproof.engine.derive import gradient
from gradproof.ops import Arithmetic

from .entries import assert_moves, assert_near, draw, hessian, program, total


@pytest.mark.parametrize("axes", [(), (0,), (1, 2), (0, 1, 2)])
def test_sum_mean_and_product_reduce_any_axes(axes: tuple[int, ...]) -> None:
    x = draw(2, 3, 2)
    assert_moves("sum", x.sum(axis=axes), x, axes=axes)
    assert_near("mean", x.mean(axis=axes), x, axes=axes)
    assert_near("prod", x.prod(axis=axes), x, axes=axes)


def test_variance_is_that_of_numpy() -> None:
    x = draw(3, 5)
    assert_near("var", x.var(axis=1), x, axes=(1,))
    assert_near("var", x.var(axis=(0, 1), ddof=1), x, axes=(0, 1), ddof=1)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 33])
def test_running_sums_and_products_are_those_of_numpy(n: int) -> None:
    x = draw(2, n)
    x[:, n // 2] = 0.5
    assert_moves("cumsum", np.cumsum(x, axis=1), x, axis=1)
    flipped = np.cumsum(x[:, ::-1], axis=1)[:, ::-1]
    assert_moves("cumsum", flipped, x, axis=1, reverse=True)
    assert_moves("cumsum", flipped - x, x, axis=1, exclusive=True, reverse=True)
    small = np.sign(x) + (x == 0)
    assert_near("cumprod", np.cumprod(small, axis=1), small, axis=1)
    before = np.concatenate([np.ones((2, 1)), np.cumprod(small, axis=1)[:, :-1]], axis=1)
    assert_near("cumprod", before, small, axis=1, exclusive=True)


def _others(x: list[float]) -> list[float]:
    return [float(np.prod(x[:k] + x[k + 1 :])) for k in range(len(x))]


@pytest.mark.parametrize("x", [[2.0, 3.0, -4.0], [2.0, 0.0, 5.0], [0.0, 3.0, 0.0], [0.0, 0.0, 0.0], [7.0]])
def test_the_slope_of_a_product_is_the_product_of_the_others_also_at_zeros(x: list[float]) -> None:
    for domain in (BallDomain64(), BallDomain(128)):
        found = gradient(domain, program(lambda m, a: m.prod(a, axes=(0,)), np.asarray(x)))[0]
        np.testing.assert_array_equal(domain.leave(found)[0], _others(x))


def test_second_derivatives_of_a_product_are_right_at_zeros() -> None:
    x = [0.0, 3.0, 0.0, 5.0]
    expected = [
        [0.0 if i == k else float(np.prod([x[j] for j in range(4) if j not in (i, k)])) for k in range(4)]
        for i in range(4)
    ]
    np.testing.assert_array_equal(hessian(lambda m, a: m.prod(a, axes=(0,)), np.asarray(x)), expected)


def test_second_derivatives_of_a_running_product_are_right_at_zeros() -> None:
    found = hessian(lambda m, a: total(m, m.cumprod(a, axis=0)), np.asarray([2.0, 0.0, 3.0]))
    np.testing.assert_array_equal(found, [[0, 4, 0], [4, 0, 2], [0, 2, 0]])


def test_a_product_of_a_million_factors_takes_few_array_operations() -> None:
    x = np.ones(10**6)
    x[::2] = 2.0
    x[1::2] = 0.5
    domain = BallDomain64()
    found = gradient(domain, program(lambda m, a: m.prod(a, axes=(0,)), x))[0]
    np.testing.assert_allclose(domain.leave(found)[0], 1.0 / x, rtol=1e-9)


@pytest.mark.parametrize("domain", [Ieee(), BallDomain64(), BallDomain(128)], ids=lambda domain: domain.name)
def test_large_logits_neither_overflow_nor_vanish(domain: object) -> None:
    x = np.asarray([[1000.0, 999.0], [-1000.0, -1001.0]])
    m = Arithmetic(domain)
    with domain.active():  # type: ignore[attr-defined]
        entered = m.literal(x)
        for name, expected in (
            ("logsumexp", special.logsumexp(x, axis=1)),
            ("softmax", special.softmax(x, axis=1)),
            ("log_softmax", special.log_softmax(x, axis=1)),
        ):
            mid, rad = m.domain.leave(getattr(m, name)(entered, axes=(1,)))
            np.testing.assert_allclose(mid, expected, rtol=1e-13)
            assert (rad < 1e-10).all()


def test_the_running_logsumexp_meets_that_of_every_beginning() -> None:
    x = draw(2, 6) * 100.0
    expected = np.stack([special.logsumexp(x[:, : k + 1], axis=1) for k in range(6)], axis=1)
    assert_near("cumlogsumexp", expected, x, axis=1)
    backwards = np.stack([special.logsumexp(x[:, k:], axis=1) for k in range(6)], axis=1)
    assert_near("cumlogsumexp", backwards, x, axis=1, reverse=True)


def test_second_derivatives_of_logsumexp_are_the_covariance_of_softmax() -> None:
    x = np.asarray([1.0, 2.0, -0.5])
    p = special.softmax(x)
    found = hessian(lambda m, a: m.logsumexp(a, axes=(0,)), x)
    np.testing.assert_allclose(found, np.diag(p) - np.outer(p, p), atol=1e-15)
