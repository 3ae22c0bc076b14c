"""The gradient shrinks by a steady factor each time it passes a line, until nothing is left of it.

What it finds
    A line that ran many times, as in a loop or a deep stack of equal layers, through which the gradient shrank to
    less than a hundred-millionth, or a gradient that is zero only because its dtype holds nothing so small, or
    because every unit of a layer is off: the flat side of its `relu` was taken for all examples.

Why it spoils a gradient
    The number is right, and useless: whatever comes before the line is no longer trained, although the target
    depends on it.

Example
    for _ in range(60):
        h = np.tanh(0.5 * h)            # the gradient shrinks by half each time

Write instead
    h = h + np.tanh(0.5 * h)            # a direct way beside the layer; or a normalisation between layers

Stays silent when
    the target truly does not depend on the source; or
    a gradient is zero because other weights are, by a mask among the data, or since a loss asks for no more; or
    the shrinking is moderate; or
    it does not come from one line that is repeated.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gradproof.causes._evidence import subject
from gradproof.causes._nonfinite import returned_rows
from gradproof.causes._scale import diagnose, growth_of, ran, repeated, step_of
from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.cause import Cause
from gradproof.diagnosis.dead_units import Closed, closed_at
from gradproof.diagnosis.diagnostic import Annotation, Diagnostic, Fix
from gradproof.diagnosis.growth import Growth
from gradproof.ir import types
from gradproof.ir.span import Span
from gradproof.judge.verdict import Verdict

MAX_FACTOR = 1e-8  # beside the gradients of later layers nothing of it is left in a float32
_FIX = "give the gradient a direct way past these steps, normalise between them, or work with logarithms"
_FIX_DEAD = (
    "begin with smaller biases or a smaller learning rate, scale the inputs, or use a function with a slope on both "
    "sides, such as a leaky relu"
)
_FIX_BEYOND = (
    "begin inside the bounds, or use a function that bends towards them, such as a sigmoid or softplus"
)
MIN_ENTRIES = 4  # a switch of one or two numbers may be off on purpose


def find(case: Case) -> Iterator[Diagnostic]:
    growth = growth_of(case)
    if growth is not None and growth.factor <= MAX_FACTOR:
        step, left = words.significant(growth.per_step, 2), words.significant(growth.factor, 2)
        yield from diagnose(
            case,
            growth,
            "vanishing",
            headline=f"the gradient for `{case.source.name}` shrinks to {left} of its size through {repeated(growth)}",
            label=f"shrinks to {step} of its size with each of {growth.repeats} {step_of(growth)}s",
            why=(
                f"{ran(growth)} Going backward, each {step_of(growth)} leaves about {step} of the gradient, "
                f"and the factors multiply to {left}. The gradient is right, but {_lost_by(case, growth)}."
            ),
            fix=Fix(_FIX),
            severity="note" if _has_rest(case, growth) else "warning",
        )
    elif case.verdict is Verdict.CORRECT and _is_lost(case):
        yield _lost(case)
    elif case.verdict is Verdict.CORRECT and _is_nothing(case):
        closed = closed_at(case.capture.program, _nodes(case), case.index) if case.capture.program else None
        if closed is not None and closed.node.span is not None:
            is_dead = closed.is_layer and int(np.prod(case.source.shape)) >= MIN_ENTRIES
            yield (_dead if is_dead else _beyond)(case, closed, closed.node.span)


def _has_rest(case: Case, growth: Growth) -> bool:
    """Whether later steps keep the gradient up, as with weights that all time steps share."""
    observed = case.source.observed
    largest = 0.0 if observed is None else float(np.max(np.abs(observed), initial=0.0))
    return growth.inside and largest > MAX_FACTOR * growth.last


def _lost_by(case: Case, growth: Growth) -> str:
    if _has_rest(case, growth):
        return "the first of these steps add next to nothing to it: what lies so far back is not learnt"
    return "too small to train anything by"


def _is_lost(case: Case) -> bool:
    """All entries are zero although the true ones are not: the dtype holds nothing so small."""
    observed, true = case.source.observed, case.true
    if observed is None or true is None or not observed.size or np.any(observed):
        return False
    size = np.abs(true.mid)
    return bool((size > true.rad).any()) and float(size.max()) <= types.SMALLEST[case.source.dtype]


def _lost(case: Case) -> Diagnostic:
    true = case.true
    assert true is not None
    index = tuple(int(k) for k in np.unravel_index(int(np.argmax(np.abs(true.mid))), true.mid.shape))
    size = words.significant(abs(true.mid[index].item()), 2)
    return Diagnostic(
        kind="vanishing",
        severity="warning",
        certainty="proven",
        headline=f"the gradient for `{case.source.name}` is too small for {case.source.dtype} and became 0",
        primary=Annotation(case.capture.call, f"returns 0, the true gradient is of size {size}"),
        subject=subject(case, index),
        evidence=returned_rows(case, index),
        why=(
            f"`{case.capture.target}` does depend on `{case.source.name}`, with a slope of size {size}. A "
            f"{case.source.dtype} holds nothing so small but 0, so nothing is left to train by."
        ),
        fix=Fix(_FIX),
    )


def _is_nothing(case: Case) -> bool:
    """All entries are zero, and proven to be."""
    observed, true = case.source.observed, case.true
    if observed is None or true is None or not observed.size or case.capture.copies is not None:
        return False
    return not (np.any(observed) or np.any(true.mid) or np.any(true.rad))


def _nodes(case: Case) -> list[int | None]:
    return [source.node for source in case.capture.sources]


def _dead(case: Case, closed: Closed, span: Span) -> Diagnostic:
    behind = case.capture.sources[closed.behind].name
    layer, is_layer, _ = behind.rpartition("/")
    units = f"every unit of `{layer}`" if is_layer else f"every unit after `{behind}`"
    size = int(np.prod(closed.node.shape))
    counted = f"{closed.n_off} of {size} numbers ({' x '.join(map(str, closed.node.shape))})"
    return Diagnostic(
        kind="vanishing",
        severity="warning",
        certainty="proven",
        headline=f"the gradient for `{case.source.name}` is 0: {units} is off for all examples",
        primary=Annotation(span, f"off for {counted}"),
        subject=subject(case, (0,) * len(case.source.shape)),
        evidence=returned_rows(case, (0,) * len(case.source.shape)),
        why=(
            f"Zero is right, and of no use. Behind `{behind}` a function with a flat side, such as `relu` or a clip, "
            f"was on that side for {counted}, and the gradient for `{case.source.name}` has no other way to "
            f"`{case.capture.target}`. A training step leaves `{case.source.name}` as it is, so that these units stay "
            "off as long as they get such inputs."
        ),
        fix=Fix(_FIX_DEAD),
        op=closed.node.op,
    )


def _beyond(case: Case, closed: Closed, span: Span) -> Diagnostic:
    """A note: a clip may be meant to hold a number, and a hinge to be satisfied; but nothing moves."""
    name = case.source.name
    return Diagnostic(
        kind="vanishing",
        severity="note",
        certainty="proven",
        headline=f"the gradient for `{name}` is exactly 0: all that it reaches is on the flat side of this",
        primary=Annotation(span, "flat here, as beyond the bound of a clip or below 0 in a relu"),
        subject=subject(case, (0,) * len(case.source.shape)),
        evidence=returned_rows(case, (0,) * len(case.source.shape)),
        why=(
            f"Zero is right. On this side the result does not change with `{name}`, and `{case.capture.target}` "
            f"depends on `{name}` in no other way, so that a training step leaves `{name}` as it is."
        ),
        fix=Fix(_FIX_BEYOND),
        op=closed.node.op,
    )


CAUSE = Cause(name="vanishing", find=find, doc=__doc__ or "")
