"""The bottom trace that executes what an eager gradient call computes, and keeps a note of every primitive."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from jax._src import core, source_info_util
from jax._src.lax.lax import copy_p

from gradproof.frontends.jax.observe.elsewhere import computes_elsewhere
from gradproof.frontends.jax.observe.twin import apart
from gradproof.frontends.record.source import Place, is_users, user_places

numbers = itertools.count(1)
"""Serial numbers of events, arrays, calls and scopes: unique in the process, ordered in time."""

MOST_EVENTS = 200_000  # a call with more primitives is not judged, and says so


@dataclass(slots=True, eq=False)
class JaxEvent:
    """One primitive that was executed, with the arrays as they were passed."""

    index: int
    primitive: Any
    params: dict[str, Any]
    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]
    places: tuple[Place, ...]
    stack: str  # JAX's own name stack
    within: tuple[int, ...] = ()
    codes: tuple[Any, ...] = ()  # of the library's functions on the way to the user's line


@dataclass(frozen=True)
class JaxCall:
    """A function with a derivative of its own that ran as it is; what it ran was noted before it."""

    name: str = "gradproof.call"
    multiple_results: bool = True


@dataclass(eq=False)
class JaxCollection:
    """What one call of `linearize` or `jvp`, or one pullback, executed."""

    events: list[JaxEvent] = field(default_factory=list)
    is_cut: bool = False

    def append(self, event: JaxEvent) -> None:
        if len(self.events) < MOST_EVENTS:
            self.events.append(event)
        else:
            self.is_cut = True


class RecordTrace(core.EvalTrace):  # type: ignore[misc]  # JAX's internals have no types
    """Executes as JAX itself would, and tells `note` about it afterwards."""

    def __init__(self, note: Callable[..., None]) -> None:
        super().__init__()
        self._note = note

    def process_primitive(self, primitive: Any, args: Any, params: Any, /) -> Any:
        with core.set_current_trace(core.eval_trace):
            out = super().process_primitive(primitive, args, params)
        several = primitive.multiple_results
        outputs = apart(list(out) if several else [out], args)
        self._note(primitive, args, params, outputs)
        return outputs if several else outputs[0]

    # JAX runs what is inside of these on the plain trace: it is to be heard as well.

    def process_call(self, primitive: Any, f: Any, tracers: Any, params: Any, /) -> Any:
        with core.set_current_trace(self):
            return f.call_wrapped(*tracers)

    def process_custom_jvp_call(
        self, primitive: Any, fun: Any, jvp: Any, tracers: Any, /, **params: Any
    ) -> Any:
        with core.set_current_trace(self):
            results = list(fun.call_wrapped(*tracers))
        outputs = apart(results, tracers)
        for result, output in zip(results, outputs):
            if output is not result:
                self._note(copy_p, (result,), {}, (output,))
        params = {"function": fun.debug_info.func_src_info, "name": fun.debug_info.func_name, "rule": jvp}
        params["is_heard"] = not (any(isinstance(x, float) for x in tracers) and computes_elsewhere(fun.f))
        self._note(JaxCall(), tracers, params, outputs)
        return outputs

    def process_custom_vjp_call(
        self, primitive: Any, fun: Any, fwd: Any, bwd: Any, tracers: Any, /, **params: Any
    ) -> Any:
        with core.set_current_trace(self):
            return fun.call_wrapped(*tracers)

    def process_shard_map(self, primitive: Any, f: Any, tracers: Any, /, **params: Any) -> Any:
        """Its devices run by themselves, where nobody hears them: what went in and came out is known."""
        with core.set_current_trace(core.eval_trace):
            outputs = super().process_shard_map(primitive, f, tracers, **params)
        self._note(primitive, tracers, {}, outputs)
        return outputs


def places_here(depth: int) -> tuple[Place, ...]:
    """The user's line that is being executed; going backward, the line that is being differentiated."""
    traceback = source_info_util._source_info_context.context.traceback
    if traceback is None:
        return user_places(sys._getframe(depth + 1))
    return places_of(traceback)


def codes_here(depth: int) -> tuple[Any, ...]:
    """The functions between here and the user's line."""
    traceback = source_info_util._source_info_context.context.traceback
    if traceback is not None:
        return tuple(takewhile(lambda code: not is_users(code.co_filename), traceback.raw_frames()[0]))
    found = []
    frame: Any = sys._getframe(depth + 1)
    while frame is not None and not is_users(frame.f_code.co_filename):
        found.append(frame.f_code)
        frame = frame.f_back
    return tuple(found)


def places_of(traceback: Any) -> tuple[Place, ...]:
    """The user's frames of one of JAX's tracebacks, innermost first."""
    if traceback is None:
        return ()
    codes, offsets = traceback.raw_frames()
    return tuple(place for place in zip(codes, offsets) if is_users(place[0].co_filename))
