"""The raw record of what one thread executes, kept only while somebody may ask for it.

Everything here is bounded: ops outside the tapes go to a ring that forgets its oldest entries, ops of a
tape are kept with the tape, and both hold the numbers of TensorFlow's immutable tensors rather than copies, and not
the tensors themselves.
"""

from __future__ import annotations

import itertools
import sys
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from gradproof.frontends.record.order import after_needs
from gradproof.frontends.record.source import Place, user_places
from gradproof.frontends.tensorflow.eager.library_stops import hiding_function
from gradproof.frontends.tensorflow.eager.reads import Reads, reads_of
from gradproof.frontends.tensorflow.eager.remembered import lightly, remembered, without_shapes

RING_EVENTS = 4096  # enough to hold the few steps before a tape, which is as far back as a report looks
RING_BYTES = 256 * 2**20  # of tensors that nobody but the ring may be holding
IDLE_EVENTS = 100_000  # without any tape in so many ops the program is not about gradients: stop listening
MAX_TAPE_EVENTS = 500_000  # a tape with more ops is not judged, and says so

numbers = itertools.count(2)
"""Serial numbers for events, tapes, calls, scopes and pullbacks: unique in the process, ordered in time."""


@dataclass(slots=True, eq=False)
class RawEvent:
    """One executed op as TensorFlow's callback described it."""

    index: int
    op: str
    inputs: tuple[Any, ...]
    attrs: tuple[Any, ...]
    outputs: tuple[Any, ...]
    places: tuple[Place, ...]
    tapes: tuple[int, ...]
    within: tuple[int, ...]
    scope: int | None
    pullback: int | None
    run: Any = None
    hidden_in: str | None = None
    reads: Reads | None = ()  # the inputs that TensorFlow read from variables by itself; None if not known


@dataclass(slots=True, eq=False)
class RawPullback:
    """One application of a gradient rule; tensors as they were passed, remembered."""

    id: int
    op: str
    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]
    upstream: tuple[Any, ...]
    results: tuple[Any, ...] = ()
    scope: int | None = None
    parent: int | None = None
    exception: str | None = None
    raised_at: Place | None = None
    tapes: tuple[int, ...] = ()  # as of an event: who was recording, and which calls were under way
    within: tuple[int, ...] = ()


@dataclass(slots=True, eq=False)
class RawScope:
    """One use of a custom gradient; inputs and outputs become known when its forward has run."""

    id: int
    name: str
    kind: str
    parent: int | None
    places: tuple[Place, ...]
    function: Any
    inputs: tuple[Any, ...] = ()
    outputs: tuple[Any, ...] = ()
    variables: tuple[int, ...] = ()  # by their handles
    complete: bool = False
    rule: Any = None
    written: Any = None  # the rule as the user wrote it


@dataclass(slots=True, eq=False)
class RawInner:
    """A gradient call that was made while another tape was recording: what it was asked and what it returned."""

    api: str
    targets: tuple[Any, ...]
    weights: tuple[Any, ...]
    results: tuple[Any, ...]


@dataclass(slots=True, eq=False)
class RawLeave:
    """A tensor whose numbers were read by Python code."""

    index: int
    how: str
    tensor: Any
    places: tuple[Place, ...]
    tapes: tuple[int, ...]
    scope: int | None = None  # the custom gradient whose forward was running


@dataclass(eq=False)
class Collection:
    """What is kept for one tape that will be looked at."""

    id: int
    events: list[RawEvent] = field(default_factory=list)
    pullbacks: list[RawPullback] = field(default_factory=list)
    scopes: list[RawScope] = field(default_factory=list)
    leaves: list[RawLeave] = field(default_factory=list)
    inner: list[RawInner] = field(default_factory=list)
    failure: str | None = None

    def forget(self) -> None:
        """The tape has been reset: what it heard so far is to it as if it had never recorded it."""
        for event in self.events:
            event.tapes = tuple(tape for tape in event.tapes if tape != self.id)

    def clear(self) -> None:
        self.events, self.pullbacks, self.scopes, self.leaves, self.inner = [], [], [], [], []


@dataclass(eq=False)
class Ring:
    """The latest ops, whoever recorded them; `complete` until something was forgotten or not heard."""

    events: deque[RawEvent] = field(default_factory=deque)
    n_bytes: int = 0
    complete: bool = True

    def append(self, event: RawEvent) -> None:
        self.events.append(event)
        self.n_bytes += _size(event)
        while len(self.events) > RING_EVENTS or (self.n_bytes > RING_BYTES and len(self.events) > 1):
            self.n_bytes -= _size(self.events.popleft())
            self.complete = False

    def clear(self) -> None:
        self.events.clear()
        self.n_bytes = 0
        self.complete = False


class Recorder(threading.local):
    """The state of one thread: who is recording, and what is under way."""

    def __init__(self) -> None:
        self.ring = Ring()
        self.recording: list[int] = []
        self.collections: list[Collection] = []
        self.within: list[int] = []
        self.scopes: list[RawScope] = []
        self.pullbacks: list[RawPullback] = []
        self.run: Any = None
        self.quiet = 0
        self.within_api = 0
        self.background = True
        self.idle = 0
        self.listening = False

    @contextmanager
    def silence(self) -> Iterator[None]:
        """Our own ops: neither recorded here nor by the user's tapes."""
        self.quiet += 1
        try:
            yield
        finally:
            self.quiet -= 1

    def add(
        self,
        op: str,
        inputs: tuple[Any, ...],
        attrs: tuple[Any, ...],
        outputs: tuple[Any, ...],
        stopped: bool,
    ) -> RawEvent:
        """Record one eager op; the callers' frames are those of the callback.

        With `stopped` no tape heard it. A call of a function always looks stopped: its caller tells the
        tapes.
        """
        run = self.run if self.run is not None and self.run.name == op else None
        index, plain = next(numbers), without_shapes(attrs)
        where = (
            user_places(sys._getframe(2)),
            () if stopped and run is None else tuple(self.recording),
            tuple(self.within),
            self._scope(),
            self.pullbacks[-1].id if self.pullbacks else None,
        )
        how = (
            hiding_function(sys._getframe(2)) if op == "StopGradient" else None,
            reads_of(op, len(inputs)),
        )
        took, gave = tuple(map(remembered, inputs)), tuple(map(remembered, outputs))
        event = RawEvent(index, op, took, plain, gave, *where, run, *how)
        if run is not None:
            self.run = None
        light, bare = tuple(map(lightly, took)), tuple(map(lightly, gave))
        self.ring.append(RawEvent(index, op, light, plain, bare, *where, None, *how))
        for collection in self.collections:
            _collect(collection, event)
        self.idle = 0 if self.collections else self.idle + 1
        return event

    def _scope(self) -> int | None:
        return self.scopes[-1].id if self.scopes else None

    def leave(self, how: str, tensor: Any, frame: FrameType) -> None:
        leave = RawLeave(
            next(numbers), how, remembered(tensor), user_places(frame), tuple(self.recording), self._scope()
        )
        for collection in self.collections:
            collection.leaves.append(leave)


def in_order(events: Sequence[RawEvent]) -> Iterator[RawEvent]:
    """Every op after those whose results it takes.

    TensorFlow speaks of an op only after a forward accumulator has run the ops of its tangent, which may take its
    result.
    """
    makers = {tensor._id: event for event in events for tensor in event.outputs}

    def late(event: RawEvent) -> list[RawEvent]:
        before = (makers.get(tensor._id) for tensor in event.inputs if hasattr(tensor, "_id"))
        return [one for one in before if one is not None and one.index > event.index]

    return (event for _, event in after_needs(events, late, lambda one: one.index))


def _collect(collection: Collection, event: RawEvent) -> None:
    if collection.failure is not None:
        return
    if len(collection.events) >= MAX_TAPE_EVENTS:
        collection.clear()
        collection.failure = f"the tape saw more than {MAX_TAPE_EVENTS} ops"
        return
    collection.events.append(event)


def _size(event: RawEvent) -> int:
    total = 0
    for tensor in event.outputs:
        n_entries = getattr(tensor, "_num_elements", None)
        total += 8 * n_entries() if n_entries is not None else 0
    return total
