"""`custom_root`: the solution u of F(m, u) = 0 as a function of m, whatever algorithm has found it.

Through what was found there leads one implicit function: F(m, u) stays what it was. Newton's step from a point of it
has its first derivative, and a second step its second and third: two of them are its meaning in ops that have one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax._src import core
from jax._src.lax.control_flow.solves import _RootTuple
from jax._src.linear_util import WrappedFun
from jax.flatten_util import ravel_pytree

from gradproof.frontends.jax.observe.effects import is_noticed

ROOT = "_custom_root"  # JAX's own function behind it
STEPS = 2
FOUND = 1e-3  # of the solution: Newton's step is smaller where an algorithm has come to its end
_DEEPEST = 9  # closures that JAX puts around the arguments of a rule


@dataclass(frozen=True)
class RootEquation:
    """The equation of one call: its jaxpr, how many of the arguments are constants of it, and of the call in all."""

    equation: Any
    n_own: int
    n_constants: int

    def solved(self, arguments: Sequence[Any], solution: Sequence[Any]) -> Any:
        """A jaxpr of the solution as a function of the arguments; None where it is none."""
        parts = [*arguments[: self.n_own], *solution[: len(self.equation.out_avals)]]
        axes = [_batch(part, aval) for part, aval in zip(parts, self.equation.in_avals)]
        if any(axis is NotImplemented for axis in axes):
            return None
        function = self._implicit if set(axes) <= {None} else jax.vmap(self._implicit, axes)
        closed = jax.make_jaxpr(function)(*parts)
        n_results = len(closed.jaxpr.outvars) // 2
        steps = core.eval_jaxpr(closed.jaxpr, closed.consts, *parts)[n_results:]
        size = max(map(_largest, (*solution, *arguments[self.n_constants :])))
        if not all(_largest(step) <= FOUND * size for step in steps):
            return None
        return core.ClosedJaxpr(closed.jaxpr.replace(outvars=closed.jaxpr.outvars[:n_results]), closed.consts)

    def _implicit(self, *parts: Any) -> list[Any]:
        """The implicit function, and beside it Newton's step to the solution itself."""
        own = parts[: self.n_own]
        found, shaped = ravel_pytree(list(parts[self.n_own :]))

        def equation(u: Any) -> Any:
            made = core.eval_jaxpr(self.equation.jaxpr, self.equation.consts, *own, *shaped(u))
            return ravel_pytree(made)[0]

        u = lax.stop_gradient(found)
        level = lax.stop_gradient(equation(u))
        to_zero = jnp.linalg.solve(jax.jacfwd(equation)(u), level)
        for _ in range(STEPS):
            u = u - jnp.linalg.solve(jax.jacfwd(equation)(u), equation(u) - level)
        return [*shaped(u), *shaped(to_zero)]


def _largest(part: Any) -> float:
    return float(np.max(np.abs(np.asarray(part)), initial=0.0))


def _batch(part: Any, aval: Any) -> Any:
    """The axis along which there are many of what the equation takes one of."""
    shape = np.shape(part)
    if shape == aval.shape:
        return None
    return 0 if shape[1:] == aval.shape else NotImplemented


def root_in(held: Any) -> RootEquation | None:
    """The equation that a call of `custom_root` keeps in its rule."""
    tuples = [one for one in held_in(held) if isinstance(one, _RootTuple)]
    lengths = next((one for one in tuples if isinstance(one.f, int)), None)
    jaxprs = next((one for one in tuples if isinstance(one.f, core.ClosedJaxpr)), None)
    if lengths is None or jaxprs is None or is_noticed(jaxprs.f.jaxpr):
        return None
    return RootEquation(jaxprs.f, lengths.f, sum(lengths))


def held_in(held: Any) -> Iterator[Any]:
    """What a rule of JAX's making holds, the user's functions among it."""
    return _kept(held, _DEEPEST, set())


def _kept(held: Any, depth: int, seen: set[int]) -> Iterator[Any]:
    """What functions that JAX has wrapped hold in their closures and arguments."""
    if id(held) in seen:
        return
    seen.add(id(held))
    yield held
    inner: Sequence[Any] = ()
    if isinstance(held, WrappedFun):
        inner = [held.f, *(arguments for _, arguments in held.transforms)]
    elif isinstance(held, FunctionType):
        inner = [cell.cell_contents for cell in held.__closure__ or () if not _is_empty(cell)]
    elif isinstance(held, tuple) and not isinstance(held, _RootTuple):
        inner = held
    elif hasattr(held, "val"):
        inner = [held.val]
    for one in inner if depth else ():
        yield from _kept(one, depth - 1, seen)


def _is_empty(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018  # an empty one raises
    except ValueError:
        return True
    return False
