"""What a check has read and made goes when it is over, and does not wait until Python looks for cycles."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradproof

X = np.linspace(-1.0, 1.0, 12, dtype=np.float32).reshape(3, 4)
HOLD_NUMBERS = ("Node", "Record", "EngineRun", "GradientCall")  # those of our classes that do


def _numpy() -> Any:
    x = gradproof.Variable(X)
    with gradproof.GradientTape() as tape:
        y = np.sum(np.tanh(x) ** 2)
    return tape.gradient(y, x)


def _torch() -> Any:
    import torch

    x = torch.tensor(X, requires_grad=True)
    (torch.tanh(x) ** 2).sum().backward()
    return x.grad


def _jax() -> Any:
    import jax
    import jax.numpy as jnp

    return jax.grad(lambda x: jnp.sum(jnp.tanh(x) ** 2))(jnp.asarray(X))


def _tensorflow() -> Any:
    import tensorflow as tf

    x = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.tanh(x) ** 2)
    return tape.gradient(y, x)


@pytest.mark.parametrize(
    ("framework", "step"),
    [
        ("numpy", _numpy),
        pytest.param("torch", _torch, marks=pytest.mark.torch),
        ("jax", _jax),
        pytest.param("tensorflow", _tensorflow, marks=pytest.mark.tensorflow),
    ],
)
def test_a_kept_step_leaves_nothing_to_the_collector(
    framework: str, step: Callable[[], Any], tmp_path: Path
) -> None:
    pytest.importorskip(framework)
    with gradproof.watch(checks="all", defer=tmp_path / "kept"):
        step()  # there is something that is made once
        gc.collect()
        gc.disable()
        try:
            before = _held()
            step()
            assert _held() == before
        finally:
            gc.enable()


def _held() -> dict[str, int]:
    kinds = [type(one).__name__ for one in gc.get_objects()]
    return {name: kinds.count(name) for name in HOLD_NUMBERS}
