"""Python values that become constants when a function is traced: remembered then, compared at every call."""

from __future__ import annotations

import dis
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

import numpy as np
from tensorflow.python.framework import func_graph
from tensorflow.python.util import tf_decorator

from gradproof.frontends.tensorflow.observation import Observation
from gradproof.frontends.tensorflow.patches import Patch, wrap
from gradproof.frontends.tensorflow.source import is_users
from gradproof.ir.capture import Baked
from gradproof.ir.span import Span

_MARK = "_gradproof_read"
_MISSING = object()
MOST_ITEMS = 16  # of a list or array; a longer one is data, not a setting
DEEPEST = 3  # calls into helpers of the user's that are followed
_PLAIN = (bool, int, float, complex, str)


@dataclass(frozen=True, eq=False)
class Read:
    """One value that a function reads from outside: where it stands, how to read it again, what it was."""

    name: str
    owner: Any  # a mapping of names, a closure's cell, or an object with attributes
    value: Any
    span: Span

    def now(self) -> Any:
        if isinstance(self.owner, Mapping):
            return self.owner.get(self.name, _MISSING)
        if type(self.owner).__name__ == "cell":
            return self.owner.cell_contents
        return getattr(self.owner, self.name.partition(".")[2], _MISSING)


class BakedValues:
    """The hook on tracing."""

    def __init__(self, observation: Observation) -> None:
        self._observation = observation

    def patches(self) -> list[Patch]:
        return [wrap(func_graph, "func_graph_from_py_func", self._trace)]

    def _trace(self, original: Any, name: Any, python_func: Any, *args: Any, **kwargs: Any) -> Any:
        graph = original(name, python_func, *args, **kwargs)
        try:
            setattr(graph, _MARK, tuple(_reads(tf_decorator.unwrap(python_func)[1])))
        except Exception:
            self._observation.note_failure()
        return graph


def was_seen(graph: Any) -> bool:
    """Whether a graph was traced while the hook on tracing was in."""
    return hasattr(graph, _MARK)


def baked_in(graphs: Sequence[Any], name: str) -> Iterator[Baked]:
    """The values that graphs were traced with and that are others by now."""
    for graph in graphs:
        numbers: set[float] | None = None
        for read in getattr(graph, _MARK, ()):
            now = read.now()
            if now is _MISSING or not _is_plain(now) or _same(read.value, now):
                continue
            if numbers is None:
                numbers = _constants(graph)
            if _occurs(read.value, numbers):
                yield Baked(name, read.name, repr(_shown(read.value)), repr(_shown(now)), read.span)


def _reads(function: Any) -> Iterator[Read]:
    seen: set[CodeType] = set()
    pending = [(function, 0)]
    while pending:
        function, depth = pending.pop()
        owner = getattr(function, "__self__", None)
        function = getattr(function, "__func__", function)
        if not isinstance(function, FunctionType) or function.__code__ in seen:
            continue
        seen.add(function.__code__)
        if not is_users(function.__code__.co_filename):
            continue
        yield from _of_function(function, owner)
        if depth < DEEPEST:
            names = [name for code in _codes(function.__code__) for name in code.co_names]
            pending += [(function.__globals__[n], depth + 1) for n in names if n in function.__globals__]


def _of_function(function: FunctionType, owner: Any) -> Iterator[Read]:
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    for code in _codes(function.__code__):
        first = code.co_varnames[0] if code.co_argcount else None
        previous = ""
        for instruction in dis.get_instructions(code):
            name, kind = str(instruction.argval), instruction.opname
            found: tuple[str, Any, Any] | None = None
            if kind in ("LOAD_GLOBAL", "LOAD_NAME") and name in function.__globals__:
                found = name, function.__globals__, function.__globals__[name]
            elif kind in ("LOAD_DEREF", "LOAD_CLASSDEREF") and name in cells:
                found = name, cells[name], _content(cells[name])
            elif kind == "LOAD_ATTR" and owner is not None and previous == first:
                found = (
                    f"{first}.{name}",
                    owner,
                    vars(owner).get(name, _MISSING) if hasattr(owner, "__dict__") else None,
                )
            previous = name if kind.startswith("LOAD_FAST") else ""
            if found is not None and _is_plain(found[2]):
                yield Read(found[0], found[1], _copy(found[2]), _span(code, instruction))


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _MISSING  # not assigned yet


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _span(code: CodeType, instruction: dis.Instruction) -> Span:
    p = instruction.positions
    line = (p.lineno if p is not None else None) or code.co_firstlineno
    if p is None:
        return Span(code.co_filename, line)
    return Span(code.co_filename, line, p.col_offset, p.end_lineno, p.end_col_offset, code.co_qualname)


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
    """The numbers that occur in a graph."""
    found: set[float] = set()
    for operation in graph.get_operations():
        if operation.type == "Const":
            from tensorflow.python.framework import tensor_util

            value = tensor_util.MakeNdarray(operation.get_attr("value"))
            if value.size <= MOST_ITEMS and value.dtype.kind in "biuf":
                found.update(float(x) for x in value.reshape(-1))
                found.update(float(np.float32(x)) for x in value.reshape(-1))
    return found


def _occurs(value: Any, numbers: set[float]) -> bool:
    """Whether the value has left a trace in the graph; a flag or a name leaves none, but decides what is traced."""
    if isinstance(value, bool | str):
        return True
    items = np.asarray(_shown(value)).reshape(-1)
    if items.dtype.kind not in "biuf":
        return False
    return all(float(x) in numbers or float(np.float32(x)) in numbers for x in items)
