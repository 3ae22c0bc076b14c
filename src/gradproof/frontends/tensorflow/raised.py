"""What TensorFlow answers when it has no gradient and does not say None: exceptions of its own, and zeros."""

from __future__ import annotations

from dataclasses import replace

from gradproof.frontends.record.model import GradientCall
from gradproof.frontends.tensorflow.after.tape_misuse import USED_UP, earlier_call, opening, tape_name
from gradproof.ir.capture import Break


def raised(call: GradientCall, k: int) -> Break | None:
    """A tape that was asked before has nothing left to answer with; None where it was another exception."""
    if call.span is None or USED_UP not in (call.exception or ""):
        return None
    name = tape_name(call.span)
    opened, before = opening(call.span, name), earlier_call(call.span, name)
    contributing = [] if opened is None else [(opened, "holds for one call")]
    contributing += [] if before is None else [(before, "which was this one")]
    return Break(
        "outside-tape",
        call.span,
        "asks a tape that is empty by now",
        tuple(contributing),
        {
            "headline": f"there is no gradient for `{call.sources[k].name}`: "
            f"`{name}` was asked before, and a tape answers only once",
            "why": "A tape lets go of what it recorded as soon as it has computed gradients, to save memory. For this "
            "second call it is as if nothing had run inside it.",
            "remedy": "open the tape with `persistent=True`, or ask once, with a list of sources",
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
