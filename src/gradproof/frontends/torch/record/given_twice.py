"""One tensor that `torch.func` differentiates for, and that is also used as a constant: who is who.

A transform wraps the tensor for the one argument, and hands the same tensor on for others. Below it both are one
tensor; only the graph of the transform knows which operand of an op it came to by the wrapper.
"""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from types import FrameType
from typing import Any

import torch

from gradproof.frontends.record.local_names import local_names
from gradproof.frontends.record.model import OpEvent, Value
from gradproof.frontends.torch.record.engine_run import EngineRun
from gradproof.frontends.torch.record.memory import WRITE, Cell, Memory
from gradproof.frontends.torch.record.recorder import TorchEvent, numbers
from gradproof.frontends.torch.record.transforms import plain

UNCLEAR = (
    "the tensor that is differentiated for is copied into another one; whether as a constant cannot be told"
)
SECOND_OF_CHANGED = (
    "a second derivative of `torch.func` through a tensor that is changed in place is not followed"
)
CHANGED_IN_PART = "torch::autograd::CopySlices"
HANDED_ON = "aten.alias.default"
ALSO_CONSTANT = (
    "the function also uses the tensor that it is differentiated for as a constant, and in forward mode the two "
    "are not told apart"
)


class GivenTwice:
    """For each such source a value of its own, which stands where the graph leads to it."""

    def __init__(self, run: EngineRun, events: Sequence[TorchEvent], memory: Memory) -> None:
        wrapped = [tensor for tensor in run.inputs if plain(tensor) is not tensor]
        self._cells = {id(tensor): memory.read(plain(tensor)) for tensor in wrapped}
        self._edges, self._wholes = _edges(run.outputs) if wrapped else ({}, [])
        self._sequences = sorted({event.sequence or 0 for event in events}) if wrapped else []
        self._own: dict[int, Value] = {}  # by the ids of the tensors that wrap
        self.doubt = SECOND_OF_CHANGED if wrapped and self._changes(run, events) else None
        forward = [event for event in events if run.id not in event.within]
        for cell in {cell.id: cell for cell in self._cells.values()}.values():
            uses = [
                (event, k) for event in forward for k, one in enumerate(event.inputs) if one.id == cell.id
            ]
            led_to = {self._led_to(event, k) for event, k in uses}
            if len(led_to) > 1 and led_to != {None}:
                changes = [event for event, _ in uses if _is_in_place(event)]
                if not all(map(self._edges_of, changes)):
                    self.doubt = UNCLEAR
                for key in (key for key, one in self._cells.items() if one.id == cell.id):
                    self._own[key] = Value(-next(numbers), cell.dtype, cell.shape, cell.array)

    def _changes(self, run: EngineRun, events: Sequence[TorchEvent]) -> bool:
        """Whether what is differentiated for the second time writes a source, or what comes of it, into a part."""
        if not any(set(event.within) - {run.id} for event in events):
            return False
        moved = {cell.id for cell in self._cells.values()}
        for event in events:
            if event.op == WRITE and event.inputs[1].id in moved and not event.within:
                return True
            name = event.op.split(".")[1]
            is_shaped = name.startswith("new_") or name.endswith(
                "_like"
            )  # of what it is given only the shape counts
            if not is_shaped and any(cell.id in moved for cell in event.inputs):
                moved.update(cell.id for cell in event.outputs)
        return False

    def _led_to(self, event: TorchEvent, k: int) -> int | None:
        """The source that the graph leads to from an operand; None where that is a constant."""
        edges = self._edges_of(event)
        if len(edges) != len(event.inputs):
            alike = [key for key, cell in self._cells.items() if cell.id == event.inputs[k].id]
            return alike[0] if edges and alike else None
        variable = getattr(edges[k][0], "variable", None)
        return id(variable) if id(variable) in self._cells else None

    def _edges_of(self, event: TorchEvent) -> Any:
        """Those of the node that the graph has for an op; each transform around has made one, the inner one first.

        A change of a part has a node for the whole, which is made when the op has run.
        """
        if event.sequence is None:
            return ()
        place = bisect_left(self._sequences, event.sequence)
        previous = self._sequences[place - 1] if place else event.sequence - 1
        made = (n for n in range(event.sequence, previous, -1) if n in self._edges)
        whole = (n for n in self._wholes if n > event.sequence and _is_in_place(event))
        return self._edges.get(next(made, next(whole, -1)), ())

    def source(self, tensor: Any, value: Value) -> Value:
        return self._own.get(id(tensor), value)

    def inputs(self, event: TorchEvent, values: Sequence[Value]) -> list[Value]:
        """What an op of the forward pass was given."""
        if not self._own:
            return list(values)
        return [
            self._own.get(self._led_to(event, k) or 0, value) if self._is_source(cell) else value
            for k, (cell, value) in enumerate(zip(event.inputs, values))
        ]

    def _is_source(self, cell: Cell) -> bool:
        return any(one.id == cell.id for one in self._cells.values())

    def events(self, value: Callable[[Cell], Value]) -> Iterator[OpEvent]:
        """What makes the own values of the tensors."""
        for key, own in self._own.items():
            yield OpEvent(0, HANDED_ON, (value(self._cells[key]),), (own,), {}, None, (), "forward")


def _is_in_place(event: TorchEvent) -> bool:
    return event.op.split(".")[1].endswith("_")


def _edges(outputs: Sequence[Any]) -> tuple[dict[int, Any], list[int]]:
    """The edges of every node of a graph, by the number of the node; the numbers of those for a whole."""
    found: dict[int, Any] = {}
    wholes = []
    left = [output.grad_fn for output in outputs]
    while left:
        node = left.pop()
        if node is not None and node._sequence_nr() not in found:
            found[node._sequence_nr()] = node.next_functions
            left += [one for one, _ in node.next_functions]
            if node.name() == CHANGED_IN_PART:
                wholes.append(node._sequence_nr())
    return found, sorted(wholes)


def taken_from_outside(frame: FrameType, call: ast.Call | None) -> list[Any]:
    """The tensors that a function given to a transform finds outside itself: `v` in `lambda x: x * v`."""
    inner = call.func if call is not None and isinstance(call.func, ast.Call) else call
    of = inner.args[0] if inner is not None and inner.args else None
    around = {**frame.f_globals, **local_names(frame)}
    if isinstance(of, ast.Lambda):
        names = {one.id for one in ast.walk(of.body) if isinstance(one, ast.Name)}
        names -= {one.arg for one in ast.walk(of.args) if isinstance(one, ast.arg)}
    else:
        function = around.get(of.id) if isinstance(of, ast.Name) else None
        code = getattr(function, "__code__", None)
        names = set() if code is None else {*code.co_names, *code.co_freevars}
        around = {**getattr(function, "__globals__", {}), **_closed_over(function)}
    return [around[name] for name in sorted(names) if isinstance(around.get(name), torch.Tensor)]


def _closed_over(function: Any) -> dict[str, Any]:
    cells = getattr(function, "__closure__", None) or ()
    found = {}
    for name, cell in zip(getattr(getattr(function, "__code__", None), "co_freevars", ()), cells):
        with suppress(ValueError):  # not given a value yet
            found[name] = cell.cell_contents
    return found
