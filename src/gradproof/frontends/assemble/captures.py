"""One gradient call as captures: the gradients that came back by what the tape heard, the missing ones by all that ran.

A path that broke is looked for, and its derivative computed, among ops that the tape did not hear and numbers that took
a way around it. The gradients that did come back must not be judged by these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gradproof.frontends.assemble.capture import read, to_capture
from gradproof.frontends.assemble.dialect import dialect_of
from gradproof.frontends.assemble.uncut import with_uncut
from gradproof.frontends.assemble.view import HEARD, WHOLE
from gradproof.frontends.exits.disguised import is_disguise
from gradproof.frontends.exits.lost_parts import KEEPING, lost_parts
from gradproof.frontends.exits.matching import Comebacks
from gradproof.frontends.record.flow import ancestors, gives
from gradproof.frontends.record.model import GradientCall
from gradproof.ir.capture import Capture


def to_captures(call: GradientCall) -> list[Capture]:
    """Together they have every source of the call once, in its order where one capture serves them all."""
    here = [k for k, seen in enumerate(call.observed) if seen is not None]
    missing = [k for k, seen in enumerate(call.observed) if seen is None]
    if call.tape.kind != "tape" or call.failure is not None or call.api == "jvp":
        return [to_capture(call)]
    if not here:
        return [replace(to_capture(call, WHOLE), is_rest=call.is_rest)]
    if not missing:
        return [_heard(call)]
    if not _is_cut(call):
        return [to_capture(call)]
    came, lost = only(call, here), only(call, missing)
    rest = replace(to_capture(lost, WHOLE), is_rest=True)
    return [_heard(came), rest]


def _heard(call: GradientCall) -> Capture:
    made, capture = read(call, HEARD)
    if made is None or capture.program is None or call.api != "gradient":
        return capture
    return _with_lost(with_uncut(capture, made), call)


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
    role = dialect_of(call.framework).role
    unheard = (event for event in forward if not event.is_heard_by(call.tape) and role(event) != "read")
    stores = (event for event in forward if role(event) in KEEPING and event.inputs[0].id in needed)
    disguises = (event for event in forward if gives(event, needed) and is_disguise(event, role(event)))
    return (
        Comebacks(call).are_possible
        or any(gives(event, needed) for event in unheard)
        or any(True for _ in (*stores, *disguises))
    )


def _with_lost(capture: Capture, call: GradientCall) -> Capture:
    """The capture with the parts of its target that may be lost, apart from those that are shown to be."""
    shown = set() if capture.around.uncut is None else {cut.back for cut in capture.around.uncut.cuts}
    found = [part for part in lost_parts(call) if part.kind != "left-framework" or part.back not in shown]
    return replace(capture, around=replace(capture.around, lost=tuple(found)))
