"""A gradient that anomaly detection has stopped because it became NaN: at which op, and at which of its numbers."""

from __future__ import annotations

import numpy as np

from gradproof.frontends.record.model import GradientCall, OpEvent
from gradproof.frontends.torch.kernels import kernel_of
from gradproof.frontends.torch.roles import plain_name
from gradproof.ir.capture import Break

MOST_ASKED = 32  # ops of the same name whose derivatives are asked for


def turned_nan(call: GradientCall, node: str) -> Break | None:
    """The op whose derivative gave NaN, by the name of its node; None where it is not known which."""
    named = [one for one in call.events if one.phase == "forward" and _is_called(one.op, node)]
    found = [(one, at) for one in named[-MOST_ASKED:][::-1] if (at := _without_slope(one)) is not None]
    if not named or (not found and len(named) > 1):
        return None
    event, at = found[0] if found else (named[0], "")
    name = plain_name(event.op)
    given = f"It was given {at}, where its slope is not finite. " if at else ""
    return Break(
        "singular-point",
        event.span,
        "its derivative gives NaN",
        () if call.span is None else ((call.span, "fails here"),),
        {
            "headline": f"anomaly detection stops the gradient: in the derivative of `{name}` it becomes NaN",
            "why": (
                f"The value of `{name}` may be finite, and its slope is not. {given}An infinite slope times a "
                "gradient of 0, as a mask or `where` behind it gives, is NaN."
            ),
            "remedy": (
                f"keep what `{name}` is given away from such points before it is computed, with `torch.where`, "
                "`clamp` or a small number added"
            ),
        },
    )


def _is_called(op: str, node: str) -> bool:
    return plain_name(op).replace("_", "").lower() == node.replace("_", "").lower()


def _without_slope(event: OpEvent) -> str | None:
    """The first number that an op was given at which its slope is not finite; None where there is none."""
    kernel, arrays = kernel_of(event, 0), [value.array for value in event.inputs]
    result = event.outputs[0].array
    if kernel is None or result is None or any(array is None for array in arrays):
        return None
    slopes = kernel.rule(np.ones(result.shape), *(array for array in arrays if array is not None)) or ()
    for array, slope in zip(arrays, slopes):
        if array is None or slope is None or array.shape != slope.shape:
            continue
        for place in np.argwhere(~np.isfinite(slope))[:1]:
            return f"{float(array[tuple(place)]):g}"
    return None
