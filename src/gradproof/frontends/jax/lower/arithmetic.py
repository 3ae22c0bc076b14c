"""Entrywise arithmetic, and what hands its input on."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.frontends.jax.lower._table import is_discrete, is_fixed, lower, lower_to

lower_to("neg", "neg")
lower_to("square", "square")


def _entrywise(name: str, op: str) -> None:
    """Integers that no input leads to are facts of the run and stay what they were."""

    @lower(name)
    def entrywise(m: Any, event: Any, a: Any, b: Any) -> Any:
        if is_discrete(a) and is_discrete(b) and is_fixed(m, a) and is_fixed(m, b):
            return m.constant(event.outputs[0].array)
        return getattr(m, op)(a, b)


for _name, _op in {"add": "add", "add_any": "add", "sub": "sub", "mul": "mul"}.items():
    _entrywise(_name, _op)


@lower("div")
def _div(m: Any, event: Any, a: Any, b: Any) -> Any:
    return m.constant(event.outputs[0].array) if is_discrete(a) else m.div(a, b)


@lower("rem")
def _rem(m: Any, event: Any, a: Any, b: Any) -> Any:
    if is_discrete(a):
        return m.constant(event.outputs[0].array)
    return a - b * m.cast(m.truncate(a / b), dtype=str(a.value.dtype))


@lower(
    "copy", "copy_p", "name", "optimization_barrier", "device_put", "sharding_constraint", "layout_constraint",
    "reduce_precision", "pvary", "stage", "reshard", "mesh_cast",
)  # fmt: skip
def _same(m: Any, event: Any, *xs: Any) -> Any:
    return tuple(m.identity(x) for x in xs)


lower_to("stop_gradient", "stop_gradient")


@lower("integer_pow")
def _integer_pow(m: Any, event: Any, x: Any) -> Any:
    if is_discrete(x):
        return m.constant(event.outputs[0].array)
    exponent = int(event.attrs["y"])
    if exponent == 2:
        return m.square(x)
    return m.integer_power(x, exponent=exponent)


@lower("pow")
def _pow(m: Any, event: Any, a: Any, b: Any) -> Any:
    if is_discrete(a):
        return m.constant(event.outputs[0].array)
    if is_discrete(b):
        powers = np.unique(np.asarray(b.value))
        if powers.size == 1:
            return m.integer_power(a, exponent=int(powers[0]))
        b = m.cast(b, dtype=str(a.value.dtype))
    return m.power(a, b)


@lower("nextafter")
def _next_after(m: Any, event: Any, a: Any, b: Any) -> Any:
    """The first number and a step to its neighbour, which does not depend on it anywhere near."""
    step = np.asarray(event.outputs[0].array, np.float64) - np.asarray(a.value, np.float64)
    return a + m.literal(step)
