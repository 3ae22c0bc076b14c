"""Numbers that the graph needs and that were overwritten since: PyTorch raises if it notices, and else is wrong."""

from __future__ import annotations

import linecache
from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np

from gradproof.frontends.record.source import span_of
from gradproof.frontends.torch.record.engine_run import EngineRun
from gradproof.frontends.torch.record.memory import Cell
from gradproof.frontends.torch.record.recorder import TorchEvent, TorchRecorder
from gradproof.frontends.torch.roles import plain_name
from gradproof.ir.capture import Break
from gradproof.ir.span import Span


def overwritten(run: EngineRun, recorder: TorchRecorder, events: Sequence[TorchEvent]) -> Break | None:
    """The last write over a number that the gradient needs; None where nothing was lost by one."""
    return _of_the_graph(run, recorder, events) or _of_a_gradient(run, recorder)


def _of_a_gradient(run: EngineRun, recorder: TorchRecorder) -> Break | None:
    """A write of a hand-written rule into the gradient it was given, where others were given the same memory.

    As the rule of an addition hands on one tensor to both of its sides.
    """
    if not recorder.all_scopes:
        return None
    handed = [cell.memory for rule in run.nodes.values() for cell in rule.results if cell is not None]
    for write in recorder.events:
        if run.id not in write.within or not _is_write(write):
            continue
        scope = recorder.all_scopes.get(recorder.nodes.get(write.node, -1))
        rule = run.nodes.get(write.node)
        if scope is None or rule is None:
            continue
        given = {cell.memory for cell in rule.upstream if cell is not None and handed.count(cell.memory) > 1}
        if given.intersection(cell.memory for cell in write.outputs if cell.memory is not None):
            label = "changes in place the gradient that was given"
            return Break("custom-gradient", span_of(write.places[0]), label, facts={"rule": scope.name})
    return None


def _of_the_graph(run: EngineRun, recorder: TorchRecorder, events: Sequence[TorchEvent]) -> Break | None:
    unnoticed = {scope.id for scope in recorder.all_scopes.values() if scope.function is None}
    graph = [
        event
        for event in events
        if run.id not in event.within and event.scope not in unnoticed and _is_of_graph(event)
    ]
    first_use: dict[int, TorchEvent] = {}
    for event in graph:
        for cell in (*event.inputs, *event.outputs):
            if cell.memory is not None:
                first_use.setdefault(cell.memory, event)
    if not graph:
        return None
    read_later = None if run.error is not None else _read_backward(run, recorder, events)
    for write in reversed(list(_writes(run, recorder, min(event.index for event in graph)))):
        for cell in write.outputs:
            used = first_use.get(cell.memory or 0)
            if used is None or used.index >= write.index or used is write:
                continue
            is_noticed = write.scope not in unnoticed and _is_of_graph(write)
            if read_later is None or (not is_noticed and cell.memory in read_later):
                return _told(run, write, used)
    return None


def _is_of_graph(event: TorchEvent) -> bool:
    is_recorded = (
        event.heard or event.scope is not None
    )  # inside a function with a rule of its own nothing is heard
    return is_recorded and any(cell.requires_grad for cell in (*event.inputs, *event.outputs))


def _writes(run: EngineRun, recorder: TorchRecorder, since: int) -> Iterator[TorchEvent]:
    """What came before the first use of any number, as the optimizer's steps of a whole training, is not looked at."""
    for event in recorder.events:
        if since < event.index < run.first and _is_write(event) and run.id not in event.within:
            yield event


def _is_write(event: TorchEvent) -> bool:
    return _is_in_place(event.op) and bool(event.places)


@cache
def _is_in_place(op: str) -> bool:
    """By the name that PyTorch gives such ops."""
    packet = op.split(".")[1]
    return packet.endswith("_") and not packet.endswith("__")


def _read_backward(run: EngineRun, recorder: TorchRecorder, events: Sequence[TorchEvent]) -> set[int]:
    """Memory from which the rule of an op has read other numbers than the op was given or gave."""
    own: dict[object, list[Cell]] = {}
    for event in events:
        if run.id not in event.within:
            for key in (event.sequence, ("scope", event.scope)):
                own.setdefault(key, []).extend((*event.inputs, *event.outputs))
    found = set()
    for event in events:
        if run.id in event.within and event.node is not None:
            scope = recorder.nodes.get(event.node)
            key = event.node._sequence_nr() if scope is None else ("scope", scope)
            known = own.get(key, [])
            found |= {cell.memory for cell in event.inputs if _is_other(cell, known)}
    return {memory for memory in found if memory is not None}


def _is_other(cell: Cell, known: Sequence[Cell]) -> bool:
    """Whether the memory of a known value holds other numbers now; `gradcheck` moves its inputs and puts them back."""
    there = [one for one in known if one.memory == cell.memory]
    is_of_one_moment = (one.moment is cell.moment is not None for one in there)
    if not there or any(one.id == cell.id for one in there) or any(is_of_one_moment):
        return False
    alike = (one for one in there if one.shape == cell.shape)
    return not any(np.array_equal(one.array(), cell.array(), equal_nan=True) for one in alike)


def _told(run: EngineRun, write: TorchEvent, used: TorchEvent) -> Break:
    needs = ((span_of(used.places[0]), "its gradient needs the number from before"),) if used.places else ()
    return change_in_place(write.op, span_of(write.places[0]), needs)


def change_in_place(op: str, at: Span | None, needs: tuple[tuple[Span, str], ...]) -> Break:
    """What is known of a write: its op, and whether it is a step of an optimizer, which has no op to leave out."""
    line = "" if at is None else linecache.getline(at.file, at.line)
    facts = {"changed": plain_name(op)} | ({"by": "step"} if ".step(" in line else {})
    return Break("reassigned-variable", at, "changes it in place", needs, facts)
