"""Derivatives of derivatives: the program that is judged, where the ops that ran are not what they stand for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gradproof.domains.ieee import Ieee
from gradproof.engine.derive import gradient, vjp
from gradproof.engine.run import run
from gradproof.errors import GradproofError
from gradproof.ir.capture import Again, Capture
from gradproof.ir.program import Program, ancestors, prune
from gradproof.ir.types import Array
from gradproof.judge.exact_rule import ExactRule, exact_rules, with_exact
from gradproof.judge.neutral import neutral_stops
from gradproof.options import Options

TAINTED = "the hand-written gradient of `{name}` has a wrong derivative, and this one is a derivative of that"
VISIBLE = 1e-6  # a share of the gradient; what changes it by less is the rounding of float64
ROUNDED_ZERO = (
    1e-12  # a share of the largest gradient; one that is zero is computed as less than this, by rounding
)


def as_meant(capture: Capture, options: Options) -> Capture:
    """The capture with its program mended where that changes a gradient; without a reason to, as it is."""
    pool, program = capture.gradient_program, capture.program
    base = program if capture.copies is None else capture.copies.of
    if (
        pool is None
        or program is None
        or base is None
        or not (capture.rules.scopes or capture.rules.hidden_stops or capture.rules.wholes)
    ):
        return capture
    try:
        tainted = _tainted(capture, pool, options)
        if tainted is not None:
            return _unknown(capture, TAINTED.format(name=tainted))
        rules = list(exact_rules(pool, base, capture.rules.scopes, options)) if capture.rules.scopes else []
        # What a whole gradient is off by may be what a rule in it means to be.
        rules += [one for one in exact_rules(pool, base, capture.rules.wholes, options) if one.is_right]
        unproven = _unproven(capture, base, rules)
        if unproven is not None:
            return _unknown(capture, unproven)
        held = _gradients(capture, base) if rules else []
        rules = [one for one in rules if _matters(capture, held, with_exact(pool, base, [one]))]
        mended = with_exact(pool, base, rules) if rules else base
        stops = _stops(capture, pool, mended)
        if not rules and not stops:
            return capture
        return _with_program(capture, _copied(capture, opened(mended, stops)), rules, stops)
    except GradproofError:
        unproven = _unproven(capture, base, ())
        return capture if unproven is None else _unknown(capture, unproven)


def _unknown(capture: Capture, reason: str) -> Capture:
    return replace(capture, program=None, gradient_program=None, failure=capture.failure or reason)


def _unproven(capture: Capture, base: Program, rules: Sequence[ExactRule]) -> str | None:
    """Why nothing is known, where the ops of a rule inside are not what it stands for, and neither is proven."""
    inside = ancestors(base, base.outputs)
    for scope in capture.rules.wholes:
        if scope.unless_exact is None or not inside.intersection(scope.results or ()):
            continue
        proven = {one.rule.results[i] for one in rules if one.scope is scope for i in one.inputs}
        if not inside.intersection(scope.results or ()) <= proven:
            return scope.unless_exact
    return None


def _tainted(capture: Capture, pool: Program, options: Options) -> str | None:
    """A custom gradient that an inner call has already differentiated again, and wrongly: of its result nothing is
    known but the ops, and those are not what it stands for."""
    for call in capture.rules.inner if capture.rules.scopes else ():
        program = prune(pool, call.targets)
        for one in exact_rules(pool, program, capture.rules.scopes, options):
            held, free = (_inner_gradients(p) for p in (program, with_exact(pool, program, [one])))
            if _differs(held, free):
                return one.scope.name
    return None


def _inner_gradients(program: Program) -> list[Array]:
    result = run(Ieee("float64"), program)
    seeds = [result.m.literal(np.ones(program[id].shape)) for id in program.outputs]
    return [np.asarray(one) for one in vjp(result, seeds, program.inputs)]


def _stops(capture: Capture, pool: Program, base: Program) -> tuple[int, ...]:
    """The `stop_gradient` nodes of libraries that are harmless to first derivatives and matter here."""
    hidden = sorted({node.id for node in base.nodes}.intersection(capture.rules.hidden_stops))
    if not hidden or not capture.rules.inner:
        return ()
    held = _gradients(capture, base)
    if not _matters(capture, held, opened(base, hidden)):
        return ()
    neutral = tuple(sorted(neutral_stops(pool, capture.rules.inner, hidden)))
    return neutral if neutral and _matters(capture, held, opened(base, neutral)) else ()


def _matters(capture: Capture, held: Sequence[Array], other: Program) -> bool:
    """Whether another program has other gradients."""
    return _differs(held, _gradients(capture, other))


def opened(program: Program, stops: Sequence[int]) -> Program:
    """The program without some of its `stop_gradient` nodes."""
    nodes = tuple(replace(node, op="identity") if node.id in stops else node for node in program.nodes)
    return replace(program, nodes=nodes)


def gradient_without(capture: Capture, stops: Sequence[int], source: int) -> Array:
    """The gradient of the ops as they ran for one source, in float64, with some `stop_gradient` nodes opened."""
    base = capture.copies.of if capture.copies is not None else None
    if base is None:
        base = capture.program if capture.again is None else capture.again.by_letter
    assert base is not None
    program = _copied(capture, opened(base, stops))
    return np.asarray(gradient(Ieee("float64"), program, [source])[0])


def _copied(capture: Capture, base: Program) -> Program:
    return base if capture.copies is None else capture.copies.make(base)


def _gradients(capture: Capture, base: Program) -> list[Array]:
    wrt = [source.node for source in capture.sources if source.node is not None]
    return [np.asarray(one) for one in gradient(Ieee("float64"), _copied(capture, base), wrt)]


def _differs(held: Sequence[Array], free: Sequence[Array]) -> bool:
    largest = max((np.abs(one).max(initial=0.0) for one in (*held, *free)), default=0.0)
    for a, b in zip(held, free):
        size = max(np.abs(a).max(initial=0.0), np.abs(b).max(initial=0.0))
        visible = max(VISIBLE * size, ROUNDED_ZERO * largest)
        if np.isfinite(size) and np.abs(a - b).max(initial=0.0) > visible:
            return True
    return False


def _with_program(
    capture: Capture, program: Program, rules: Sequence[ExactRule], stops: tuple[int, ...]
) -> Capture:
    """The new nodes become known to the recorded gradient program too: the two share their ids."""
    assert capture.gradient_program is not None and capture.program is not None
    known = {node.id for node in capture.gradient_program.nodes}
    new = tuple(node for node in program.nodes if node.id not in known) if capture.copies is None else ()
    whole = replace(capture.gradient_program, nodes=(*capture.gradient_program.nodes, *new))
    base = capture.program if capture.copies is None else capture.copies.of
    inside = frozenset(ancestors(base, base.outputs))
    again = Again(tuple(one.scope for one in rules if one.is_right), stops, capture.program, inside)
    return replace(capture, program=program, gradient_program=whole, again=again)
