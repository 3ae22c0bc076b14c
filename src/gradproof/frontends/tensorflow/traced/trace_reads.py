"""Python values that become constants when a function is traced: remembered then, compared at every call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from types import CodeType
from typing import Any

from tensorflow.python.eager import context
from tensorflow.python.framework import func_graph
from tensorflow.python.framework.tensor_util import MakeNdarray
from tensorflow.python.ops import script_ops
from tensorflow.python.util import tf_decorator

from gradproof.frontends.frozen.outside_reads import Read, reads_of
from gradproof.frontends.frozen.plain_values import copied, is_plain, numbers_in, occurs, same, shown
from gradproof.frontends.frozen.random_numbers import drawn_from, states_of
from gradproof.frontends.record.patches import Patch, wrap
from gradproof.frontends.tensorflow.observation import TensorFlowObservation
from gradproof.ir.surroundings import Baked

_MARK = "_gradproof_read"
_RUNS = "_gradproof_runs"


@dataclass(frozen=True, eq=False)
class TracedFunction:
    """What a function has read of the program around it: values as they were, generators that it drew from."""

    values: tuple[Read, ...]
    drawn: tuple[Read, ...]


class BakedValues:
    """The hook on tracing; `around` is put around each trace."""

    def __init__(
        self, observation: TensorFlowObservation, around: Callable[[], AbstractContextManager[None]]
    ) -> None:
        self._observation = observation
        self._around = around
        self._later: set[CodeType] = set()  # functions that graphs call back: they read when the graph runs

    def patches(self) -> list[Patch]:
        return [
            wrap(func_graph, "func_graph_from_py_func", self._trace),
            wrap(script_ops, "_internal_py_func", self._python),
        ]

    def _python(self, original: Any, func: Any, *args: Any, **kwargs: Any) -> Any:
        code = getattr(getattr(func, "_func", func), "__code__", None)
        if isinstance(code, CodeType) and not context.executing_eagerly():
            self._later.add(code)
        return original(func, *args, **kwargs)

    def _trace(self, original: Any, name: Any, python_func: Any, *args: Any, **kwargs: Any) -> Any:
        reads = self._reads(python_func)
        states = states_of(reads)
        with self._around():
            graph = original(name, python_func, *args, **kwargs)
        try:
            values = (read for read in self._reads(python_func) if is_plain(read.value))
            kept = tuple(replace(read, value=copied(read.value)) for read in values)
            setattr(graph, _MARK, TracedFunction(kept, tuple(drawn_from(states))))
        except Exception:
            self._observation.note_failure()
        return graph

    def _reads(self, python_func: Any) -> list[Read]:
        try:
            return list(reads_of(tf_decorator.unwrap(python_func)[1], self._later))
        except Exception:
            self._observation.note_failure()
            return []


def was_seen(graph: Any) -> bool:
    """Whether a graph was traced while the hook on tracing was in."""
    return hasattr(graph, _MARK)


def baked_in(graphs: Sequence[Any], name: str) -> Iterator[Baked]:
    """The values that graphs were traced with and that are others by now; asked once in every call that is checked."""
    for graph in graphs:
        traced = getattr(graph, _MARK, None)
        if traced is None:
            continue
        numbers: set[float] | None = None
        for read in traced.values:
            now = read.now()
            if not is_plain(now) or same(read.value, now):
                continue
            if numbers is None:
                numbers = _constants(graph)
            if occurs(read.value, numbers):
                yield Baked(name, read.name, repr(shown(read.value)), repr(shown(now)), read.span)
        runs = getattr(graph, _RUNS, 0) + 1
        setattr(graph, _RUNS, runs)
        for read in traced.drawn if runs > 1 else ():
            yield Baked(name, read.name, "", "", read.span, is_drawn=True)


def _constants(graph: Any) -> set[float]:
    """The numbers that occur in a graph."""
    found: set[float] = set()
    for operation in graph.get_operations():
        if operation.type == "Const":
            found |= numbers_in(MakeNdarray(operation.get_attr("value")))
    return found
