"""The gradient shrinks by a steady factor each time it passes a line, until nothing is left of it.

What it finds
    A line that ran many times, as in a loop or a deep stack of equal layers, through which the gradient shrank to
    less than a hundred-millionth, or a gradient that is zero only because its dtype holds nothing so small, or
    because every unit of a layer is off: the flat side of its `relu` was taken for all examples. Also a loss that
    takes logits and is given probabilities: a softmax of a softmax, or a sigmoid of a sigmoid, is nearly flat.

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
    there is an op between two softmaxes, such as a scale, or they run along other axes; or
    it does not come from one line that is repeated.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gradproof.causes._evidence import subject
from gradproof.causes._nonfinite import returned_rows
from gradproof.causes._probabilities import given_probabilities
from gradproof.causes._saturated import cuts_off, flattened, saturated_before
from gradproof.causes._scale import diagnose, growth_of, ran, repeated, step_of
from gradproof.causes._softmax import is_over_one
from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.cause import Cause
from gradproof.diagnosis.dead_units import Closed, closed_at
from gradproof.diagnosis.diagnostic import Annotation, Diagnostic, Fix
from gradproof.diagnosis.growth import Growth
from gradproof.diagnosis.occasion import Occasion
from gradproof.ir import types
from gradproof.ir.program import Node, descendants
from gradproof.ir.span import Span
from gradproof.judge.verdict import Verdict

MAX_FACTOR = 1e-8  # beside the gradients of later layers nothing of it is left in a float32
_FIX = (
    "give the gradient a direct path past these steps (a residual connection), normalise between them, or work with "
    "logarithms"
)
_FIX_DEAD = (
    "begin with smaller biases or a smaller learning rate, scale the inputs, or use a function with a slope on both "
    "sides, such as a leaky relu"
)
_FIX_BEYOND = (
    "begin inside the bounds, or use a function that bends towards them, such as a sigmoid or softplus"
)
_SINGLE = (
    "a softmax over one number is always 1",
    "Zero is right, and of no use. A softmax divides by the sum over its axis, and over a single number it is 1 (its "
    "logarithm 0) whatever that number is. So `{target}` does not change with it.",
    "give the loss a column for every class, or use a sigmoid (binary) cross-entropy for one column",
)
_STOPPED = (
    "`stop_gradient` makes a constant of it",
    "Zero is right: what is behind `stop_gradient` counts as a constant, and `{target}` depends on it in no other way.",
    "leave out `stop_gradient` if this is to be trained",
)
_CUT_OFF = "what is computed from such a limit is cut off, and does not move either"
_ROUNDED = "its results are rounded to its limits, and the slopes there to 0"
_ORDERS = frozenset({"greater", "greater_equal", "less", "less_equal"})
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
    elif case.verdict is Verdict.CORRECT and _is_returned_as_zero(case):
        shut = _shut(case)
        if shut is not None:
            yield shut
        elif _is_nothing(case) and (closed := _closed(case)) is not None and closed.node.span is not None:
            is_dead = closed.is_layer and int(np.prod(case.source.shape)) >= MIN_ENTRIES
            flat = saturated_before(case, closed.node)
            if flat is None:
                yield (_dead if is_dead else _beyond)(case, closed, closed.node.span)
            else:
                yield flattened(case, flat, (0,) * len(case.source.shape), _CUT_OFF)
        elif (flat := cuts_off(case)) is not None:
            yield flattened(case, flat, (0,) * len(case.source.shape), _ROUNDED)
    elif case.verdict is Verdict.CORRECT and (twice := given_probabilities(case)) is not None:
        yield twice


def _closed(case: Case) -> Closed | None:
    program = case.capture.program
    return None if program is None else closed_at(program, _nodes(case), case.index)


def _has_rest(case: Case, growth: Growth) -> bool:
    """Whether later steps keep the gradient up, as with weights that all of them share, or in a solver."""
    observed = case.source.observed
    largest = 0.0 if observed is None else float(np.max(np.abs(observed), initial=0.0))
    return largest > MAX_FACTOR * growth.last


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
    flat = cuts_off(case)
    if flat is not None:
        return flattened(
            case,
            flat,
            index,
            f"the true gradient is of size {size}, and a {case.source.dtype} holds nothing so small but 0",
        )
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


def _is_returned_as_zero(case: Case) -> bool:
    observed = case.source.observed
    return (
        observed is not None and bool(observed.size) and not np.any(observed) and case.capture.copies is None
    )


def _is_nothing(case: Case) -> bool:
    """The true gradient is proven to be zero in every entry."""
    return case.true is not None and not (np.any(case.true.mid) or np.any(case.true.rad))


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
            f"was on that side for {counted}, and the gradient for `{case.source.name}` has no other path to "
            f"`{case.capture.target}`. A training step leaves `{case.source.name}` as it is, so that these units stay "
            "off as long as they get such inputs."
        ),
        fix=Fix(_FIX_DEAD),
        op=closed.node.op,
    )


def _beyond(case: Case, closed: Closed, span: Span) -> Diagnostic:
    """A note: a clip may be meant to hold a number, and a hinge to be satisfied; but nothing moves."""
    flat = _flat(case, closed)
    why = (
        f"Zero is right. On this side the result does not change with `{case.source.name}`, and "
        f"`{case.capture.target}` depends on `{case.source.name}` in no other way, so that a training step leaves "
        f"`{case.source.name}` as it is."
    )
    return _still(case, closed.node, span, flat, why, _FIX_DEAD if _is_relu(case, closed) else _FIX_BEYOND)


def _is_relu(case: Case, closed: Closed) -> bool:
    """Whether 0 is both the bound and what stands beyond it."""
    program = case.capture.program
    assert program is not None
    condition, *sides = (program[id] for id in closed.node.inputs)
    moving = descendants(program, [id for id in _nodes(case) if id is not None])
    fixed = [side for side in sides if side.id not in moving]
    bounds = [program[id] for id in condition.inputs if id not in moving]
    return bool(fixed and bounds) and not any(np.any(np.asarray(one.value)) for one in (*fixed, *bounds))


def _flat(case: Case, closed: Closed) -> str:
    """`flat below 0.05, and this is 0.003`, in the numbers of the first entry that is beyond its bound."""
    program = case.capture.program
    assert program is not None
    condition = program[closed.node.inputs[0]]
    if condition.op not in _ORDERS:
        return "flat here, as beyond the bound of a clip or below 0 in a relu"
    numbers = np.broadcast_arrays(*(np.asarray(program[id].value) for id in condition.inputs))
    moves = [
        id in descendants(program, [one for one in _nodes(case) if one is not None])
        for id in condition.inputs
    ]
    first = np.flatnonzero(np.broadcast_to(closed.off, numbers[0].shape))
    if moves[0] == moves[1] or not first.size:
        return "flat here: one side of this comparison was taken throughout"
    this, bound = (numbers if moves[0] else numbers[::-1])[:2]
    at = np.unravel_index(int(first[0]), this.shape)
    side = "below" if this[at] < bound[at] else "above" if this[at] > bound[at] else "at"
    limit, value = (words.number(one[at].item(), dtype=case.source.dtype) for one in (bound, this))
    return f"flat {side} {limit}, and this is {value}" if side != "at" else f"flat at {limit}"


def _shut(case: Case) -> Diagnostic | None:
    """What sends nothing back, whatever comes: a softmax over one number, which is always 1, and `stop_gradient`."""
    program, source = case.capture.program, case.source.node
    if program is None or source is None:
        return None
    single = {node.id for node in program.nodes if is_over_one(program, node)}
    stopped = {node.id for node in program.nodes if node.op == "stop_gradient"}
    reached = {source}
    for node in program.nodes:
        if node.id not in single | stopped and reached.intersection(node.inputs):
            reached.add(node.id)
    if reached.intersection(program.outputs):
        return None
    # A softmax holds its largest number constant itself: that stop is no reason where the softmax is one.
    for shut, (label, why, fix) in ((single, _SINGLE), (stopped, _STOPPED)):
        met = [program[id] for id in sorted(shut) if reached.intersection(program[id].inputs)]
        if met and met[0].span is not None:
            return _still(case, met[0], met[0].span, label, why.format(target=case.capture.target), fix)
    return None


def _still(case: Case, node: Node, span: Span, label: str, why: str, fix: str) -> Diagnostic:
    first = (0,) * len(case.source.shape)
    return Diagnostic(
        kind="vanishing",
        severity="note",
        certainty="proven",
        headline=f"the gradient for `{case.source.name}` is exactly 0: {label}",
        primary=Annotation(span, label),
        subject=subject(case, first),
        evidence=returned_rows(case, first),
        why=why,
        fix=Fix(fix),
        op=node.op,
    )


CAUSE = Cause(name="vanishing", find=find, doc=__doc__ or "", on=(Occasion.CORRECT,))
