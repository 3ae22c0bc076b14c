"""Eigenvalues, singular values and their vectors against NumPy, and what is said where values coincide."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from flint import arb

from gradproof.domains.ball import BallDomain
from gradproof.domains.ball64 import BallDomain64
from gradproof.domains.clusters import enclose_values
from gradproof.errors import NotSupported
from gradproof.ops import Arithmetic
from gradproof.ops.eigen import anchors_of

from .test_linalg import arithmetics, assert_encloses, draw


@pytest.mark.parametrize("m", arithmetics())
@pytest.mark.parametrize("shape", [(1, 1), (6, 6), (2, 3, 4, 4)])
def test_eigenvectors_have_the_signs_of_the_recorded_ones(m: Any, shape: tuple[int, ...]) -> None:
    (a,) = draw(shape)
    a = a + np.swapaxes(a, -1, -2)
    values, vectors = np.linalg.eigh(a)
    vectors = -vectors
    with m.domain.active():
        found = m.eigh(m.literal(a), anchors_of(vectors))
    assert_encloses(m, found[0], values)
    assert_encloses(m, found[1], vectors)


@pytest.mark.parametrize("m", arithmetics())
@pytest.mark.parametrize("shape", [(1, 1), (4, 4), (6, 3), (3, 6), (2, 4, 3)])
def test_singular_vectors_have_the_signs_of_the_recorded_ones(m: Any, shape: tuple[int, ...]) -> None:
    (a,) = draw(shape)
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    u, v = -u, -np.swapaxes(vh, -1, -2)
    with m.domain.active():
        found = m.svd(m.literal(a), anchors_of(v))
    for part, expected in zip(found, (s, u, v)):
        assert_encloses(m, part, expected)


@pytest.mark.parametrize("m", [Arithmetic(BallDomain(128)), Arithmetic(BallDomain64())])
def test_equal_values_are_enclosed_and_their_vectors_unknown(m: Any) -> None:
    a = np.diag([2.0, 2.0, 5.0])
    anchors = np.array([[0, 1, 2], [1, 1, 1]])
    with m.domain.active():
        values, vectors = m.eigh(m.literal(a), anchors)
        singular, _, _ = m.svd(m.literal(np.diag([3.0, 3.0, 0.0])), anchors)
    mid, rad = m.domain.leave(values)
    assert (np.abs(mid - [2.0, 2.0, 5.0]) <= rad).all()
    assert (rad < 1e-9).all()
    assert np.isinf(m.domain.leave(vectors)[1]).any()
    mid, rad = m.domain.leave(singular)
    assert (np.abs(mid - [3.0, 3.0, 0.0]) <= rad).all()
    assert (rad < 1e-9).all()


def test_nearly_equal_values_are_told_apart_by_more_precision() -> None:
    a = np.array([[1.0, 2.0**-50], [2.0**-50, 1.0]])
    values, vectors = Arithmetic(BallDomain64()).eigh(BallDomain64().enter(a), np.array([[0, 0], [1, 1]]))
    np.testing.assert_allclose(values.mid, [1.0 - 2.0**-50, 1.0 + 2.0**-50], rtol=0, atol=0)
    np.testing.assert_allclose(vectors.mid, np.array([[1.0, 1.0], [-1.0, 1.0]]) / np.sqrt(2.0), rtol=1e-15)
    assert (vectors.rad < 1e-15).all()


def test_complex_matrices_are_refused_with_the_reason() -> None:
    m = Arithmetic(BallDomain(128))
    with pytest.raises(NotSupported, match="known up to a phase only"):
        m.eigh(m.literal(np.array([[1.0, 1.0j], [-1.0j, 2.0]])), np.ones((2, 2), np.int64))


def test_values_closer_than_float64_can_tell_are_in_order() -> None:
    """They are 1 + k 2**-80 in a shuffled order, and all round to 1: exact midpoints must sort them."""
    m = Arithmetic(BallDomain(200))
    with m.domain.active():
        shuffled = [3, 1, 4, 0, 2]
        a = m.literal(np.eye(5)) + m.literal(np.diag(shuffled)) * arb(2) ** -80
        values, vectors = m.eigh(a, np.array([[3, 1, 4, 0, 2], [1, 1, 1, 1, 1]]))
        assert all(one < other for one, other in itertools.pairwise(values))
        assert all(vectors[row, k] > 0.5 for k, row in enumerate([3, 1, 4, 0, 2]))


def test_enclosures_of_clusters_are_sharp_and_hold_for_dense_matrices() -> None:
    """A Householder reflection carries diag(1, 1, 1, 4, 4) into a full matrix with the same eigenvalues."""
    w = np.array([1.0, -1.0, 1.0, 1.0, 2.0])  # of length square 8, so that all entries stay dyadic
    reflection = np.eye(5) - np.outer(w, w) / 4.0
    a = reflection @ np.diag([1.0, 1.0, 1.0, 4.0, 4.0]) @ reflection
    m = Arithmetic(BallDomain(128))
    with m.domain.active():
        values, _ = m.eigh(m.literal(a), np.ones((2, 5), np.int64))
    for value, expected in zip(values, [1, 1, 1, 4, 4]):
        assert value.contains(expected)
        assert float(value.rad()) < 1e-30


def test_enclosures_of_clusters_hold_for_every_matrix_in_the_balls() -> None:
    centre, width = np.diag([1.0, 1.0, 2.0]), 2.0**-10
    domain = BallDomain(128)
    with domain.active():
        wide = np.array([[arb(entry, width) for entry in row] for row in centre.tolist()], dtype=object)
        values = enclose_values(wide)
        for signs in ([1, 1, 1], [1, -1, 1], [-1, -1, 1]):
            inside = np.linalg.eigvalsh(centre + width * np.outer(signs, signs))
            assert all(value.contains(arb(float(truth))) for value, truth in zip(values, inside))
