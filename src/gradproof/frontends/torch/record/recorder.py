"""The raw record of what one thread executes: ops with the values they took and gave, in order."""

from __future__ import annotations

import itertools
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._C._dynamo.eval_frame import set_eval_frame

from gradproof.frontends.record.source import Place
from gradproof.frontends.torch.record.keeping import keeper
from gradproof.frontends.torch.record.kept import GoneThrough
from gradproof.frontends.torch.record.leftover import Leftovers
from gradproof.frontends.torch.record.memory import DETACH, PASS_ON, Cell, Memory, is_leaf
from gradproof.frontends.torch.record.traced_lines import library_of, places_of

MOST_EVENTS = (
    200_000  # of ops kept; a longer history is cut, and gradients that reach back so far are not judged
)
MOST_BYTES = 2**30  # of tensors that nobody but the record may be holding

numbers = itertools.count(2)
"""Serial numbers for events, calls, scopes and rules: unique in the process, ordered in time."""


@dataclass(slots=True, eq=False)
class TorchEvent:
    """One executed op: `call` is how it was called, with `Ref(k)` for its k-th tensor."""

    index: int
    op: str
    inputs: tuple[Cell, ...]
    outputs: list[Cell]
    attrs: dict[str, Any]
    places: tuple[Place, ...]
    heard: bool
    within: tuple[int, ...]
    scope: int | None
    node: Any = None  # the node of the graph whose derivative this op computes a part of
    sequence: int | None = None  # the number of the node that the graph has for this op
    call: int | None = None  # the call of compiled code that it was run for
    keeper: str | None = None  # the module of the hook that keeps what its rule needs


@dataclass(slots=True, eq=False)
class CompiledCall:
    """One call of compiled code; `given` and `made` are copies that its graph was run on, and what came out of that."""

    id: int
    name: str
    places: tuple[Place, ...]
    refused: str | None = None  # why its ops are not known
    given: dict[tuple[Any, int], Any] = field(default_factory=dict)  # by the edge of the program's own tensor
    made: dict[int, Any] = field(default_factory=dict)  # by the place among the outputs of the compiled node


@dataclass(slots=True, eq=False)
class TorchScope:
    """One use of an `autograd.Function`."""

    id: int
    name: str
    parent: int | None
    places: tuple[Place, ...]
    function: Any
    inputs: tuple[Cell, ...] = ()
    outputs: tuple[Cell, ...] = ()
    complete: bool = False
    runs_what_it_is_given: bool = False  # as a checkpoint does: a `detach` in there means what it says
    library: str | None = None  # the package whose code it is, if it is not the user's
    is_run_again: bool = False  # its forward left PyTorch, and is one op that can be computed again


@dataclass(slots=True, eq=False)
class TorchExit:
    """A tensor whose numbers were read by Python code."""

    index: int
    how: str
    cell: Cell
    places: tuple[Place, ...]
    scope: int | None = None  # the function that was running its forward


@dataclass(frozen=True, slots=True)
class Ref:
    """Stands for the k-th tensor of an op in its arguments."""

    k: int


@dataclass(slots=True, eq=False)
class Pending:
    """An op that is about to run."""

    op: str
    inputs: tuple[Cell, ...]
    attrs: dict[str, Any]
    written: list[tuple[Any, Any]]  # tensors that it will change, with the largest other view of each
    heard: bool
    sequence: int | None
    node: Any
    number: int = field(default_factory=lambda: next(numbers))


class TorchRecorder(threading.local):
    """The state of one thread."""

    def __init__(self) -> None:
        self.memory = Memory(self.emit)
        self.events: list[TorchEvent] = []
        self.scopes: list[TorchScope] = []  # under way, the innermost last
        self.all_scopes: dict[int, TorchScope] = {}
        self.nodes: dict[Any, int] = {}  # of Python functions: which scope a node of the graph belongs to
        self.compiled: dict[Any, CompiledCall] = {}  # by the node of the graph that stands for the call
        self.call: int | None = None  # of compiled code, whose graph is being run beside it
        self.within: list[int] = []
        self.leaves: list[TorchExit] = []
        self.hooks: list[Any] = []  # runs of hooks that changed a gradient
        self.applied: list[Any] = []  # rules of the user's, in runs whose results may be differentiated again
        self.is_on = False  # whether the ops of this thread are heard
        self.quiet = 0
        self.is_check = (
            False  # whether gradproof itself asks, maybe from a shell: no frame is the user's then
        )
        self.autocasts = 0  # that are in force
        self.in_hooks = (
            0  # of the user's that are running: what they compute is no part of a node's derivative
        )
        self.legacy_batches = 0  # of the older `vmap` that are under way
        self.opaque: list[Any] | None = None  # runs of the engine inside one, told when it is over
        self.leftovers = Leftovers()
        self.gone_through = GoneThrough()
        self.freed: dict[int, tuple[int, Any]] = {}  # values whose graph a call has freed: when, and where
        self.previous = 0  # the event at which the previous gradient call began
        self.hidden_in: str | None = None  # an op that has run others where nobody hears them
        self.complete = True  # until something was forgotten
        self.since = 0  # the number of the first node of a graph whose op may have been heard
        self._sequence = 0
        self._backward: Any = None

    @contextmanager
    def silence(self) -> Iterator[None]:
        """What runs in here is not the program's: no transformation of `torch.func` goes through it either."""
        compiler = self.hush()
        try:
            with torch._C._DisableFuncTorch():
                yield
        finally:
            self.speak(compiler)

    def hush(self) -> Any:
        """Nobody hears what follows, and nobody compiles it: returns the compiler that the program is followed by."""
        self.quiet += 1
        return set_eval_frame(None)

    def speak(self, compiler: Any) -> None:
        set_eval_frame(compiler)
        self.quiet -= 1

    def begin(self) -> None:
        """Begin to listen: what ran until now is not known."""
        self.clear()
        self._sequence = self.since = torch.autograd._get_sequence_nr()

    def clear(self) -> None:
        self.freed, self.hooks, self.applied, self.hidden_in = {}, [], [], None
        self.memory.clear()
        self.events, self.leaves, self.all_scopes, self.nodes, self.compiled = [], [], {}, {}, {}
        self.complete = False

    def before(
        self, op: str, tensors: Sequence[Any], written: Sequence[Any], attrs: dict[str, Any], heard: bool
    ) -> Pending:
        self._backward = torch._C._current_autograd_node()
        keeps_none = self._backward is not None or bool(self.scopes)  # of a history: what is read are numbers
        cells = tuple(self.memory.read(tensor, keeps_none) for tensor in tensors)
        sequence = torch.autograd._get_sequence_nr()
        own = sequence - 1 if sequence != self._sequence and heard else None
        self._sequence = sequence
        covers = [(tensor, self.memory.before_write(tensor)) for tensor in written]
        return Pending(op, cells, attrs, covers, heard, own, self._backward)

    def after(self, pending: Pending, outputs: Sequence[Any]) -> TorchEvent:
        behind = self._behind_the_graph(pending)
        if behind is not None:
            pending.inputs = (behind, *pending.inputs[1:])
        requires = pending.heard and any(cell.requires_grad for cell in pending.inputs)
        requires = requires or (self.memory.transforms > 0 and pending.node is None)
        event = self._append(pending.op, pending.inputs, pending.attrs, requires)
        event.sequence = pending.sequence
        event.keeper = keeper()
        changed = {id(tensor): cover for tensor, cover in pending.written}
        unnoticed = not pending.heard and pending.node is None and not self.within and not self.scopes
        passed = [t for t, _ in pending.written if unnoticed and t.requires_grad and not is_leaf(t)]
        origin = pending.inputs[0] if pending.op == DETACH and pending.inputs else None
        for tensor in outputs:
            differs = requires and origin is None and (tensor.is_floating_point() or tensor.is_complex())
            if id(tensor) in changed:
                cell = self.memory.written(tensor, differs or tensor.requires_grad, changed.pop(id(tensor)))
            else:
                cell = self.memory.made(tensor, differs, origin)
            event.outputs.append(cell)
        for tensor, cover in pending.written:  # changed without being put out, as the state of a layer
            if id(tensor) in changed:
                event.outputs.append(self.memory.written(tensor, tensor.requires_grad, cover))
        if (passed or behind is not None) and len(event.outputs) == 1:
            event.outputs[0].requires_grad = True
            self._pass_through(event)
        self._forget()
        return event

    def has_made(self, tensors: Sequence[Any], since: Pending) -> bool:
        """Whether all of these were put out by ops that have run since another began: it is what they are."""
        recent = itertools.takewhile(lambda event: event.index > since.number, reversed(self.events))
        made = {cell.id for event in recent for cell in event.outputs}
        return bool(tensors) and all(self.memory.read(tensor).id in made for tensor in tensors)

    def _behind_the_graph(self, pending: Pending) -> Cell | None:
        """What `h` is for `h.data.clamp_(0)`: the numbers of a value with a history are changed without it."""
        if not pending.written or pending.node is not None or self.within or self.scopes:
            return None
        cell = pending.inputs[0] if pending.inputs else None
        origin = None if cell is None else cell.origin
        is_tracked = origin is not None and origin.requires_grad and origin.leaf is None
        return (
            origin
            if is_tracked and cell is not None and origin is not None and cell.memory == origin.memory
            else None
        )

    def _pass_through(self, event: TorchEvent) -> None:
        """Changed in place where no history is kept: for the graph the op is not there, whatever it did."""
        frame = sys._getframe(2)
        name = f"{event.op.split('.')[1]} under no_grad"
        scope = TorchScope(
            next(numbers), name, None, event.places, None, event.inputs[:1], tuple(event.outputs), True
        )
        scope.library = library_of(frame)
        self.all_scopes[scope.id] = scope
        event.scope, event.heard = scope.id, True

    def emit(
        self, op: str, inputs: tuple[Cell, ...], output: Cell, attrs: dict[str, Any] | None = None
    ) -> None:
        """An event of ours, which joins values that PyTorch itself holds for one."""
        heard = output.requires_grad or any(cell.requires_grad for cell in inputs)
        self._append(op, inputs, attrs or {}, heard).outputs.append(output)

    def _append(self, op: str, inputs: tuple[Cell, ...], attrs: dict[str, Any], heard: bool) -> TorchEvent:
        node = None if self.in_hooks else self._backward
        if op == DETACH and self.scopes and not self.scopes[-1].runs_what_it_is_given:
            op = PASS_ON  # its rule is all the history that a forward has: here a `detach` cuts nothing
        event = TorchEvent(
            next(numbers), op, inputs, [], attrs, places_of(sys._getframe(2)), heard,
            tuple(self.within), self.scopes[-1].id if self.scopes else self.nodes.get(node), node, None, self.call,
        )  # fmt: skip
        self.events.append(event)
        return event

    def leave(self, how: str, cell: Cell, places: tuple[Place, ...]) -> None:
        scope = self.scopes[-1].id if self.scopes else None
        self.leaves.append(TorchExit(next(numbers), how, cell, places, scope))

    def read_before(self, number: int) -> list[TorchExit]:
        """The numbers that were read since the previous gradient call, and before another one began."""
        return [one for one in self.leaves if self.previous < one.index < number]

    def _forget(self) -> None:
        if len(self.events) > MOST_EVENTS or self.memory.n_bytes > MOST_BYTES:
            half = len(self.events) // 2
            self.events = self.events[half:]
            kept = {cell.id for event in self.events for cell in (*event.inputs, *event.outputs)}
            self.memory.keep(kept)
            self.complete = False
