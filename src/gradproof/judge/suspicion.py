"""Rules that are right where they were used and wrong elsewhere: with another upstream, or differentiated again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from gradproof.errors import GradproofError
from gradproof.ir.capture import Capture, Scope
from gradproof.ir.program import Program
from gradproof.judge.custom import rule_of
from gradproof.judge.rule import CHEAP_ENTRIES, Point, Rule, read

STEP = 2.0**-20  # of the size of the inputs; in exact arithmetic no digits are lost by taking it small
MISSING_SHARE = 1e-3  # of the change of the true slope that a rule has to follow


@dataclass(frozen=True)
class Suspicion:
    """A custom gradient that returned the derivative this time, and what will make it fail."""

    scope: Scope
    kind: Literal["ignores upstream", "second order"]


def suspicions(capture: Capture) -> Iterator[Suspicion]:
    """Looked for in small rules only: nothing is wrong with this gradient, so it may not cost much."""
    program = capture.gradient_program or capture.program
    if program is None:
        return
    again = set() if capture.program is None else {node.id for node in capture.program.nodes}
    for scope in capture.scopes:
        try:
            rule = rule_of(program, scope)
            is_known = rule is not None and (rule.has_upstream or scope.is_upstream_idle)
            if rule is None or not is_known or sum(a.size for a in rule.here.inputs) > CHEAP_ENTRIES:
                continue
            if not rule.uses_upstream and rule.is_followed and _has_slope(rule):
                yield Suspicion(scope, "ignores upstream")
            elif again & {id for id in rule.results if id is not None} and _is_frozen(rule):
                yield Suspicion(scope, "second order")
        except GradproofError:
            continue


def _has_slope(rule: Rule) -> bool:
    reading = read(rule, rule.here)
    return reading.is_finite and any(bool(np.any(part.mid)) for part in reading.true)


def _is_frozen(rule: Rule) -> bool:
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


def _with_stops_held(rule: Rule) -> Program:
    """In the rule, what is behind `stop_gradient` stays what it was when the inputs move."""
    own = {node.id for node in rule.forward.nodes}
    nodes = tuple(
        replace(node, op="constant", inputs=()) if node.op == "stop_gradient" and node.id not in own else node
        for node in rule.program.nodes
    )
    return replace(rule.program, nodes=nodes)
