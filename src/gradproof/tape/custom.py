"""Functions with a gradient of their own, and values that are constants to every tape."""

from __future__ import annotations

import functools
import inspect
import itertools
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradproof.errors import InvalidInput
from gradproof.frontends.record.place import Place, here
from gradproof.ir.shapes import joint_shape
from gradproof.ir.span import Span
from gradproof.tape.array import Array
from gradproof.tape.functions._operands import converted
from gradproof.tape.lowering import RecordTracer, lowered
from gradproof.tape.record import CONSTANT, CUSTOM, ITEM, LEAF, Origin, Record, ancestors, constant
from gradproof.tape.state import STATE, scope
from gradproof.tape.structure import flatten, map_leaves, unflatten
from gradproof.tape.variable import Identity

_scopes = itertools.count(1)
# The custom gradients whose results are still in use, by their scope: a derivative of a gradient knows only the ops
# that a rule ran, and they name the scope.
USES: weakref.WeakValueDictionary[int, CustomUse] = weakref.WeakValueDictionary()


@dataclass(frozen=True, eq=False)
class Upstream:
    """One application of a rule: what came in, what went out, and the records of both as they flowed on."""

    upstream: tuple[np.ndarray[Any, Any], ...]
    returned: tuple[np.ndarray[Any, Any] | None, ...]
    given: tuple[Record, ...]
    results: tuple[Record | None, ...]


@dataclass(frozen=True, eq=False)
class CustomUse:
    """One call of a function with a gradient of its own: all that is needed to test its rule alone.

    `inputs` are the records the rule answers for: traced arguments, then Variables that the forward read by
    itself. `outputs` are the ends of the forward as it was recorded.
    """

    name: str
    scope: int
    rule: Callable[..., Any]
    inputs: tuple[Record, ...]
    outputs: tuple[Record, ...]
    n_arguments: int
    takes: tuple[int, ...]  # which positional arguments are traced
    n_positional: int
    place: Place | None
    definition: Span | None
    applied: list[Upstream] = field(default_factory=list)

    def pull(self, m: RecordTracer, record: Record, gy: Any) -> Iterator[tuple[int, Any]]:
        """The rule's gradients for the inputs, as traced values of the sweep that is under way."""
        upstream = gy if isinstance(gy, tuple) else (gy,)
        for part in upstream:
            part.id.value = part.value  # the rule computes with it
        given = tuple(_given(part.id) for part in upstream)
        arrays = [Array(record) for record in given]
        with scope(self.scope, "backward"):
            returned = self.gradients(arrays)
        traced = [None if g is None else _as_traced(m, g, x) for g, x in zip(returned, self.inputs)]
        values = tuple(part.value for part in upstream), tuple(map(_plain, returned))
        records = (
            given,
            tuple(None if part is None else part.id for part in traced),
        )
        self.applied.append(Upstream(*values, *records))
        yield from ((i, part) for i, part in enumerate(traced) if part is not None)
        del record

    def gradients(self, upstream: Sequence[Any]) -> list[Any]:
        """What the rule returns for an upstream gradient, one entry per input; None where there is none."""
        n_variables = len(self.inputs) - self.n_arguments
        if n_variables and _accepts_variables(self.rule):
            variables = [record.call for record in self.inputs[self.n_arguments :]]
            found, of_variables = self.rule(*upstream, variables=variables)
            return [*self._arranged(found), *of_variables]
        return [*self._arranged(self.rule(*upstream)), *(None,) * n_variables]

    def _arranged(self, found: Any) -> list[Any]:
        parts = list(found) if isinstance(found, tuple | list) else [found]
        if len(parts) == self.n_positional:
            return [parts[k] for k in self.takes]
        if len(parts) == self.n_arguments:
            return parts
        raise InvalidInput(
            f"the gradient of `{self.name}` returned {len(parts)} values for {self.n_positional} arguments; "
            "it returns one per positional argument, None where there is none"
        )


def _given(record: Record) -> Record:
    """What a rule is handed. A constant would not be followed: whether the rule uses it has to be seen."""
    return Record(LEAF, (), record.value, record.place, phase="backward") if record.op == CONSTANT else record


def custom_gradient(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a function that returns its value and its gradient rule.

    The rule gets the gradient of the result (one argument per result) and returns one gradient per positional
    argument. It is written in NumPy like the forward, so it can itself be differentiated.
    """

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        traced = [k for k, arg in enumerate(args) if isinstance(arg, Array)]
        id = next(_scopes)
        with scope(id):
            answer = function(*args, **kwargs)
        if not isinstance(answer, tuple) or len(answer) != 2 or not callable(answer[1]):
            raise InvalidInput(f"`{function.__name__}` must return its value and its gradient function")
        value, rule = answer
        return _bind(function, id, rule, value, args, traced)

    return call


def _bind(function: Any, id: int, rule: Any, value: Any, args: Sequence[Any], traced: list[int]) -> Any:
    results = flatten(value)
    outputs = [_end(result, function.__name__, args) for result in results]
    arguments = [args[k] for k in traced if args[k].is_tracked]
    takes = tuple(k for k in traced if args[k].is_tracked)
    own = [argument._record for argument in arguments]
    inputs = (*own, *_variables_read(outputs, own))
    if not STATE.tapes or not inputs:
        return value
    place = here()
    use = CustomUse(
        function.__name__,
        id,
        rule,
        inputs,
        tuple(outputs),
        len(own),
        takes,
        len(args),
        place,
        _definition(rule),
    )
    USES[id] = use
    numbers = tuple(record.value for record in outputs)
    whole = Record(
        CUSTOM,
        inputs,
        numbers if len(numbers) > 1 else numbers[0],
        place,
        STATE.tapes,
        call=use,
        scope=id,
        phase=STATE.phase,
    )
    if len(numbers) == 1:
        return unflatten(value, iter([Array(whole)]))
    items = [
        Array(Record(ITEM, (whole,), part, place, STATE.tapes, {"index": k}, STATE.phase, id))
        for k, part in enumerate(numbers)
    ]
    return unflatten(value, iter(items))


def _end(result: Any, name: str, args: Sequence[Any]) -> Record:
    """The record a result ends in; plain numbers were computed where no tape could see."""
    if isinstance(result, Array) and result.is_tracked:
        assert result._record is not None
        return result._record
    values = np.asarray(result._value if isinstance(result, Array) else result)
    inputs = tuple(
        arg._record for arg in args if isinstance(arg, Array) and arg.is_tracked and arg._record is not None
    )
    from gradproof.ir.program import OPAQUE

    return Record(f"{OPAQUE}{name}", inputs, values, here(), STATE.tapes) if inputs else constant(values)


def _variables_read(outputs: Sequence[Record], own: Sequence[Any]) -> list[Record]:
    """Variables that the forward used without getting them as arguments."""
    found = ancestors(outputs, lambda record: () if record in own else record.inputs)
    return [
        record
        for record in found
        if record.op == LEAF and record not in own and isinstance(record.call, Identity)
    ]


def _definition(rule: Any) -> Span | None:
    code = getattr(rule, "__code__", None)
    return None if code is None else Span(code.co_filename, code.co_firstlineno, function=code.co_qualname)


def _accepts_variables(rule: Any) -> bool:
    try:
        return "variables" in inspect.signature(rule).parameters
    except (TypeError, ValueError):
        return False


def _as_traced(m: RecordTracer, gradient: Any, source: Record) -> Any:
    """A rule's result as it flows on; shapes that do not fit are broadcast or refused."""
    if isinstance(gradient, Array) and gradient.is_tracked:
        assert gradient._record is not None
        traced = m.of(lowered(gradient._record))
    else:
        traced = m.of(constant(_plain(gradient), phase="backward", place=m.place))
    if traced.value.dtype.kind in "biu":
        traced = m.cast(traced, dtype=source.value.dtype.name)
    if traced.shape != source.value.shape:
        if joint_shape(traced.shape, source.value.shape) != source.value.shape:
            raise InvalidInput(
                f"a gradient rule returned shape {traced.shape} for shape {source.value.shape}; "
                "sum over the axes that broadcasting repeated"
            )
        traced = m.broadcast(traced, shape=source.value.shape)
    return converted(m, traced, source.value.dtype)


def _plain(gradient: Any) -> Any:
    return (
        None if gradient is None else np.asarray(gradient._value if isinstance(gradient, Array) else gradient)
    )


def stop_gradient(structure: Any) -> Any:
    """The same values as constants: no gradient passes."""
    return map_leaves(_stop, structure)


# Told of every stop while someone listens: whoever calls a function as a black box sees through them.
_STOPS: ContextVar[list[Place | None] | None] = ContextVar("stops", default=None)


@contextmanager
def hearing_stops() -> Iterator[list[Place | None]]:
    """The places at which gradients are stopped inside."""
    heard: list[Place | None] = []
    token = _STOPS.set(heard)
    try:
        yield heard
    finally:
        _STOPS.reset(token)


def _stop(item: Any) -> Array:
    heard = _STOPS.get()
    if heard is not None:
        heard.append(here())
    if not isinstance(item, Array):
        return Array(value=np.array(item))
    return Array(value=item._value, origin=Origin("stop-gradient", here(), item.roots))
