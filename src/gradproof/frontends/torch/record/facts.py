"""What else is known of one gradient call: its own ops, the precision of its policy, doubts, retained gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gradproof.frontends.exits.evidence import is_only_shown
from gradproof.frontends.record.model import RETURN_OP, Exit, FunctionCall, Mode, Raised, Value
from gradproof.frontends.record.source import span_of, users_place
from gradproof.frontends.torch.record.asked import is_plain
from gradproof.frontends.torch.record.compiled import NODE
from gradproof.frontends.torch.record.engine_run import EngineRun
from gradproof.frontends.torch.record.memory import Cell
from gradproof.frontends.torch.record.recorder import CompiledCall, TorchEvent, TorchExit, TorchRecorder
from gradproof.frontends.torch.record.transforms import IN_VMAP, are_batched, plain
from gradproof.ir import types
from gradproof.ir.span import Span

OLDER = "a part of the target was computed before this line was listened to, so that its ops are not known"
HIDDEN = "a part of the target was computed inside of `{op}`, where the ops are not heard"

COMPILED = "a part of the target was computed by compiled code, {reason}"
UNHEARD = 'whose ops are not heard; they are with `torch.compile(..., backend="aot_eager")`'
_ROUNDINGS = 64


def going_back(run: EngineRun, recorder: TorchRecorder) -> list[TorchEvent]:
    """The events of the engine's run that a rule or a gradient was computed by.

    Others serve what happens to gradients afterwards, as DDP's buckets do, which other threads write into.
    """
    own = [e for e in recorder.events if run.id in e.within and e.node not in recorder.compiled]
    if run.error is not None or run.held or run.is_batched:
        return own
    rules = [cell for rule in run.nodes.values() for cell in (*rule.upstream, *rule.results)]
    hooks = [cell for hook in recorder.hooks if hook.run == run.id for cell in (hook.given, hook.result)]
    results = [recorder.memory.read(plain(one), True) for one in run.results if one is not None]
    needed = {cell.id for cell in (*rules, *hooks, *results, *run.gradients.values()) if cell is not None}
    found = []
    for event in reversed(own):
        if event.scope is not None or any(cell.id in needed for cell in event.outputs):
            found.append(event)
            needed.update(cell.id for cell in event.inputs)
    return found[::-1]


def made_of(
    run: EngineRun, events: Sequence[TorchEvent], exits: Sequence[TorchExit], leaves: Iterable[Exit]
) -> dict[int, Cell]:
    """The values that the target was computed from, by their ids; if it has no graph, through plain numbers too."""
    found = {cell.id: cell for cell in run.targets}
    if is_plain(run):
        handed_on = {leave.value.id for leave in leaves if not is_only_shown(leave.span)}
        found |= {one.cell.id: one.cell for one in exits if one.cell.id in handed_on}
    forward = [event for event in events if run.id not in event.within]
    return found | {cell.id: cell for event in forward for cell in event.inputs}


def policy_of(events: Sequence[TorchEvent]) -> str | None:
    """The dtype of fewest digits that autocast has put on the way."""
    cast = {event.outputs[0].dtype for event in events if event.attrs.get("by_policy") and event.outputs}
    real = [dtype for dtype in cast if types.is_real(dtype)]
    return min(real, key=types.precision_bits, default=None)


def doubt_of(run: EngineRun, events: Sequence[TorchEvent], recorder: TorchRecorder) -> str | None:
    """What has a history that nobody recorded cannot be taken for a constant."""
    made = {cell.id for event in events for cell in event.outputs}
    used = {cell.id: cell for cell in run.targets}
    for event in reversed([event for event in events if run.id not in event.within]):
        if any(cell.id in used for cell in event.outputs):  # others lead to numbers that were only looked at
            used.update((cell.id, cell) for cell in event.inputs)
    if not any(cell.unseen and cell.id not in made for cell in used.values()):
        return IN_VMAP if run.is_batched or are_batched(run.results) else None
    if recorder.hidden_in is not None:
        return HIDDEN.format(op=recorder.hidden_in)
    compiled = [one for one in run.nodes if one.name() == NODE and one._sequence_nr() >= recorder.since]
    known = [recorder.compiled[node].refused for node in compiled if node in recorder.compiled]
    reason = next((one for one in known if one is not None), UNHEARD)
    return COMPILED.format(reason=reason) if compiled else OLDER


def raised_of(run: EngineRun, recorder: TorchRecorder) -> Raised | None:
    """Of the functions that did not get to their rule, the one that was applied last has its turn first."""
    if run.error is None:
        return None
    place = users_place(run.error.__traceback__)  # so far it has passed only what the engine has called
    waiting = [
        recorder.nodes[one] for one, rule in run.nodes.items() if not rule.done and one in recorder.nodes
    ]
    return Raised(None if place is None else span_of(place), max(waiting, default=None))


def freed_of(
    run: EngineRun, events: Sequence[TorchEvent], freed: Mapping[int, tuple[int, Span | None]]
) -> dict[int, Span | None]:
    """Values whose history is gone, and the call that freed it where all of the target was computed before."""
    targets = {cell.id for cell in run.targets}
    made = (event.index for event in events if any(cell.id in targets for cell in event.outputs))
    last = max(made, default=0)
    return {id: by if last < first else None for id, (first, by) in freed.items()}


def retained(run: EngineRun, tensor: Any, read: Callable[[Any], Cell]) -> Cell | None:
    """What came to a value on the way whose gradient is kept, or to a leaf that is itself the target: no op has run."""
    if tensor.is_leaf:
        is_target = any(tensor is one for one in run.outputs)
        return read(tensor.grad) if is_target and tensor.grad is not None else None
    if not tensor.retains_grad:
        return None
    rule = next((one for one in run.nodes.values() if one.done and one.node is tensor.grad_fn), None)
    place = tensor.output_nr
    return None if rule is None or place >= len(rule.upstream) else rule.upstream[place]


def weights_of(
    run: EngineRun, read: Callable[[Any], Cell], value: Callable[[Cell], Value]
) -> Iterator[Value | None]:
    """Those of the target; None stands for ones, as PyTorch puts them there for a single number."""
    for weight in run.weights:
        cell = None if weight is None else read(plain(weight))
        is_one = cell is not None and cell.shape == () and bool(cell.array() == 1)
        yield None if cell is None or is_one else value(cell)


def followed(cell: Cell, backward: Sequence[TorchEvent]) -> Cell:
    """A leaf that a rule has made of its own numbers, to differentiate by it, is those numbers for the call."""
    before = cell.before
    is_own = before is not None and any(before in event.outputs for event in backward)
    return before if is_own and before is not None else cell


def compiled_in(events: Sequence[TorchEvent], recorder: TorchRecorder) -> tuple[FunctionCall, ...]:
    """The calls of compiled code whose graphs these events were heard in."""
    heard = {event.call for event in events}
    known = {one.id: one for one in recorder.compiled.values() if one.id in heard}
    return tuple(_function_call(one) for one in known.values())


def mode_of(events: Sequence[TorchEvent]) -> Mode:
    """In parts only where compiled code gave other numbers than its ops: elsewhere nothing was spoilt by compiling."""
    returned = [zip(event.inputs, event.outputs) for event in events if event.op == RETURN_OP]
    pairs = ((single.array(), compiled.array()) for one in returned for single, compiled in one)
    return "eager" if all(_are_one(*pair) for pair in pairs) else "parts"


def _are_one(a: Any, b: Any) -> bool:
    """Up to a few roundings of the largest entry, as another order of the same sums has."""
    if a.dtype.kind not in "fc":
        return bool(np.array_equal(a, b))
    largest = np.max(np.abs(a[np.isfinite(a)]), initial=0)
    return bool(np.allclose(a, b, rtol=0, atol=_ROUNDINGS * np.finfo(a.dtype).eps * largest, equal_nan=True))


def _function_call(call: CompiledCall) -> FunctionCall:
    span = span_of(call.places[0]) if call.places else None
    return FunctionCall(call.id, call.name, "parts", span, (), ())
