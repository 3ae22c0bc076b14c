"""Stops in the forward of a function that has a gradient of its own: no framework ever asks them.

`z = tf.stop_gradient(solve(theta))` before a rule by the implicit function theorem changes nothing, for the rule is
what is asked; in `(x - stop_gradient(f(x)))**2` before another rule it says what is meant to be a constant. So a rule
is held against both readings, and is right if it is the derivative of either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from gradproof.ir.capture import Capture, Scope
from gradproof.ir.program import Program, ancestors
from gradproof.judge.judge import Judgement
from gradproof.judge.second_order import opened
from gradproof.judge.verdict import Verdict

Judged = Callable[[Capture], Sequence[Judgement]]


def in_the_better_reading(
    capture: Capture, found: Sequence[Judgement], judged: Judged
) -> tuple[Capture, Sequence[Judgement]]:
    """The capture with such stops open where only that makes a gradient right, or where nothing else passes."""
    if all(one.verdict is not Verdict.WRONG for one in found):
        return capture, found
    for stops, is_all_held in _stops(capture):
        other = _with_open(capture, stops)
        again = judged(other)
        before, after = _correct(found), _correct(again)
        if before < after or (is_all_held and before <= after):
            capture, found = other, again
    return capture, found


def _correct(found: Sequence[Judgement]) -> set[int]:
    return {k for k, one in enumerate(found) if one.verdict is Verdict.CORRECT}


def _stops(capture: Capture) -> Iterator[tuple[tuple[int, ...], bool]]:
    """By function: the stops in its forwards, and whether none of its numbers takes a way beside them."""
    program = capture.gradient_program
    if program is None:
        return
    groups: dict[object, list[Scope]] = {}
    for scope in capture.rules.scopes:
        if scope.results is not None:
            groups.setdefault((scope.name, scope.rule_at), []).append(scope)
    for scopes in groups.values():
        ids = {scope.id for scope in scopes}
        stops = tuple(
            node.id
            for node in program.nodes
            if node.op == "stop_gradient" and node.scope in ids and node.phase == "forward"
        )
        if stops:
            yield stops, all(_is_held(program, scope, stops) for scope in scopes)


def _is_held(program: Program, scope: Scope, stops: tuple[int, ...]) -> bool:
    return ancestors(program, scope.outputs, beyond=stops).isdisjoint(scope.inputs)


def _with_open(capture: Capture, stops: tuple[int, ...]) -> Capture:
    both = [
        None if one is None else opened(one, stops) for one in (capture.program, capture.gradient_program)
    ]
    return replace(capture, program=both[0], gradient_program=both[1])
