"""Small programs as users write them, in whose derivatives faults are planted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradproof.engine.trace import Traced, Tracer
from gradproof.ir import types
from gradproof.ir.program import Builder, Program

Array = np.ndarray[Any, Any]


def build(name: str, dtype: str) -> Program:
    function, shapes = PROGRAMS[name]
    builder = Builder()
    m = Tracer(builder, phase="forward")
    rng = np.random.default_rng(7)
    inputs = []
    for shape in shapes:
        value = rng.uniform(0.4, 1.6, shape).astype(types.numpy_dtype(dtype))
        inputs.append(Traced(m, builder.input(value), value))
    return builder.build([_scalar(m, function(m, *inputs)).id])


def _scalar(m: Any, y: Any) -> Any:
    """Summed with unequal weights, so that no two entries of an upstream gradient are alike."""
    if y.ndim == 0:
        return y
    weights = 1.0 + 0.25 * np.arange(y.value.size).reshape(y.shape)
    return m.sum(m.mul(y, m.constant(weights.astype(y.value.dtype))), axes=tuple(range(y.ndim)))


def _network(m: Any, x: Any, w: Any, b: Any) -> Any:
    return m.square(m.tanh(m.matmul(x, w) + b))


def _softplus(m: Any, x: Any) -> Any:
    return m.log(1 + m.exp(x))


def _broadcast_product(m: Any, x: Any, y: Any) -> Any:
    return m.mul(m.mul(x, y), m.exp(x))


def _quotient(m: Any, a: Any, b: Any) -> Any:
    return m.div(a, m.square(b) + a)


def _relu_network(m: Any, x: Any, w: Any) -> Any:
    h = m.matmul(x, w) - 2.0
    return m.mul(m.select(m.greater(h, m.zeros(())), h, m.mul(h, 0.125)), h)


def _normalised(m: Any, x: Any) -> Any:
    centred = x - m.broadcast(m.reshape(m.mean(x, axes=(1,)), shape=(3, 1)), shape=(3, 4))
    spread = m.sqrt(m.mean(m.square(centred), axes=(1,)))
    return m.exp(centred / m.reshape(spread, shape=(3, 1)))


def _attention(m: Any, q: Any, k: Any, v: Any) -> Any:
    scores = m.exp(m.matmul(q, m.transpose(k, order=(1, 0))))
    return m.matmul(scores / m.reshape(m.sum(scores, axes=(1,)), shape=(3, 1)), v)


def _square_chain(m: Any, a: Any, b: Any) -> Any:
    return m.matmul(m.matmul(a, b), a)


def _waves(m: Any, x: Any, y: Any) -> Any:
    return m.mul(m.sin(x), m.cos(m.mul(x, y)))


def _picked(m: Any, x: Any) -> Any:
    rows = m.take(x, np.array([2, 0, 2]), axis=0)
    return m.square(m.concat(rows, m.strided_slice(x, begin=(1, 0), end=(3, 3)), axis=0))


def _powers(m: Any, x: Any) -> Any:
    return m.reciprocal(m.integer_power(x, exponent=3) + m.sqrt(x))


def _equations(m: Any, a: Any, b: Any) -> Any:
    return m.square(m.solve(a + m.constant((4.0 * np.eye(3)).astype(a.value.dtype)), b))


def _clipped(m: Any, x: Any) -> Any:
    top = m.constant(np.asarray(1.0, x.value.dtype))
    return m.square(m.select(m.less(x, top), m.exp(x), m.mul(x, 3.0)))


def _images(m: Any, x: Any, kernel: Any) -> Any:
    return m.square(m.sum(m.mul(m.reshape(x, shape=(4, 1, 3)), kernel), axes=(2,)))


def _distances(m: Any, x: Any, y: Any) -> Any:
    difference = m.reshape(x, shape=(3, 1, 2)) - m.reshape(y, shape=(1, 2, 2))
    return m.log(1 + m.sum(m.square(difference), axes=(2,)))


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[tuple[int, ...], ...]]] = {
    "network": (_network, ((3, 2), (2, 3), (3,))),
    "softplus": (_softplus, ((4,),)),
    "broadcast product": (_broadcast_product, ((3, 1), (1, 4))),
    "quotient": (_quotient, ((3,), (2, 3))),
    "relu network": (_relu_network, ((3, 2), (2, 4))),
    "normalised": (_normalised, ((3, 4),)),
    "attention": (_attention, ((3, 2), (3, 2), (3, 2))),
    "square chain": (_square_chain, ((3, 3), (3, 3))),
    "waves": (_waves, ((3,), ())),
    "picked": (_picked, ((3, 3),)),
    "powers": (_powers, ((4,),)),
    "equations": (_equations, ((3, 3), (3, 2))),
    "clipped": (_clipped, ((5,),)),
    "images": (_images, ((4, 3), (2, 3))),
    "distances": (_distances, ((3, 2), (2, 2))),
}
