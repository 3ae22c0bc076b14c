"""Gradients that nobody checks are looked at in silence."""

from __future__ import annotations

import warnings

import pytest

tf = pytest.importorskip("tensorflow")

pytestmark = pytest.mark.tensorflow


def test_large_and_infinite_gradients_are_told_apart_without_a_warning() -> None:
    from gradproof.frontends.tensorflow.eager.finite import all_finite

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert all_finite([tf.constant([1e30, 1e30])])  # its square is beyond float32
        assert not all_finite([tf.constant([1.0, float("inf")])])
        assert not all_finite([tf.constant([float("nan")])])
