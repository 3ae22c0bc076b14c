"""What is at the bottom of a tracer: an array, or a variable of the jaxpr that is being traced."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jax._src import core
from jax._src.interpreters import ad, batching
from jax._src.interpreters import partial_eval as pe


class UnreadableTracer(NotImplementedError):
    """A tracer that belongs to the middle of a transformation."""


@dataclass(frozen=True, eq=False)
class Level:
    """A `vmap` that is under way. JAX holds all its tags for equal: the object tells them apart."""

    tag: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Level) and self.tag is other.tag

    def __hash__(self) -> int:
        return id(self.tag)


@dataclass(frozen=True, eq=False)
class Bottom:
    """An array or a `Var`, and the axes of it that `vmap`s around the call added."""

    value: Any
    batch_axes: tuple[tuple[Level, int], ...] = ()

    @property
    def is_staged(self) -> bool:
        return isinstance(self.value, core.Var)


def bottom(x: Any) -> Bottom:
    """The value behind every tracer; the derivative that a tracer carries is somebody else's business."""
    axes: list[tuple[Level, int]] = []
    while isinstance(x, core.Tracer):
        if isinstance(x, ad.JVPTracer | ad.LinearizeTracer):
            x = x.primal
        elif isinstance(x, batching.BatchTracer):
            if x.batch_dim is not None:
                place = int(x.batch_dim)  # a `vmap` further out has put its axis among those further in
                axes = [(level, axis + (axis >= place)) for level, axis in axes]
                axes.append((Level(x._trace.tag), place))
            x = x.val
        elif isinstance(x, pe.DynamicJaxprTracer):
            x = x.val
            x = x.val if isinstance(x, core.Literal) else x
        else:
            raise UnreadableTracer(f"a tracer of kind {type(x).__name__} cannot be read")
    return Bottom(x, tuple(axes))


def ground(trace: Any) -> Any:
    """The trace at the bottom: the one that executes, or the one that writes a jaxpr."""
    while (below := _below(trace)) is not None:
        trace = below
    return trace


def is_executing() -> bool:
    """Whether what runs now computes numbers; else it writes a jaxpr."""
    return isinstance(ground(core.trace_ctx.trace), core.EvalTrace)


def lowest(trace: Any) -> Any | None:
    """The trace that stands right on the ground; None where the current one is the ground itself."""
    found = None
    while (below := _below(trace)) is not None:
        found, trace = trace, below
    return found


def _below(trace: Any) -> Any | None:
    """The trace that one hands its work on to; one that writes a jaxpr hands nothing on."""
    return None if isinstance(trace, pe.DynamicJaxprTrace) else getattr(trace, "parent_trace", None)
