"""A loss that takes logits and is given probabilities is told of, also where nothing is saturated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradproof as gp

SCORES = np.array([[0.3, 1.5, -0.4], [-1.2, 0.1, 0.2]], np.float32)


def _told(function: Callable[[Any], Any], given: Any) -> list[str]:
    found = [one for one in gp.check(function, given).diagnostics if one.severity != "note"]
    assert all(one.kind == "vanishing" and one.severity == "warning" for one in found), found
    return [one.headline for one in found]


def _twice(name: str) -> list[str]:
    return [f"this loss takes logits and is given probabilities, so that {name} is applied twice"]


def _softmax(z: Any, axis: int = 1) -> Any:
    exponents = np.exp(z)
    return exponents / np.sum(exponents, axis=axis, keepdims=True)


def _log_softmax(z: Any, axis: int = 1) -> Any:
    shifted = z - np.max(z, axis=axis, keepdims=True)
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))


BY_HAND: dict[str, tuple[bool, Callable[[Any], Any]]] = {
    "twice": (True, lambda z: -np.mean(_log_softmax(_softmax(z))[:, 0])),
    "without a shift": (True, lambda z: -np.mean(np.log(_softmax(_softmax(z)))[:, 0])),
    "once": (False, lambda z: -np.mean(_log_softmax(z)[:, 0])),
    "by rows and by columns": (False, lambda z: np.sum(np.sin(_softmax(_softmax(z, 1), 0)))),
    "a scale between them": (False, lambda z: -np.mean(_log_softmax(_softmax(z) * 10.0)[:, 0])),
    "weights between them": (False, lambda z: -np.mean(_log_softmax(_softmax(z) @ SCORES.T)[:, 0])),
    "a logarithm is handed on": (False, lambda z: -np.mean(_log_softmax(_log_softmax(z))[:, 0])),
    "a mixture": (False, lambda z: -np.mean(_log_softmax(_softmax(z) - _softmax(2 * z))[:, 0])),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_a_softmax_of_a_softmax_by_hand(name: str) -> None:
    is_told, loss = BY_HAND[name]
    assert _told(loss, SCORES.astype(np.float64)) == (_twice("softmax") if is_told else [])


def test_numbers_and_lines_of_both_are_shown() -> None:
    def loss(z: Any) -> Any:
        p = _softmax(z)
        return -np.mean(_log_softmax(p)[:, 0])

    [found] = gp.check(loss, SCORES.astype(np.float64)).diagnostics
    assert dict(found.evidence) == {"given": "0.1 to 0.69", "can return": "0.16 to 0.58"}
    assert "between 0.16 and 0.58" in found.why
    assert len(found.secondary) == 1
    assert found.fix is not None and "so leave out the one before it" in found.fix.text


def test_jax() -> None:
    jax = pytest.importorskip("jax")
    nn, jnp = jax.nn, jax.numpy
    given = jnp.asarray(SCORES)
    assert _told(lambda z: -jnp.mean(nn.log_softmax(nn.softmax(z))[:, 0]), given) == _twice("softmax")
    assert _told(lambda z: -jnp.mean(nn.log_sigmoid(nn.sigmoid(z))), given) == _twice("sigmoid")
    assert not _told(lambda z: -jnp.mean(nn.log_sigmoid(nn.sigmoid(z) * 3.0)), given)
    assert not _told(lambda z: jnp.sum(jnp.exp(nn.sigmoid(z))), given)


@pytest.mark.torch
def test_pytorch() -> None:
    torch = pytest.importorskip("torch")
    losses, given = torch.nn.functional, torch.tensor(SCORES)
    labels, ones = torch.tensor([0, 2]), torch.ones(2, 3)
    assert _told(lambda z: losses.cross_entropy(z.softmax(1), labels), given) == _twice("softmax")
    assert not _told(lambda z: losses.cross_entropy(z, labels), given)
    assert not _told(lambda z: losses.nll_loss(z.softmax(1).log(), labels), given)
    with_logits = losses.binary_cross_entropy_with_logits
    assert _told(lambda z: with_logits(z.sigmoid(), ones), given) == _twice("sigmoid")
    assert not _told(lambda z: losses.binary_cross_entropy(z.sigmoid(), ones), given)


def test_keras() -> None:
    tf = pytest.importorskip("tensorflow")
    losses, given = tf.keras.losses, tf.constant(SCORES)
    for is_told in (True, False):
        classes = losses.SparseCategoricalCrossentropy(from_logits=is_told)
        yes_or_no = losses.BinaryCrossentropy(from_logits=is_told)
        told = _told(lambda z, loss=classes: loss(tf.constant([0, 2]), tf.nn.softmax(z)), given)
        assert told == (_twice("softmax") if is_told else [])
        told = _told(lambda z, loss=yes_or_no: loss(tf.ones((2, 3)), tf.sigmoid(z)), given)
        assert told == (_twice("sigmoid") if is_told else [])


def test_a_saturated_layer_before_the_last_one_is_not_told_to_be_left_out() -> None:
    jax = pytest.importorskip("jax")
    jnp = jax.numpy
    weights = jnp.array([[0.3, -0.5], [1.0, 0.2], [-0.7, 0.4]])

    def loss(x: Any) -> Any:
        return -jnp.mean(jax.nn.log_softmax(jax.nn.sigmoid(x) @ weights)[:, 0])

    [found] = gp.check(loss, jnp.full((2, 3), 200.0)).diagnostics
    assert found.headline.endswith("`sigmoid` is saturated")
    assert found.fix is not None and found.fix.text.startswith("keep what goes into it near 0")
