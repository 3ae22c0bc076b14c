"""Python values that become constants when a function is traced: remembered then, compared at every call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from tensorflow.python.framework import func_graph
from tensorflow.python.framework.tensor_util import MakeNdarray
from tensorflow.python.util import tf_decorator

from gradproof.frontends.tensorflow.baked_random import drawn_from, states_of
from gradproof.frontends.tensorflow.observation import Observation
from gradproof.frontends.tensorflow.outside_reads import Read, reads_of
from gradproof.frontends.tensorflow.patches import Patch, wrap
from gradproof.ir.capture import Baked

_MARK = "_gradproof_read"
_RUNS = "_gradproof_runs"
MOST_ITEMS = 16  # of a list or array; a longer one is data, not a setting
COMMON = 4  # axes, ranks and small sizes
_PLAIN = (bool, int, float, complex, str)


@dataclass(frozen=True, eq=False)
class Traced:
    """What a function has read of the program around it: values as they were, generators that it drew from."""

    values: tuple[Read, ...]
    drawn: tuple[Read, ...]


class BakedValues:
    """The hook on tracing; `around` is put around each trace."""

    def __init__(self, observation: Observation, around: Callable[[], AbstractContextManager[None]]) -> None:
        self._observation = observation
        self._around = around

    def patches(self) -> list[Patch]:
        return [wrap(func_graph, "func_graph_from_py_func", self._trace)]

    def _trace(self, original: Any, name: Any, python_func: Any, *args: Any, **kwargs: Any) -> Any:
        reads = self._reads(python_func)
        states = states_of(reads)
        with self._around():
            graph = original(name, python_func, *args, **kwargs)
        try:
            values = (read for read in self._reads(python_func) if _is_plain(read.value))
            kept = tuple(replace(read, value=_copy(read.value)) for read in values)
            setattr(graph, _MARK, Traced(kept, tuple(drawn_from(states))))
        except Exception:
            self._observation.note_failure()
        return graph

    def _reads(self, python_func: Any) -> list[Read]:
        try:
            return list(reads_of(tf_decorator.unwrap(python_func)[1]))
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
            if not _is_plain(now) or _same(read.value, now):
                continue
            if numbers is None:
                numbers = _constants(graph)
            if _occurs(read.value, numbers):
                yield Baked(name, read.name, repr(_shown(read.value)), repr(_shown(now)), read.span)
        runs = getattr(graph, _RUNS, 0) + 1
        setattr(graph, _RUNS, runs)
        for read in traced.drawn if runs > 1 else ():
            yield Baked(name, read.name, "", "", read.span, is_drawn=True)


def _is_plain(value: Any) -> bool:
    if isinstance(value, (*_PLAIN, np.generic)):
        return True
    if isinstance(value, np.ndarray):
        return value.size <= MOST_ITEMS and value.dtype.kind in "biuf"
    return (
        isinstance(value, list | tuple)
        and len(value) <= MOST_ITEMS
        and all(isinstance(x, _PLAIN) for x in value)
    )


def _copy(value: Any) -> Any:
    return (
        np.array(value)
        if isinstance(value, np.ndarray)
        else list(value)
        if isinstance(value, list)
        else value
    )


def _shown(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def _same(before: Any, now: Any) -> bool:
    return type(_shown(before)) is type(_shown(now)) and bool(_shown(before) == _shown(now))


def _constants(graph: Any) -> set[float]:
    """The numbers that occur in a graph. Small integers do so everywhere, as axes and sizes: they prove nothing."""
    found: set[float] = set()
    for operation in graph.get_operations():
        value = MakeNdarray(operation.get_attr("value")) if operation.type == "Const" else None
        if value is None or value.size > MOST_ITEMS or value.dtype.kind not in "biuf":
            continue
        numbers = [float(x) for x in value.reshape(-1)]
        if value.dtype.kind != "f":
            numbers = [x for x in numbers if abs(x) > COMMON]
        found.update(numbers)
        found.update(float(np.float32(x)) for x in numbers)
    return found


def _occurs(value: Any, numbers: set[float]) -> bool:
    """Whether the value has left a trace in the graph; a flag or a name leaves none, but decides what is traced."""
    if isinstance(value, bool | str):
        return True
    items = np.asarray(_shown(value)).reshape(-1)
    if items.dtype.kind not in "biuf":
        return False
    return all(float(x) in numbers or float(np.float32(x)) in numbers for x in items)
