"""Tapes inside functions: between which ops of the graph each of them was recording."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from tensorflow.python.framework import ops as tf_ops

from gradproof.ir.span import Span

Stretch = tuple[int, int]
"""From the place of one op of a graph to that of another, which no longer belongs to it."""
Watched = tuple[Any, Span | None]
"""A tensor of a graph that a tape was told to watch, and where."""
_OPEN = 1 << 62  # the end of a stretch that lasts


@dataclass(eq=False)
class _TapeInGraph:
    """One tape in the graph that it was opened in."""

    graph: Any
    stretches: list[Stretch] = field(default_factory=list)
    watched: list[Watched] = field(default_factory=list)


class GraphTapes:
    """The tapes that were opened while a graph was built."""

    def __init__(self) -> None:
        self._records: WeakKeyDictionary[Any, _TapeInGraph] = WeakKeyDictionary()

    def push(self, tape: Any) -> None:
        graph = tf_ops.get_default_graph()
        record = self._records.get(tape)
        if record is None or record.graph is not graph:
            record = self._records[tape] = _TapeInGraph(graph)
        record.stretches.append((int(graph.version), _OPEN))

    def pop(self, tape: Any) -> None:
        record = self._records.get(tape)
        if record is not None and record.stretches:
            start, _ = record.stretches.pop()
            record.stretches.append((start, int(record.graph.version)))

    def reset(self, tape: Any) -> None:
        """The tape has forgotten everything, and has just begun again."""
        record = self._records.get(tape)
        if record is not None:
            record.stretches[:] = record.stretches[-1:]
            record.watched.clear()

    def watch(self, tape: Any, tensors: Iterable[Any], span: Span | None) -> None:
        record = self._records.get(tape)
        if record is not None:
            record.watched += [(tensor, span) for tensor in tensors]

    def watched(self, tape: Any) -> tuple[Watched, ...]:
        record = self._records.get(tape)
        return () if record is None else tuple(record.watched)

    def heard(self, tape: Any, graph: Any) -> tuple[Stretch, ...] | None:
        """Where a tape has been recording in the graph in which it is asked; None where that is not known."""
        record = self._records.get(tape)
        return None if record is None or record.graph is not graph else tuple(record.stretches)
