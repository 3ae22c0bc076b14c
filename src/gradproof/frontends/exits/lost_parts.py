"""Parts of a target that its gradient cannot contain, told from the record alone: nothing of them is computed.

A tape follows what runs inside of it. What was computed from a source before the tape began, was put into another
variable, or came back as plain numbers, is a constant to it, and the gradient is that of the rest.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from gradproof.frontends.assemble.dialect import dialect_of
from gradproof.frontends.assemble.program import STORING
from gradproof.frontends.exits.assignments import MOST_ASSIGNMENTS, assignments, feeding
from gradproof.frontends.exits.disguised import disguised
from gradproof.frontends.exits.evidence import are_long, are_rare, is_only_shown
from gradproof.frontends.exits.expressions import is_written, numbers_in
from gradproof.frontends.exits.matching import Place, operand_at, place_of, place_of_node, targets_at
from gradproof.frontends.exits.python_arithmetic import is_reading, may_read
from gradproof.frontends.record.flow import ancestors
from gradproof.frontends.record.model import GradientCall, OpEvent, Value
from gradproof.ir import types
from gradproof.ir.span import Span
from gradproof.ir.surroundings import LostPart
from gradproof.ir.syntax import text_of

DEEPEST = 3  # names followed from where a constant is used
KEEPING = (*STORING, "put")
# Doors that show a number or decide by it, and hand none on.
_LOOKS = frozenset({"bool()", "format", "index"})

Sources = frozenset[str]
_NONE: Sources = frozenset()
Behind = tuple[Sources, Span | None, str]
_NOTHING: Behind = (_NONE, None, "")


def lost_parts(call: GradientCall) -> tuple[LostPart, ...]:
    """Each place once."""
    if call.tape.kind != "tape":
        return ()
    return tuple(dict.fromkeys(_Record(call).parts()))


@dataclass(eq=False)
class _Record:
    call: GradientCall

    @cached_property
    def forward(self) -> list[OpEvent]:
        events = (event for event in (*self.call.older, *self.call.events) if event.phase == "forward")
        return sorted(events, key=lambda event: event.index)

    @cached_property
    def wanted(self) -> set[int]:
        """What the targets were computed from."""
        return ancestors(self.forward, {target.value.id for target in self.call.targets})

    @cached_property
    def own(self) -> set[int]:
        """The sources themselves."""
        handles = {s.variable.id for s in self.call.sources if s.variable is not None}
        return handles | {source.value.id for source in self.call.sources}

    @cached_property
    def followed(self) -> Mapping[int, Sources]:
        """For every value the sources it was computed from, through ops that let a gradient pass."""
        found: dict[int, Sources] = {}
        for source in self.call.sources:
            for id in (source.value.id, *([] if source.variable is None else [source.variable.id])):
                found[id] = found.get(id, _NONE) | {source.name}
        role = dialect_of(self.call.framework).role
        for event in self.forward:
            if role(event) in ("stop", "discrete", "shape", "draw"):
                continue
            behind = frozenset().union(*(found.get(value.id, _NONE) for value in event.inputs))
            if role(event) in STORING and event.inputs[0].id not in self.own:
                found[event.inputs[0].id] = behind
            elif role(event) == "put" and event.inputs[0].id not in self.own:
                found[event.inputs[0].id] = behind  # what it held before is in it
            for value in event.outputs if behind else ():
                if types.is_real(value.dtype):
                    found[value.id] = found.get(value.id, _NONE) | behind
        return found

    def parts(self) -> Iterator[LostPart]:
        yield from self._outside()
        yield from self._stored()
        yield from disguised(
            self.forward, self.followed, self._leads, role=dialect_of(self.call.framework).role
        )
        if self.call.leaves or not dialect_of(self.call.framework).sees_reads:
            yield from self._returned()

    def _outside(self) -> Iterator[LostPart]:
        """Computed from a source before the tape began, and used inside of it; a pause of the tape is asked for."""
        first = next((event.index for event in self.forward if event.is_heard_by(self.call.tape)), 0)
        # What runs inside a function with a rule of its own is never heard, and not lost by that.
        early = [event for event in self.forward if event.index < first and event.scope is None]
        before = {value.id: event for event in early for value in event.outputs}
        role = dialect_of(self.call.framework).role
        for event in self._heard():
            for value in event.inputs:
                maker = before.get(value.id)
                if maker is None or role(maker) in ("read", "gather") or value.id in self.own:
                    continue
                if types.is_real(value.dtype) and self.followed.get(value.id):
                    yield LostPart("outside-tape", maker.op, maker.span, event.span, self.followed[value.id])

    def _stored(self) -> Iterator[LostPart]:
        """Put into a variable that is no source, or into a table or a queue, and read from it again."""
        role = dialect_of(self.call.framework).role
        stores: dict[int, LostPart] = {}
        for event in self.forward:
            kept = event.inputs[0].id if event.inputs else None
            if kept is None or kept in self.own:
                continue
            if role(event) in KEEPING:
                behind = frozenset().union(*(self.followed.get(v.id, _NONE) for v in event.inputs[1:]))
                if role(event) == "store":
                    stores.pop(kept, None)  # it holds nothing else from now on
                if behind:
                    stores[kept] = LostPart("stored", event.op, event.span, None, behind)
            elif kept in stores and self._leads(event):
                yield replace(stores[kept], back=event.span)

    def _returned(self) -> Iterator[LostPart]:
        """Constants that the source of the program shows to be made of tensors, or with numbers that nobody writes."""
        made = {value.id for event in self.forward for value in event.outputs} | self.own
        for event in self._heard():
            for place, value in enumerate(event.inputs):
                if value.id not in made and _may_return(value):
                    yield from self._the_same(event, value) or self._mentioned(event, place, value)
        for target, operand in zip(self.call.targets, targets_at(self.call.span)):
            if target.value.id not in made | self.call.unseen and _may_return(target.value):
                yield from self._target(operand)

    def _the_same(self, event: OpEvent, value: Value) -> list[LostPart]:
        """Numbers that nobody writes, and that were read before just as they are: wherever they were kept meanwhile."""
        if not _is_computed(value, event):
            return []
        for leave in self.call.leaves:
            behind = self.followed.get(leave.value.id, _NONE) if leave.index < event.index else _NONE
            if behind and leave.how not in _LOOKS and _are_equal(leave.value, value):
                return [LostPart("left-framework", leave.how, leave.span, event.span, behind)]
        return []

    def _target(self, operand: ast.expr) -> Iterator[LostPart]:
        """A target that no op has made: nothing was seen but the text, which has to show who reads the numbers."""
        span = self.call.span
        assert span is not None
        if not self._is_tensor(operand, span.file):
            behind, left, how = self._behind(operand, span.file, 1 << 62)
            if behind and how:
                yield LostPart("left-framework", how, left, span, behind)

    def _mentioned(self, event: OpEvent, place: int, value: Value) -> Iterator[LostPart]:
        for depth, span in enumerate(event.stack):
            operands = operand_at(span, place, len(event.inputs))
            if not depth and operands and all(map(is_written, operands)):
                return  # whatever the callers of this line have read
            for operand in operands:
                if not self._is_tensor(operand, span.file):
                    # A function is given more than what one line of it computes with.
                    is_read = _is_computed(value, event) or (not depth and may_read(span.file, operand))
                    may_be_seen = bool(self.call.leaves) and _are_long(value)
                    if not (is_read or may_be_seen):
                        continue
                    behind, left, how = self._behind(operand, span.file, event.index)
                    if behind and (is_read or self._is_read(left)):
                        yield LostPart("left-framework", how, left, event.span, behind)
                        return

    def _is_read(self, left: Span | None) -> bool:
        """Whether numbers were seen to leave at a place: then they may be such as stand in the program's text, too.

        Short ones may still be flags and counts, which have no slope to lose.
        """
        return left is not None and any(leave.span == left for leave in self.call.leaves)

    @cached_property
    def _tensors(self) -> Mapping[Place, Sources]:
        """By the expressions of the program: the sources behind the tensors that they are."""
        found: dict[Place, Sources] = {}
        for event in self.forward:
            for span in event.stack[:1]:
                behind = frozenset().union(*(self.followed.get(v.id, _NONE) for v in event.outputs))
                found[place_of(span)] = found.get(place_of(span), _NONE) | behind
        return found

    def _is_tensor(self, node: ast.expr, file: str) -> bool:
        """Whether an expression, or what its name was last given, is a tensor of the record."""
        if place_of_node(node) in self._computed or text_of(node) in self._names:
            return True
        values = [value for _, value, _ in assignments(file, node)] if isinstance(node, ast.Name) else []
        return bool(values) and all(place_of_node(value) in self._computed for value in values)

    @cached_property
    def _computed(self) -> set[Place]:
        """The expressions that are tensors; one that hands numbers out computes on its way, too."""
        doors = {place_of(leave.stack[0]) for leave in self.call.leaves if leave.stack}
        return {place_of(event.stack[0]) for event in self.forward if event.stack} - doors

    def _behind(self, node: ast.expr, file: str, index: int, depth: int = 0) -> Behind:
        """The sources that an expression of plain numbers mentions, where the numbers leave, and the function of
        NumPy that reads them there, if one does."""
        for inner in numbers_in(node):
            found = self._left_at(inner, index)
            if found[0]:
                return found
            place = place_of_node(inner)
            behind = self._names.get(text_of(inner), _NONE) or self._tensors.get(place, _NONE)
            if behind and (inner is not node or depth):
                return _at_its_reader(node, inner, file, (behind, Span(file, *place), ""))
            if depth < DEEPEST:
                for value in feeding(file, inner)[:MOST_ASSIGNMENTS]:
                    found = self._behind(value, file, index, depth + 1)
                    if found[0]:
                        return found if found[2] else _at_its_reader(node, inner, file, found)
        return _NOTHING

    @cached_property
    def _names(self) -> Mapping[str, Sources]:
        return {source.name: frozenset({source.name}) for source in self.call.sources}

    def _left_at(self, node: ast.expr, index: int) -> Behind:
        """What an expression has handed out to Python, further in or by itself, other than to show it."""
        for leave in self.call.leaves:
            if leave.index > index or leave.how in _LOOKS or is_only_shown(leave.span):
                continue
            behind = self.followed.get(leave.value.id, _NONE)
            if behind and place_of_node(node) in map(place_of, leave.stack):
                return behind, leave.span, leave.how
        return _NOTHING

    def _heard(self) -> Iterator[OpEvent]:
        for event in self.forward:
            if event.is_heard_by(self.call.tape) and self._leads(event):
                yield event

    def _leads(self, event: OpEvent) -> bool:
        return any(value.id in self.wanted for value in event.outputs)


def _at_its_reader(node: ast.expr, inner: ast.expr, file: str, found: Behind) -> Behind:
    """At the call of NumPy, around a part of an expression, that takes its numbers without being seen."""
    around = [one for one in ast.walk(node) if isinstance(one, ast.Call) and is_reading(one)]
    readers = [one for one in around if one is not inner and any(part is inner for part in ast.walk(one))]
    if not readers:
        return found
    return found[0], Span(file, *place_of_node(readers[-1])), ast.unparse(readers[-1].func)


def _may_return(value: Value) -> bool:
    array = value.array
    return array is not None and types.is_real(value.dtype) and bool(array.size)


def _are_equal(one: Value, other: Value) -> bool:
    return one.array is not None and np.array_equal(one.array, np.asarray(other.array))


def _are_long(value: Value) -> bool:
    return value.array is not None and are_long(value.array)


def _is_computed(value: Value, event: OpEvent) -> bool:
    return value.array is not None and are_rare(value.array, frozenset(span.file for span in event.stack))
