"""One gradient call as captures: the gradients that came back by what the tape heard, the missing ones by all that ran.

A path that broke is looked for, and its derivative computed, among ops that the tape did not hear and numbers that took
a way around it. The gradients that did come back must not be judged by these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gradproof.errors import GradproofError
from gradproof.frontends.tensorflow.assembly import HEARD, RETURNED, STORES, WHOLE
from gradproof.frontends.tensorflow.capture import assembled, to_capture
from gradproof.frontends.tensorflow.comeback import Comebacks
from gradproof.frontends.tensorflow.flow import ancestors, gives
from gradproof.frontends.tensorflow.recording import GradientCall
from gradproof.ir.capture import Capture, Uncut
from gradproof.ir.program import ancestors as nodes_behind


def to_captures(call: GradientCall) -> list[Capture]:
    """Together they have every source of the call once, in its order where one capture serves them all."""
    here = [k for k, seen in enumerate(call.observed) if seen is not None]
    missing = [k for k, seen in enumerate(call.observed) if seen is None]
    if call.tape.kind != "tape" or call.failure is not None or call.api == "jvp":
        return [to_capture(call)]
    if not here:
        return [to_capture(call, WHOLE)]
    if not missing:
        return [_with_uncut(to_capture(call, HEARD), call)]
    if not _is_cut(call):
        return [to_capture(call)]
    came, lost = only(call, here), only(call, missing)
    return [_with_uncut(to_capture(came, HEARD), came), to_capture(lost, WHOLE)]


def only(call: GradientCall, places: Sequence[int]) -> GradientCall:
    """The call as if it had been asked for some of its sources."""
    return replace(
        call,
        sources=tuple(call.sources[k] for k in places),
        observed=tuple(call.observed[k] for k in places),
    )


def _is_cut(call: GradientCall) -> bool:
    """Whether it makes a difference how much counts as connected."""
    forward = [event for event in (*call.older, *call.events) if event.phase == "forward"]
    forward.sort(key=lambda event: event.index)
    needed = ancestors(forward, {target.value.id for target in call.targets})
    unheard = (
        event for event in forward if not event.is_heard_by(call.tape) and event.op != "ReadVariableOp"
    )
    stores = (event for event in forward if event.op in STORES and event.inputs[0].id in needed)
    return (
        Comebacks(call).are_possible
        or any(gives(event, needed) for event in unheard)
        or any(True for _ in stores)
    )


def _with_uncut(capture: Capture, call: GradientCall) -> Capture:
    """The capture with the program that has no cuts, if numbers left the framework and came back into the target."""
    if capture.program is None or call.api != "gradient" or not Comebacks(call).are_possible:
        return capture
    try:
        made, whole = assembled(call, RETURNED)
    except GradproofError:
        return capture
    if not made.comebacks.cuts or whole.program is None:
        return capture
    behind = nodes_behind(whole.program, whole.program.outputs)
    nodes = tuple(source.node if source.node in behind else None for source in whole.sources)
    return replace(capture, uncut=Uncut(whole.program, nodes, tuple(dict.fromkeys(made.comebacks.cuts))))
