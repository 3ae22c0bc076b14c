"""Numbers that a hook on saved tensors gave back as others: the rule of an op goes on with what its op never had.

A checkpoint is such a hook, which computes the numbers again; others keep them in fewer digits, or elsewhere.
"""

from __future__ import annotations

import linecache
from collections.abc import Iterator, Sequence

import numpy as np

from gradproof.frontends.record.source import span_of
from gradproof.frontends.torch.record.engine_run import EngineRun
from gradproof.frontends.torch.record.keeping import CHECKPOINT
from gradproof.frontends.torch.record.memory import Cell
from gradproof.frontends.torch.record.recorder import TorchEvent, TorchRecorder
from gradproof.ir import types
from gradproof.ir.capture import Break
from gradproof.ir.span import Span


def given_back(run: EngineRun, recorder: TorchRecorder, events: Sequence[TorchEvent]) -> Break | None:
    """The first op whose rule was given other numbers; None where all came back as they were."""
    if run.error is not None or not any(event.keeper for event in events):
        return None
    rules: dict[int, list[TorchEvent]] = {}
    for event in recorder.events:
        if run.id in event.within and event.node is not None:
            rules.setdefault(event.node._sequence_nr(), []).append(event)
    for event in events:
        of_rule = rules.get(-1 if event.sequence is None else event.sequence, [])
        if event.keeper and run.id not in event.within and any(_others(run, event, of_rule)):
            return _told(event)
    return None


def _others(run: EngineRun, event: TorchEvent, of_rule: Sequence[TorchEvent]) -> Iterator[Cell]:
    """What a rule has read that is neither what came in, nor its own, nor one of the numbers that its op had."""
    own = [cell for cell in (*event.inputs, *event.outputs) if not types.is_discrete(cell.dtype)]
    made = {cell.id for one in of_rule for cell in one.outputs}
    for one in of_rule:
        rule = run.nodes.get(one.node)
        given = {cell.memory for cell in (() if rule is None else rule.upstream) if cell is not None}
        for cell in one.inputs:
            alike = [mine for mine in own if (mine.shape, mine.dtype) == (cell.shape, cell.dtype)]
            if cell.id in made or cell.memory in given or not alike:
                continue
            if not any(np.array_equal(mine.array(), cell.array(), equal_nan=True) for mine in alike):
                yield cell


def _told(event: TorchEvent) -> Break:
    spans = [span_of(place) for place in event.places]
    if event.keeper != CHECKPOINT:
        return Break(
            "reassigned-variable", spans[0] if spans else None, "comes back changed", facts={"by": "hook"}
        )
    call = next(filter(_asks_for_a_checkpoint, spans), None)
    inside = [(spans[0], "other numbers the second time")] if spans and call is not spans[0] else []
    return Break(
        "impure", call or (spans[0] if spans else None), "is computed again, and otherwise", tuple(inside)
    )


def _asks_for_a_checkpoint(span: Span | None) -> bool:
    return span is not None and "checkpoint" in linecache.getline(span.file, span.line)
