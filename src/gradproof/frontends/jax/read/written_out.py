"""Primitives that stand for a computation of simpler ones: it is written out, and run like any other body.

Reductions whose step the program gives itself are folds, taken in the order in which CPUs take them; products of ragged
groups are products with zeros, as JAX itself computes them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from functools import partial
from types import FunctionType
from typing import TYPE_CHECKING, Any

import jax
from jax import lax
from jax._src import core
from jax._src.lax.lax import _ragged_dot_general_impl

from gradproof.frontends.record.model import Value

if TYPE_CHECKING:
    from gradproof.frontends.jax.read.interpret import JaxprInterpreter
    from gradproof.frontends.jax.read.where import Where


def written_out(function: Callable[..., Any]) -> Callable[..., list[Value]]:
    """`function` is given the parameters of a primitive and what it was given, and computes the same."""

    def body(run: JaxprInterpreter, params: Any, inputs: list[Value], where: Where) -> list[Value]:
        given = [run.values.array(value) for value in inputs]
        return run.run_closed(jax.make_jaxpr(lambda *xs: function(params, *xs))(*given), inputs, where)

    return body


def reduction(params: Any, *given: Any) -> Any:
    """`lax.reduce` with a step of the program's own."""
    operands, starts = given[: len(given) // 2], given[len(given) // 2 :]
    axes = params["dimensions"]
    rest = [axis for axis in range(operands[0].ndim) if axis not in axes]
    shape = tuple(operands[0].shape[axis] for axis in rest)
    flat = [lax.transpose(x, (*axes, *rest)).reshape(-1, *shape) for x in operands]
    n = math.prod(operands[0].shape[axis] for axis in axes)
    rows = ([lax.index_in_dim(x, k, keepdims=False) for x in flat] for k in range(n))
    return _folded(params["jaxpr"].jaxpr, params["jaxpr"].consts, starts, shape, rows)


def window_reduction(params: Any, *given: Any) -> Any:
    """`lax.reduce_window` with one: what lies at the same place of every window is taken at once."""
    operands, starts = given[: len(given) // 2], given[len(given) // 2 :]
    window, strides = params["window_dimensions"], params["window_strides"]
    spread = params["window_dilation"]
    edges = [(low, high, gap - 1) for (low, high), gap in zip(params["padding"], params["base_dilation"])]
    padded = [lax.pad(x, start, edges) for x, start in zip(operands, starts)]
    reach = [(n - 1) * gap + 1 for n, gap in zip(window, spread)]
    shape = tuple((n - far) // step + 1 for n, far, step in zip(padded[0].shape, reach, strides))

    def at(x: Any, place: Sequence[int]) -> Any:
        begin = [k * gap for k, gap in zip(place, spread)]
        end = [first + (n - 1) * step + 1 for first, n, step in zip(begin, shape, strides)]
        return lax.slice(x, begin, end, strides)

    places = itertools.product(*map(range, window))
    rows = ([at(x, place) for x in padded] for place in places)
    return _folded(params["jaxpr"], params["consts"], starts, shape, rows)


def _folded(jaxpr: Any, consts: Sequence[Any], starts: Any, shape: tuple[int, ...], rows: Any) -> list[Any]:
    """One step after another from the start, for all entries of the result at once."""

    def step(*pair: Any) -> Any:
        return core.eval_jaxpr(jaxpr, consts, *pair)

    for _ in shape:
        step = jax.vmap(step)
    found = [lax.broadcast(start, shape) for start in starts]
    for row in rows:
        found = step(*found, *row)
    return found


def ragged_product(params: Any, *given: Any) -> Any:
    return [_ragged_dot_general_impl(*given, **params)]


def of_a_library(primitive: Any, params: Any, given: Sequence[Any]) -> Any:
    """The jaxpr of a primitive that is not JAX's own: what its Python function computes, if that can be traced."""
    impl = primitive.impl
    if not isinstance(impl, FunctionType) or impl.__module__.startswith("jax."):
        return None
    try:
        closed = jax.make_jaxpr(partial(impl, **params))(*given)
    except Exception:  # it needs numbers, or does what no jaxpr can say: it stays opaque
        return None
    is_itself = any(equation.primitive is primitive for equation in closed.jaxpr.eqns)
    return None if is_itself or closed.effects else closed
