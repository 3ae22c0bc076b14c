"""Rules that are right as far as it goes here: wrong with another upstream, differentiated again, or by a little."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from gradproof.errors import GradproofError
from gradproof.ir import types
from gradproof.ir.capture import Capture, Scope
from gradproof.ir.program import Program
from gradproof.judge.custom import rule_of
from gradproof.judge.rule import CHEAP_ENTRIES, HandWrittenRule, Point, read
from gradproof.options import Options

STEP = 2.0**-20  # of the size of the inputs; in exact arithmetic no digits are lost by taking it small
ROUNDED_CONSTANTS = (
    8  # roundings that the constants of a rule may have between them; 1e-6 in float32 is beyond
)
LEAST_MISTAKE = 1e-9  # relative; people write constants with ten digits
MISSING_SHARE = 1e-3  # of the change of the true slope that a rule has to follow


@dataclass(frozen=True)
class Suspicion:
    """A custom gradient that returned the derivative this time, and what will make it fail."""

    scope: Scope
    kind: Literal["ignores upstream", "second order", "off by a little"]
    relative: float = 0.0  # of the mistake, where the kind is one of size


def suspicions(capture: Capture) -> Iterator[Suspicion]:
    """Looked for in small rules only: nothing is wrong with this gradient, so it may not cost much."""
    program = capture.gradient_program or capture.program
    if program is None:
        return
    again = set() if capture.program is None else {node.id for node in capture.program.nodes}
    for scope in capture.rules.scopes:
        try:
            rule = rule_of(program, scope)
            if rule is None or sum(a.size for a in rule.here.inputs) > CHEAP_ENTRIES:
                continue
            gets_upstream = rule.has_upstream or scope.is_upstream_idle
            if gets_upstream and not rule.uses_upstream and rule.is_followed and _has_slope(rule):
                yield Suspicion(scope, "ignores upstream")
            elif gets_upstream and again & {*rule.results} - {None} and _is_frozen(rule):
                yield Suspicion(scope, "second order")
            elif (relative := _relative_mistake(rule)) > 0.0:
                yield Suspicion(scope, "off by a little", relative)
        except GradproofError:
            continue


def _has_slope(rule: HandWrittenRule) -> bool:
    reading = read(rule, rule.here)
    return reading.is_finite and any(bool(np.any(part.mid)) for part in reading.true)


def _relative_mistake(rule: HandWrittenRule) -> float:
    """How far the rule is from the derivative in exact arithmetic, if constants rounded to its dtype do not explain it.

    What a gradient was rounded to hides a mistake that is smaller; the formula does not.
    """
    here = read(rule, rule.here, exact=True)
    largest = 0.0
    for id, meant, true, apart in zip(rule.inputs, here.meant, here.true, here.difference):
        if meant is None or apart is None or not (apart.is_bounded and true.is_bounded):
            continue
        scale = float(np.abs(true.mid).max(initial=0.0))
        off = float((np.abs(apart.mid) - apart.rad).max(initial=0.0))
        dtype = rule.program[id].dtype
        least = max(ROUNDED_CONSTANTS * types.unit_roundoff(dtype), LEAST_MISTAKE)
        if scale > 0.0 and off > least * scale:
            if off > Options().tolerances.get(dtype, 0.0) * scale:
                return 0.0  # no small mistake: the gradients that it reaches are called wrong
            largest = max(largest, off / scale)
    return largest


def _is_frozen(rule: HandWrittenRule) -> bool:
    """Whether the true slope moves with the inputs and what the rule returns does not follow."""
    held = replace(rule, program=_with_stops_held(rule))
    rng = np.random.default_rng(3)
    shift = tuple(
        np.asarray(STEP * (np.abs(array).max(initial=0.0) or 1.0) * rng.uniform(0.5, 1.0, array.shape))
        for array in rule.here.inputs
    )
    here = read(held, rule.here, exact=True)
    moved = read(held, Point(rule.here.inputs, rule.here.upstream, shift), exact=True)
    for k, apart in enumerate(moved.difference):
        before = here.difference[k]
        if apart is None or before is None or not (apart.is_bounded and before.is_bounded):
            continue
        change = np.abs(moved.true[k].mid - here.true[k].mid)
        lag = np.abs(apart.mid - before.mid)
        if lag.max(initial=0.0) > MISSING_SHARE * change.max(initial=0.0) > 0.0:
            return True
    return False


def _with_stops_held(rule: HandWrittenRule) -> Program:
    """In the rule, what is behind `stop_gradient` stays what it was when the inputs move."""
    own = {node.id for node in rule.forward.nodes}
    nodes = tuple(
        replace(node, op="constant", inputs=()) if node.op == "stop_gradient" and node.id not in own else node
        for node in rule.program.nodes
    )
    return replace(rule.program, nodes=nodes)
