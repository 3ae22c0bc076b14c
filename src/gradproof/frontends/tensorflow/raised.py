"""What TensorFlow answers when it has no gradient and does not say None: exceptions of its own, and zeros."""

from __future__ import annotations

import re
from dataclasses import replace

from gradproof.frontends.assemble.dialect import dialect_of
from gradproof.frontends.record.flow import ancestors, descendants, gives, takes
from gradproof.frontends.record.model import GradientCall
from gradproof.frontends.tensorflow.after.tape_misuse import USED_UP, earlier_call, opening, tape_name
from gradproof.ir.capture import Break
from gradproof.ir.span import Span

# The two sides of a sum that fails, one of them without a shape.
_UNEQUAL = re.compile(
    r"AddN must have the same size and shape\.\s+Input \d+: (\[\] !=|\S+ != input \d+: \[\])"
)


def raised(call: GradientCall, k: int) -> Break | None:
    """What an exception of TensorFlow's own comes from; None where it says nothing about gradients."""
    if call.span is None or call.exception is None:
        return None
    if USED_UP in call.exception:
        return _asked_before(call, call.span, k)
    return _lone_zero(call, k) if _UNEQUAL.search(call.exception) else None


def _asked_before(call: GradientCall, asked: Span, k: int) -> Break:
    """A tape that was asked before has nothing left to answer with."""
    name = tape_name(asked)
    opened, before = opening(asked, name), earlier_call(asked, name)
    contributing = [] if opened is None else [(opened, "holds for one call")]
    contributing += [] if before is None else [(before, "which was this one")]
    return Break(
        "outside-tape",
        asked,
        "uses a tape that is empty by now",
        tuple(contributing),
        {
            "headline": f"there is no gradient for `{call.sources[k].name}`: "
            f"`{name}` was used before, and a tape computes gradients only once",
            "why": "A tape forgets what it recorded as soon as it has computed gradients, to save memory. For this "
            "second call it is as if nothing had run inside it.",
            "remedy": "open the tape with `persistent=True`, or ask once, with a list of sources",
            "used up": name,
        },
    )


def _lone_zero(call: GradientCall, k: int) -> Break | None:
    """The rule of `tf.py_function` returns a single zero for Python that left TensorFlow; in a sum it does not fit."""
    source, role = call.sources[k], dialect_of(call.framework).role
    forward = [e for e in (*call.older, *call.events) if e.phase == "forward" and role(e) != "shape"]
    forward.sort(key=lambda event: event.index)
    start = {source.value.id} | ({source.variable.id} if source.variable is not None else set())
    reached, needed = descendants(forward, start), ancestors(forward, {t.value.id for t in call.targets})
    on_the_way = (e for e in forward if takes(e, reached) and gives(e, needed))
    left = next((e for e in on_the_way if e.op == "EagerPyFunc"), None)
    if left is None:
        return None
    return Break(
        "left-framework",
        left.span,
        "runs outside TensorFlow",
        () if call.span is None else ((call.span, call.ending),),
        {
            "headline": f"there is no gradient for `{source.name}`: what `tf.py_function` sends back is a single zero",
            "why": "The Python function left TensorFlow, so that no gradient leads through it, and its rule returns a "
            f"zero without a shape. `{source.name}` has another way to the target, too, and the gradients of both "
            "cannot be added.",
            "remedy": _REMEDIES["left-framework"],
            "part": left.op,
        },
    )


_REMEDIES = {
    "outside-tape": "compute everything inside the `with` block of the tape, the inner Jacobian too",
    "left-framework": "stay in TensorFlow: use its own functions on the tensor, not NumPy's on its numbers",
}


def said(call: GradientCall, k: int, why: Break) -> Break:
    """Where zeros came back in the place of None: that they do, and for what reason."""
    if k not in call.filled:
        return why
    name = call.sources[k].name
    places = tuple(
        (span, "returns zeros" if span == call.span else label) for span, label in why.contributing
    )
    return replace(
        why,
        contributing=places,
        facts={
            **why.facts,
            "headline": f"the zeros for `{name}` are no gradient: TensorFlow has none and fills it in",
            "why": f"No path that TensorFlow has seen leads from the target back to `{name}`. Most calls return None "
            "then; this one returns zeros, though the target does depend on it.",
            "remedy": _REMEDIES.get(
                why.kind, "make the path whole, so that a gradient can come back along it"
            ),
        },
    )
