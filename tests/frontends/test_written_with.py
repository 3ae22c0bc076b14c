"""The framework that a function is written with is told from the names that it reads."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from gradproof.frontends.written_with import framework_of

tf = pytest.importorskip("tensorflow")
torch = pytest.importorskip("torch")
jnp = pytest.importorskip("jax.numpy")


def _helper(x: Any) -> Any:
    return torch.exp(x)


def _by_helper(x: Any) -> Any:
    return sum(_helper(one) for one in x)


class _Model:
    def loss(self, x: Any) -> Any:
        return torch.sum(x)

    def __call__(self, x: Any) -> Any:
        return torch.sin(x)


def _twice(x: Any) -> Any:
    return _twice(x) if x is None else np.sum(x)


def test_one_framework_is_told() -> None:
    import jax

    assert framework_of(lambda x: tf.reduce_sum(x)) == "tensorflow"
    assert framework_of(lambda x: [torch.exp(one) for one in x]) == "torch"
    assert framework_of(lambda x: np.pi * jnp.sum(x)) == "jax"
    assert framework_of(_by_helper) == "torch"
    assert framework_of(jax.jit(lambda x: x * x)) == "jax"
    assert framework_of(tf.function(lambda x: x * x)) == "tensorflow"
    assert framework_of(torch.nn.Linear(1, 1)) == "torch"
    assert framework_of(partial(partial(_by_helper), 3)) == framework_of(_Model().loss) == "torch"
    assert framework_of(_Model()) == "torch"


def test_numpy_is_taken_where_none_or_several_are_read() -> None:
    assert framework_of(lambda x: x * x) == "numpy"
    assert framework_of(lambda x: np.sum(x)) == framework_of(_twice) == framework_of(np.sum) == "numpy"
    assert framework_of(lambda x: tf.constant(torch.exp(x))) == "numpy"
    assert framework_of(partial(max, 3)) == "numpy"
