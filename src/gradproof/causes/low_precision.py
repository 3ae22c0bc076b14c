"""A 16-bit dtype, or a cast to fewer digits, is where the gradient's digits end.

What it finds
    An error that arises at a cast to a narrower dtype, or in ops of a 16-bit dtype, in a gradient that is asked for
    with more digits than that dtype has. Where 16 bits are used and the gradient is as good as they allow, this is a
    warning: in mixed precision it is meant.

Why it spoils a gradient
    float16 carries 3 digits and bfloat16 2. What is computed from a number that was rounded to them cannot have more,
    and a difference of such numbers soon has none.

Example
    h = tf.cast(x, tf.float16)      # 1000.3 becomes 1000.5
    spread = tf.reduce_sum((h - tf.reduce_mean(h)) ** 2)

Write instead
    spread = tf.cast(tf.reduce_sum((x - tf.reduce_mean(x)) ** 2), tf.float16)

Stays silent when
    the gradient is right to the accuracy of its dtype; or
    the digits are lost in ops of the gradient's own precision.
"""

from __future__ import annotations

from collections.abc import Iterator

from gradproof.causes._rounding import computed_and_proven, diagnose, loss_of
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.cause import Cause
from gradproof.diagnosis.diagnostic import Diagnostic, Fix
from gradproof.diagnosis.occasion import Occasion
from gradproof.ir import types

_MOST_BITS_OF_16 = 11  # the precision of float16; bfloat16 has 8
_MEANT = " The gradient is as good as that allows: where mixed precision is meant, there is nothing to fix."


def find(case: Case) -> Iterator[Diagnostic]:
    loss = loss_of(case, "low-precision")
    if loss is None:
        return
    dtype, wanted = loss.place.dtype, case.source.dtype
    digits, asked = round(types.digits_possible(dtype)), round(types.digits_possible(wanted))
    meant = _is_as_good_as_its_bits(case, dtype)
    yield from diagnose(
        case,
        loss,
        headline=f"{dtype} keeps {digits} digits here, and the gradient needs more",
        label=computed_and_proven(case, loss.place, loss.index),
        lost_at=f"rounded to {dtype}",
        why=(
            f"The gradient for `{case.source.name}` is a {wanted} and could hold {asked} digits, but the "
            f"numbers it is made of pass through {dtype}, which holds {digits}. The digits that are rounded "
            f"away here do not come back.{_MEANT if meant else ''}"
        ),
        fix=Fix(f"compute this part in {wanted}, and cast the result"),
        severity="warning" if meant else "error",
    )


def _is_as_good_as_its_bits(case: Case, dtype: str) -> bool:
    """Whether 16 bits were used, which nobody does by accident, and no more was lost than they have to lose."""
    comparison = case.judgement.comparison
    if types.precision_bits(dtype) > _MOST_BITS_OF_16 or comparison is None:
        return False
    return comparison.relative_error <= case.options.tolerance(dtype)


CAUSE = Cause(name="low-precision", find=find, doc=__doc__ or "", on=(Occasion.INACCURATE,))
