"""Fingerprints are equal for equal numbers, and for nothing else."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from gradproof.domains.fingerprint import PRIME, Fingerprint, residue
from gradproof.errors import NotSupported
from gradproof.ops import Arithmetic

m = Arithmetic(Fingerprint())


def same(a: Any, b: Any) -> bool:
    return not m.domain.leave(m.sub(a, b))[0].any()


def number(*values: float) -> Any:
    return m.literal(np.asarray(values))


def test_a_float_is_the_fraction_it_holds() -> None:
    for x in (0.1, -3.75, 1e300, 5e-324, 2.0**70):
        exact = Fraction(x)
        assert residue(x).value == exact.numerator * pow(exact.denominator, -1, PRIME) % PRIME


def test_the_order_of_terms_does_not_matter() -> None:
    x, y = number(0.1, 7.0), number(-0.3, 2.5)
    assert same(m.square(m.add(x, y)), m.add(m.square(x), m.add(m.mul(m.mul(x, y), 2), m.square(y))))
    assert same(m.div(m.sub(m.square(x), m.square(y)), m.sub(x, y)), m.add(y, x))
    third = m.div(number(1.0), number(3.0))
    assert same(m.add(m.add(third, third), third), number(1.0))


def test_sums_products_and_scatters_are_those_of_the_reals() -> None:
    x = np.random.default_rng(0).integers(-9, 9, (3, 4)) / 8.0
    assert same(m.sum(m.literal(x), axes=(0,)), m.literal(x.sum(axis=0)))
    assert same(m.matmul(m.literal(x), m.literal(x.T)), m.literal(x @ x.T))
    assert same(m.cumsum(m.literal(x), axis=1), m.literal(np.cumsum(x, axis=1)))
    assert same(
        m.scatter_add(m.literal(x), np.asarray([1, 1, 0]), size=2), m.literal(np.stack([x[2], x[0] + x[1]]))
    )
    assert same(m.sum(m.literal(np.zeros((0, 2))), axes=(0,)), m.literal(np.zeros(2)))


def test_other_functions_are_equal_where_their_arguments_are() -> None:
    x = number(0.3)
    assert same(m.tanh(m.add(x, x)), m.tanh(m.mul(x, 2)))
    assert not same(m.tanh(x), m.tanh(number(np.nextafter(0.3, 1.0))))
    assert not same(m.tanh(x), m.sin(x))


def test_what_is_no_number_equals_nothing_not_even_itself() -> None:
    assert not same(number(np.nan), number(np.nan))
    zero = number(0.0)
    assert not same(m.div(zero, zero), m.div(zero, zero))


def test_complex_numbers_are_refused() -> None:
    with pytest.raises(NotSupported):
        m.literal(np.asarray([1j]))
