"""Computing one of JAX's primitives again by itself, in float64, where nothing of the user's program notices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax._src import dispatch

from gradproof.errors import GradproofError
from gradproof.frontends.after.sandbox import sandbox
from gradproof.frontends.jax.observe.effects import require_harmless
from gradproof.frontends.record.model import OpEvent
from gradproof.ir import types
from gradproof.ir.types import Array

PRIMITIVE = "gradproof.primitive"
"""The attribute of an event that holds the primitive itself."""
# What runs code of the user's, has effects or draws numbers is not run again.
_NOT_AGAIN = (
    "callback",
    "random",
    "rng",
    "ffi_call",
    "debug",
    "ref",
    "infeed",
    "outfeed",
    "custom",
    "shard_map",
)


def kernel_of(event: OpEvent, output: int) -> PrimitiveKernel | CallbackKernel | None:
    """The primitive of an event as a function; None if running it again could be noticed."""
    primitive: Any = event.attrs.get(PRIMITIVE)
    if event.op == "pure_callback":
        return _callback_of(event, output)
    if primitive is None or any(mark in event.op for mark in _NOT_AGAIN):
        return None
    if (
        getattr(primitive.impl, "func", None) is not dispatch.apply_primitive
    ):  # it runs code that is not JAX's
        return None
    if not types.is_real(event.outputs[output].dtype):
        return None
    if any(value.array is None or types.is_complex(value.dtype) for value in event.inputs):
        return None
    return PrimitiveKernel(event, output)


def _callback_of(event: OpEvent, output: int) -> CallbackKernel | None:
    """Code of the user's that JAX calls, if it can be shown to have no effects."""
    try:
        require_harmless(event.op, event.attrs)
    except GradproofError:
        return None
    dtypes = [event.outputs[output].dtype, *(value.dtype for value in event.inputs)]
    is_known = not any(map(types.is_complex, dtypes)) and types.is_real(dtypes[0])
    return CallbackKernel(event, output) if is_known else None


def _widened(as_array: Callable[..., Any], xs: Sequence[Array], event: OpEvent) -> list[Any]:
    """Real numbers in float64, all others as the event had them."""
    wide = (np.float64 if types.is_real(value.dtype) else value.dtype for value in event.inputs)
    return [as_array(x, dtype) for x, dtype in zip(xs, wide)]


@dataclass(frozen=True, eq=False)
class CallbackKernel:
    """One result of a function of the user's, called with wider numbers than it was given."""

    event: OpEvent
    output: int
    dtype: str = "float64"

    def __call__(self, *xs: Array) -> Array:
        callback: Any = self.event.attrs["callback"]
        try:
            with sandbox():
                made = callback(*_widened(np.asarray, xs, self.event))
        except Exception as error:  # outside what the function accepts: it has no value there
            raise ValueError(str(error)) from error
        return np.asarray(made[self.output])

    def rule(self, gy: Array, *xs: Array) -> Sequence[Array | None] | None:
        return None


@dataclass(frozen=True, eq=False)
class PrimitiveKernel:
    """One output of one primitive with the parameters it had; see `gradproof.ir.kernel`."""

    event: OpEvent
    output: int
    dtype: str = "float64"

    def __call__(self, *xs: Array) -> Array:
        from gradproof.frontends.jax.observe.hooks import unobserved

        primitive: Any = self.event.attrs[PRIMITIVE]
        params = {key: value for key, value in self.event.attrs.items() if not key.startswith("gradproof.")}
        with unobserved(), jax.enable_x64(True):
            inputs = _widened(jnp.asarray, xs, self.event)
            try:
                made = primitive.bind(*inputs, **params)
            except Exception as error:  # outside what the primitive accepts: it has no value there
                raise ValueError(str(error)) from error
            return np.asarray(made[self.output] if primitive.multiple_results else made)

    def rule(self, gy: Array, *xs: Array) -> Sequence[Array | None] | None:
        return None
