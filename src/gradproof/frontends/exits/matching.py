"""Numbers that left TensorFlow and came back as constants: which constant holds which numbers.

Equal numbers alone prove nothing: a loss that was printed may be equal to a setting of the user's. So the way from
one to the other is read off the source, and the numbers only have to agree with it. Where the way leads through calls
and attributes that the source of one scope does not show, they have to be numbers that nobody writes down.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from gradproof.engine.trace import Traced
from gradproof.frontends.assemble.dialect import dialect_of
from gradproof.frontends.assemble.lowering import Lowering
from gradproof.frontends.exits.evidence import are_rare, is_handed_on
from gradproof.frontends.exits.python_arithmetic import Retelling, may_read
from gradproof.frontends.record.flow import descendants
from gradproof.frontends.record.model import Exit, GradientCall, OpEvent, Value
from gradproof.frontends.record.source import argument, call_at
from gradproof.ir import types
from gradproof.ir.span import Span
from gradproof.ir.surroundings import Cut
from gradproof.ir.syntax import text_of, tree_of
from gradproof.ir.types import Array

Place = tuple[int, int | None, int | None, int | None]

LOOKS = frozenset({"bool()", "format", "index", "tf.numpy_function"})
"""Doors whose numbers do not come back as they are."""
_ULPS = 16  # what a few operations of Python's may round otherwise than those that tell them again
MOST_LEAVES = 1_000  # of a tape; a loop that reads so many numbers is not looked into


@dataclass(eq=False)
class Comebacks:
    """The search in one gradient call; `cuts` is what it has found so far.

    With `all_ways` also results of calls that return plain numbers by their nature, as `predict` of a model: who uses
    one beside other parts of a target wants a constant, but where a gradient is missing it is the reason.
    """

    call: GradientCall
    all_ways: bool = True
    cuts: list[Cut] = field(default_factory=list)

    @cached_property
    def leaves(self) -> list[Exit]:
        found = [leave for leave in self.call.leaves if leave.how not in LOOKS and leave.span is not None]
        return found[-MOST_LEAVES:]

    @cached_property
    def computed(self) -> Mapping[Place, list[OpEvent]]:
        """The ops by the expressions of the user's that they are: NumPy reads a tensor without asking it."""
        found: dict[Place, list[OpEvent]] = {}
        for event in sorted((*self.call.older, *self.call.events), key=lambda event: event.index):
            if event.span is not None and event.phase == "forward" and event.outputs:
                found.setdefault(place_of(event.span), []).append(event)
        return found

    @property
    def are_possible(self) -> bool:
        """Whether it is worth looking: a tensor of this call was read, or NumPy may have read one."""
        spans = {span for event in self.call.events for span in event.stack if event.phase == "forward"}
        return any(leave.value.id in self._moving for leave in self.leaves) or any(map(_may_read, spans))

    @cached_property
    def _moving(self) -> set[int]:
        """What may depend on a source: neither a loss of the step before, which was printed, nor the count of steps
        that an optimizer reads can be missed in a gradient."""
        events = sorted((*self.call.older, *self.call.events), key=lambda event: event.index)
        role = dialect_of(self.call.framework).role
        read = (value for event in events if role(event) in ("read", "gather") for value in event.outputs)
        inside = (value for one in self.call.calls for value in (*one.inputs, *one.outputs))
        sources = (one.value for one in self.call.sources)
        return descendants(events, {value.id for value in (*sources, *read, *inside)})

    def connected(self, m: Lowering, nodes: Mapping[int, Any], event: OpEvent, value: Value) -> Traced | None:
        """What a constant that went into an op is, told by numbers that had left; None where nothing shows it."""
        array = value.array
        if event.phase != "forward" or array is None or not types.is_real(value.dtype) or not array.size:
            return None
        files = frozenset(span.file for span in event.stack)
        search = _DoorSearch(self, m, nodes, event.index, array, files)
        place = next((k for k, given in enumerate(event.inputs) if given.id == value.id), 0)
        operands = [(span, one) for span in event.stack for one in operand_at(span, place, len(event.inputs))]
        return self._found(search, search.told(operands) or search.equal(event), event.span)

    def target(self, m: Lowering, nodes: Mapping[int, Any], k: int, array: Array) -> Traced | None:
        """The same for a target that is no tensor any more."""
        span, given = self.call.span, targets_at(self.call.span)
        if span is None or not given or array.dtype.kind != "f":
            return None
        search = _DoorSearch(self, m, nodes, 1 << 62, array, frozenset({span.file}))
        return self._found(search, search.told([(span, given[k])]), span)

    def _found(self, search: _DoorSearch, found: Traced | None, back: Span | None) -> Traced | None:
        if found is None:
            return None
        since = search.m.builder.next_id
        joined = search.m.settle_value(search.m.identity(found), search.array, since, same=False)
        self.cuts += [Cut(how, left, back, joined.id) for how, left in search.used]
        return joined


@dataclass(eq=False)
class _DoorSearch:
    """For one constant: `used` are the doors that the numbers it was told by went through."""

    of: Comebacks
    m: Lowering
    nodes: Mapping[int, Any]
    index: int
    array: Array
    files: frozenset[str]
    turn: int | None = (
        None  # which of the times that a line has handed numbers out is spoken of; the last one
    )
    used: list[tuple[str, Span | None]] = field(default_factory=list)

    @cached_property
    def leaves(self) -> list[Exit]:
        return [one for one in self.of.leaves if one.index <= self.index and one.value.id in self.nodes]

    @cached_property
    def _is_rare(self) -> bool:
        return are_rare(self.array, self.files)

    def told(self, operands: Sequence[tuple[Span, ast.expr]]) -> Traced | None:
        for span, operand in operands:
            self.used.clear()
            doors = (self._left, self._computed, self._source, self._inside, self._turns)
            found = Retelling(self.m, span.file, *doors).told(operand)
            if isinstance(found, Traced) and self.used and self._agrees(np.asarray(found.value)):
                return found
        return None

    def equal(self, event: OpEvent) -> Traced | None:
        """Numbers handed on in a way that one scope does not show: by a call, a return or an attribute."""
        self.used.clear()
        if not self.leaves or not self._is_rare:
            return None
        for leave in reversed(self.leaves):
            x, given = self.nodes[leave.value.id], leave.value.array
            if not isinstance(x, Traced) or given is None or not is_handed_on(leave, event):
                continue
            if given.shape == self.array.shape and np.array_equal(given.astype(self.array.dtype), self.array):
                self.used.append((leave.how, leave.span))
                return x
        return None

    def _left(self, node: ast.expr, door: ast.Call, file: str) -> Traced | None:
        """The numbers that a conversion handed out."""
        return self._handed_out(node, lambda leave: place_of(leave.stack[0]) == place_of_node(node))

    def _inside(self, node: ast.expr, door: ast.Call, file: str) -> Traced | None:
        """Numbers that something further in has read, or computed; what it did with them is not known, so that they
        have to be recognised."""
        if not self._is_rare:
            return None
        found = self._handed_out(node, lambda leave: place_of_node(node) in map(place_of, leave.stack))
        return self._computed(node, door, file) if found is None and self.of.all_ways else found

    def _turns(self, term: ast.expr) -> Iterator[None]:
        places = {place_of_node(node) for node in ast.walk(term) if isinstance(node, ast.Call)}
        doors = [place_of(leave.stack[0]) for leave in self.leaves]
        counts = {doors.count(place) for place in places} - {0}
        for k in range(counts.pop() if len(counts) == 1 and self.turn is None else 0):
            self.turn = k
            yield
        self.turn = None

    def _handed_out(self, node: ast.expr, by: Callable[[Exit], bool]) -> Traced | None:
        own = [one for one in self.leaves if by(one)]
        leave = own[-1 if self.turn is None else self.turn] if own else None
        known = None if leave is None else self.nodes[leave.value.id]
        if leave is None or not isinstance(known, Traced):
            return None
        self.used.append((leave.how, leave.span))
        return known

    def _computed(self, node: ast.expr, door: ast.Call, file: str) -> Traced | None:
        """The tensor that an expression is, or the last one that was computed in it."""
        for event in reversed(self.of.computed.get(place_of_node(node), ())):
            known = self.nodes.get(event.outputs[0].id)
            if event.span is None or event.span.file != file or event.index >= self.index:
                continue
            if isinstance(known, Traced) and types.is_real(event.outputs[0].dtype):
                self.used.append((ast.unparse(door.func), Span(file, *place_of_node(door))))
                return known
        return None

    def _source(self, node: ast.expr, door: ast.Call, file: str) -> Traced | None:
        """The source that the user calls by this expression."""
        for source in self.of.call.sources:
            known = self.nodes.get(source.value.id)
            if (
                source.name == text_of(node)
                and isinstance(known, Traced)
                and types.is_real(source.value.dtype)
            ):
                self.used.append((ast.unparse(door.func), Span(file, *place_of_node(door))))
                return known
        return None

    def _agrees(self, told: Array) -> bool:
        if told.shape != self.array.shape or not np.isfinite(self.array).all():
            return False
        floats = [dtype for dtype in (told.dtype, self.array.dtype) if dtype.kind == "f"]
        coarse = max((float(np.finfo(dtype).eps) for dtype in floats), default=0.0)
        given = self.array.astype(np.float64)
        return bool((np.abs(told.astype(np.float64) - given) <= _ULPS * coarse * np.abs(given)).all())


def place_of(span: Span) -> Place:
    return span.line, span.column, span.end_line, span.end_column


def place_of_node(node: ast.expr) -> Place:
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def targets_at(span: Span | None) -> tuple[ast.expr, ...]:
    """The expressions whose gradients a call at a place asks for, as its text has them."""
    given = None if span is None else argument(call_at(span), 0, "target")
    return () if given is None else tuple(_flat([given]))


def operand_at(span: Span, place: int, n_inputs: int) -> tuple[ast.expr, ...]:
    """The expressions that one input of an op can be; the sides of an operator are the inputs of the op."""
    found = operands(span)
    return found[place : place + 1] if n_inputs == len(found) == 2 else found


@lru_cache(maxsize=4096)
def operands(span: Span) -> tuple[ast.expr, ...]:
    """The expressions that went into what was evaluated at a span."""
    tree = tree_of(span.file)
    for node in () if tree is None else ast.walk(tree):
        is_one = isinstance(node, ast.BinOp | ast.AugAssign | ast.Call)
        if is_one and place_of_node(node) == place_of(span):  # type: ignore[arg-type]
            return tuple(_flat(_inputs(node)))
    return ()


@lru_cache(maxsize=4096)
def _may_read(span: Span) -> bool:
    return any(may_read(span.file, operand) for operand in operands(span))


def _inputs(node: ast.AST) -> Sequence[ast.expr]:
    if isinstance(node, ast.BinOp):
        return node.left, node.right
    if isinstance(node, ast.AugAssign):
        return (node.value,)
    assert isinstance(node, ast.Call)
    return *node.args, *(keyword.value for keyword in node.keywords)


def _flat(nodes: Sequence[ast.expr]) -> Iterator[ast.expr]:
    for node in nodes:
        if isinstance(node, ast.List | ast.Tuple):
            yield from _flat(node.elts)
        else:
            yield node
