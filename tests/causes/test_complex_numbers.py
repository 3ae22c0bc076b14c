"""Evidence about complex numbers shows both parts: what differs in one only must be seen to differ."""

from __future__ import annotations

import pytest

tf = pytest.importorskip("tensorflow")

import gradproof

pytestmark = pytest.mark.tensorflow


def test_a_rule_that_forgets_to_conjugate_shows_both_parts() -> None:
    z = tf.constant([1 + 2j, 3 - 1j, 0.5 + 1j], tf.complex128)
    (found,) = gradproof.check(lambda z: tf.math.real(tf.math.cumprod(z)[-1]), z).gradients
    assert found.verdict.value == "wrong"
    (diagnostic,) = found.diagnostics
    numbers = [text for _, text in diagnostic.evidence]
    assert any("5.0+5.0i" in text for text in numbers), numbers
    assert any("5.0-5.0i" in text for text in numbers), numbers
