"""Exceptions of PyTorch's engine: what they mean, and the line that is to blame."""

from __future__ import annotations

import re
from dataclasses import replace

from gradproof.diagnosis.diagnostic import CRASH
from gradproof.frontends.record.model import GradientCall, OpEvent
from gradproof.frontends.torch.known_errors import known_error
from gradproof.frontends.torch.record.overwritten import change_in_place
from gradproof.frontends.torch.roles import plain_name
from gradproof.frontends.torch.second_order import ONCE, without_graph
from gradproof.frontends.torch.spoilt import turned_nan
from gradproof.ir.capture import Break
from gradproof.ir.span import Span

_SPOILT = re.compile(r"Function '(\w+?)(?:Backward\d*)?' returned nan values")
_AGAIN = "backward through the graph a second time"
_CHANGED = re.compile(
    r"modified by an inplace operation(?:.*which is output \d+ of (\w+?)(?:Backward\d*)?,)?", re.S
)
_NO_GRAPH = ("does not require grad", "appears to not have been used in the graph")
_REFUSED = re.compile(
    r"[Ff]unction (\w+)Backward returned an (?:incorrect number of gradients|invalid gradient)"
)

_NO_RULE = re.compile(
    r"backward through (\S+) but no autograd|derivative for '?((?:aten::)?\w+)(?:: \w+)?'? is not implemented"
)


def raised(call: GradientCall, k: int) -> Break | None:
    """Why the engine raised; None where it was an exception of somebody else's."""
    text = call.exception or ""
    if _AGAIN in text:
        return _again(call)
    if ONCE in text:
        return without_graph(call, k)
    if any(part in text for part in _NO_GRAPH):
        from gradproof.frontends.missing.why import find_break

        return find_break(call, k)
    refused = _REFUSED.search(text)
    if refused is not None:
        return _refused(call, refused[1], text)
    ruleless = _NO_RULE.search(text)
    if ruleless is not None:
        return _ruleless(call, plain_name((ruleless[1] or ruleless[2]).replace("::", ".")))
    changed = _CHANGED.search(text)
    if changed is not None:
        return _changed(call, changed[1] or "")
    spoilt = _SPOILT.search(text)
    return _by_rule(call, text) or (None if spoilt is None else turned_nan(call, spoilt[1]))


def _freed_by(call: GradientCall, event: OpEvent) -> Span | None:
    """The call that freed what an op went on from, if that op had run before it."""
    spans = (call.freed.get(value.id) for value in event.inputs)
    return next((span for span in spans if span is not None), None)


def _called(call: GradientCall) -> tuple[tuple[Span, str], ...]:
    return () if call.span is None else ((call.span, "fails here"),)


def _again(call: GradientCall) -> Break:
    """The first line that went on with a value whose graph an earlier call has used up; that call itself is none."""
    used = set(call.freed)
    own = [event for event in call.events if event.phase == "forward" and not event.within]
    later = [event for event in own if not _gives(event, used)]
    carries = next((event for event in later if _takes(event, used) and event.span is not None), None)
    before = None if carries is None else _freed_by(call, carries)
    if before is not None:
        label = "frees what both were computed from"
        return Break("graph-grows", before, label, _called(call), {"again": "shared"})
    if carries is None:
        return Break(
            "graph-grows", call.span, "the graph was freed by an earlier call", (), {"again": "target"}
        )
    return Break(
        "graph-grows",
        carries.span,
        "goes on from a value of the step before",
        _called(call),
        {"again": "value"},
    )


def _takes(event: OpEvent, ids: set[int]) -> bool:
    return any(value.id in ids for value in event.inputs)


def _gives(event: OpEvent, ids: set[int]) -> bool:
    return any(value.id in ids for value in event.outputs)


def _changed(call: GradientCall, maker: str) -> Break | None:
    """The op that changed a value in place after another one had been given it."""
    forward = [event for event in call.events if event.phase == "forward"]
    found = None
    for place, event in enumerate(forward):
        if not event.op.split(".")[1].endswith("_") or not event.inputs:
            continue
        own = event.inputs[0].id
        made = next((one for one in forward[:place] if _gives(one, {own})), None)
        used = any(_takes(one, {own}) for one in forward[:place])
        is_named = made is not None and _is_called(made.op, maker)
        if (used or is_named) and (found is None or is_named):
            found = event
    if found is None:
        change = call.overwritten
        return (
            None if change is None else replace(change, contributing=(*change.contributing, *_called(call)))
        )
    users = [one.span for one in forward if _takes(one, {found.inputs[0].id}) and one is not found]
    needs = tuple(
        (span, "its gradient needs the number from before") for span in users[:1] if span is not None
    )
    return change_in_place(found.op, found.span, (*needs, *_called(call)))


def _is_called(op: str, node: str) -> bool:
    return bool(node) and plain_name(op).replace("_", "").lower() == node.lower()


def _refused(call: GradientCall, name: str, text: str) -> Break:
    scope = next((one for one in call.scopes if one.name == name), None)
    message = text.split(": ", 1)[-1].strip().rstrip(".") + "."
    facts = {"exception": text.split(": ", 1)[0], "op": name, "refused": message}
    at = call.span if scope is None else scope.rule or scope.span
    return Break("custom-gradient", at, "what it returns is refused", _called(call), facts)


def _by_rule(call: GradientCall, text: str) -> Break | None:
    """What a rule or a hook of the user's raised, or is refused for in words that do not name it."""
    raised, known = call.raised, known_error(text)
    scope = next((one for one in call.scopes if raised is not None and one.id == raised.scope), None)
    if known is not None and known.kind != CRASH:
        own = None if scope is None else scope.rule if known.kind == "custom-gradient" else scope.span
        facts = {"headline": known.headline, "why": known.why, "remedy": known.fix, "exception": text}
        return Break(known.kind, own or call.span, known.label, _called(call) if own else (), facts)
    if raised is None or raised.at is None:
        return None
    name = "a hook" if scope is None else scope.name
    facts = {"op": name, "exception": text.splitlines()[0]}
    return Break("custom-gradient", raised.at, "raises here", _called(call), facts)


def _ruleless(call: GradientCall, name: str) -> Break:
    """An op that PyTorch can run and not differentiate."""
    spans = [scope.span for scope in call.scopes if scope.name == name]
    spans += [
        event.span for event in call.events if event.phase == "forward" and plain_name(event.op) == name
    ]
    at = next((span for span in spans if span is not None), call.span)
    return Break("no-gradient-registered", at, "has no gradient", _called(call), {"op": f"`{name}`"})
