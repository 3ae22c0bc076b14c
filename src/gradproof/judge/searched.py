"""Hand-written gradients of what a search finds: its steps have another slope than the function it finds.

A bisection halves an interval by comparisons. With its decisions as taken, the derivative of its ops is that of the
ends of the interval, and says nothing of the root; a rule by the implicit function theorem is right all the same. Over
steps that are larger than the interval left at the end, the result moves as the rule says. That is no proof, and it is
no fault.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from gradproof.domains.ieee import Ieee
from gradproof.engine.run import Policy, run
from gradproof.errors import GradproofError
from gradproof.ir.capture import Capture
from gradproof.ir.program import Program, ancestors
from gradproof.ir.types import Array
from gradproof.judge.by_facts import undecided
from gradproof.judge.custom import rule_of
from gradproof.judge.judge import Judgement
from gradproof.judge.rule import HandWrittenRule, read
from gradproof.judge.verdict import Verdict
from gradproof.ops import Arithmetic

STEPS = (2.0**-7, 2.0**-9)  # of the size of the inputs: far above what a search leaves open, and still near
N_DIRECTIONS = 3
CLOSE = 2e-3  # differences over such steps are off by their squares, and by what the search leaves open
APART = 10 * CLOSE  # the slope of the ops as taken has to be another one, not just a worse one


def by_search(capture: Capture, judgements: Sequence[Judgement]) -> list[Judgement]:
    """A gradient that comes through a search is not called wrong by the slope of the search's steps, nor undefined
    because the search has met its result on the way."""
    program = capture.gradient_program
    if program is None or not any(_is_in_question(one) for one in judgements):
        return list(judgements)
    found = [rule for rule in _rules(capture, program) if _is_of_a_search(rule)]
    return [
        _undecided(rule.name) if (rule := _behind(source.node, one, found, program)) is not None else one
        for source, one in zip(capture.sources, judgements)
    ]


def _is_in_question(one: Judgement) -> bool:
    return one.verdict is Verdict.WRONG or (one.verdict is Verdict.UNDEFINED and bool(_guilty(one)))


def _guilty(one: Judgement) -> set[int]:
    """The decisions at a tie that leave a function without a derivative."""
    sides = None if one.reference is None else one.reference.sides
    return set() if sides is None else set(sides.guilty)


def _behind(
    node: int | None, one: Judgement, found: Sequence[HandWrittenRule], program: Program
) -> HandWrittenRule | None:
    if not _is_in_question(one):
        return None
    through = (rule for rule in found if node in ancestors(program, rule.inputs))
    is_wrong = one.verdict is Verdict.WRONG
    return next(
        (rule for rule in through if is_wrong or _guilty(one) <= {made.id for made in rule.decisions}), None
    )


def _undecided(name: str) -> Judgement:
    reason = (
        f"the forward of `{name}` searches by comparisons, whose steps have another slope than what they find; "
        "over larger steps it changes as its hand-written gradient says, which is no proof"
    )
    return undecided(reason)  # also no reference: that of the steps is none of the function


def _rules(capture: Capture, program: Program) -> Iterator[HandWrittenRule]:
    for scope in capture.rules.scopes:
        rule = rule_of(program, scope)
        if rule is not None and rule.decisions and None not in rule.results:
            yield rule


def _is_of_a_search(rule: HandWrittenRule) -> bool:
    try:
        here = read(rule, rule.here, exact=True)
        if not here.is_finite:
            return False
        meant = [part.mid for part in here.meant if part is not None]
        true = [part.mid for part in here.true]
        rng = np.random.default_rng(0)
        return all(
            _moves_as(rule, _direction(rule, rng), step, meant, true)
            for _ in range(N_DIRECTIONS)
            for step in STEPS
        )
    except GradproofError:
        return False


def _direction(rule: HandWrittenRule, rng: np.random.Generator) -> list[Array]:
    """Every input by its own size, so that none is lost beside another."""
    return [
        np.asarray(rng.choice([-1.0, 1.0], x.shape) * rng.uniform(0.5, 1.0, x.shape) * _size(x))
        for x in rule.here.inputs
    ]


def _size(x: Array) -> Array:
    return np.abs(x) + 0.1 * (np.abs(x).max(initial=0.0) or 1.0)


def _moves_as(
    rule: HandWrittenRule, direction: list[Array], step: float, meant: list[Array], true: list[Array]
) -> bool:
    """Whether the result changes as the rule says, and not as the ops that were taken say."""
    change = (_result(rule, direction, step) - _result(rule, direction, -step)) / (2.0 * step)
    said, taken = (sum(float(np.sum(g * d)) for g, d in zip(gs, direction)) for gs in (meant, true))
    return abs(change - said) <= CLOSE * abs(said) and abs(change - taken) > APART * abs(said)


def _result(rule: HandWrittenRule, direction: list[Array], step: float) -> float:
    """The result that the upstream gradient weighs, decided anew."""
    m = Arithmetic(Ieee("float64"))
    moved = {id: m.literal(x + step * d) for id, x, d in zip(rule.inputs, rule.here.inputs, direction)}
    values = run(m, rule.forward, Policy(inputs=moved, redecide=True)).values
    return sum(float(np.sum(up * values[id])) for id, up in zip(rule.outputs, rule.here.upstream))
