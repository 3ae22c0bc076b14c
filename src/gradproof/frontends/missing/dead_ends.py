"""Paths that end where no tape could follow: arguments that are exchanged or no tensors, text, data sets, variables."""

from __future__ import annotations

from collections.abc import Sequence

from gradproof.frontends.assemble.dialect import Dialect
from gradproof.frontends.exits.lost_parts import KEEPING, lost_parts
from gradproof.frontends.record.flow import ancestors, takes
from gradproof.frontends.record.model import NO_TENSOR, GradientCall, Operand, OpEvent
from gradproof.ir.capture import Break
from gradproof.ir.span import Span

_TAPE_USED_UP = "non-persistent GradientTape"  # how TensorFlow's own sentence goes
Places = tuple[tuple[Span, str], ...]


def exchanged(call: GradientCall, source: Operand, forward: Sequence[OpEvent]) -> Break | None:
    """The source was computed from the target: what was asked is the wrong way round."""
    before = ancestors(forward, {source.value.id}) - {source.value.id}
    for target in call.targets:
        own = {target.value.id, *(() if target.variable is None else (target.variable.id,))}
        if own & before:
            label = f"`{source.name}` was computed from `{target.name}`"
            facts = {"exchanged": target.name, "target": f"`{target.name}`"}
            return Break("not-connected", call.span, label, (), facts)
    return None


def stored(
    dialect: Dialect, forward: Sequence[OpEvent], reached: set[int], needed: set[int], called: Places
) -> Break | None:
    """The value was put into something that keeps numbers, and read again: a tape sees only the number read."""
    for event in forward:
        kept = [value.id for value in event.inputs if value.dtype == "resource"]
        if not takes(event, reached - set(kept)) or not needed & set(kept):
            continue
        if dialect.role(event) in KEEPING:
            label = "a variable keeps numbers, not where they came from"
            return Break("not-connected", event.span, label, called, {"stored": event.op})
        if dialect.role(event) == "feed":
            label = "a data set hands out numbers, not where they came from"
            return Break("not-connected", event.span, label, called, {"stored": event.op, "in": "data set"})
    return None


def as_text(path: Sequence[OpEvent], called: Places) -> Break | None:
    """Numbers were written as text on the way; text has no slope."""
    for event in path:
        if any(value.dtype == "string" for value in event.outputs):
            label = f"{event.op} makes text of the numbers"
            return Break("no-gradient-registered", event.span, label, called, {"op": event.op, "text": "yes"})
    return None


def no_tensor(call: GradientCall, source: Operand) -> Break | None:
    """A call that raised because it was given plain numbers: for the source, or for the target."""
    if call.exception is None or _TAPE_USED_UP in call.exception:
        return None
    made = {value.id for event in call.events for value in event.outputs}
    if _is_plain(source, made):
        what = _what(source)
        return Break(
            "not-watched", call.span, f"`{source.name}` is {what}", (), {"plain": what, "what": what}
        )
    for target in call.targets:
        if target.value.dtype == "none":
            label = f"`{target.name}` is None: what should have computed it returned nothing"
            return Break(
                "not-connected", call.span, label, (), {"plain": "None", "target": f"`{target.name}`"}
            )
        if _is_plain(target, made):
            what = f"`{target.name}` is {_what(target)}"
            facts = {"plain": _what(target), "target": f"`{target.name}`"}
            return Break("not-connected", call.span, f"{what}, not a tensor", (), facts)
    return None


def _is_plain(operand: Operand, made: set[int]) -> bool:
    is_ours = operand.value.id < NO_TENSOR and operand.value.id not in made
    return is_ours and operand.variable is None and operand.value.array is not None


def _what(operand: Operand) -> str:
    return "a plain number" if operand.value.shape == () else "a NumPy array"


def unfollowed(call: GradientCall, source: Operand) -> Break:
    """A derivative along a direction that another accumulator computed out of this one's sight."""
    target = call.targets[0].name if call.targets else "the target"
    entered = () if call.tape.entered is None else ((call.tape.entered, "this accumulator is the inner one"),)
    return Break(
        "outside-tape",
        call.span,
        call.ending,
        entered,
        {
            "headline": f"there is no derivative of `{target}`: it was computed outside this accumulator",
            "why": f"`{target}` is a derivative that another accumulator computed. That one was entered first, so it "
            "works outside this one, which has not seen its numbers being made.",
            "remedy": "ask the inner accumulator first and the outer one for the derivative of that: "
            "`outer.jvp(inner.jvp(y))`",
        },
    )


def unseen(call: GradientCall, source: Operand, called: Places) -> Break | None:
    """NumPy takes the numbers of a tensor without its notice; the text shows where."""
    for part in lost_parts(call):
        if part.kind == "left-framework" and source.name in part.sources and part.how:
            label = f"{part.how} turns the tensor into plain numbers"
            return Break("left-framework", part.left, label, called, {"how": part.how})
    return None
