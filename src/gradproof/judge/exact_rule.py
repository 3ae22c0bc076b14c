"""Custom gradients inside a derivative that is differentiated again, and the derivative itself in their place.

A rule stands for the derivative of its forward, whatever ops it uses, and the next derivative is meant to be that of
this derivative: whether the rule is proven to have returned it, or proven to have failed to by a mistake. A rule that
is deliberately something else, such as a reversed gradient, means what its ops compute.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from gradproof.engine.refine import Enclosure, entry_count
from gradproof.engine.splice import Replacement, spliced
from gradproof.errors import GradproofError
from gradproof.ir.capture import Scope
from gradproof.ir.program import Program, ancestors, prune
from gradproof.judge.compare import compare
from gradproof.judge.custom import rule_of
from gradproof.judge.mistake import explain
from gradproof.judge.relations import is_close
from gradproof.judge.rule import CHEAP_ENTRIES, HandWrittenRule, Reading, Trials, try_out
from gradproof.options import Options


@dataclass(frozen=True, eq=False)
class ExactRule:
    """One application of a custom gradient that stands for the derivative for its inputs `inputs`, by their places.

    `is_right`: it also returned the derivative.
    """

    scope: Scope
    rule: HandWrittenRule
    inputs: tuple[int, ...]
    is_right: bool


def exact_rules(
    pool: Program, program: Program, scopes: Iterable[Scope], options: Options
) -> Iterator[ExactRule]:
    """The applications inside a program, whose nodes are among those of `pool`."""
    inside = ancestors(program, program.outputs)
    for scope in scopes:
        rule = rule_of(pool, scope) if inside.intersection(scope.results or ()) else None
        if rule is None or not rule.has_upstream or entry_count(rule.piece) > CHEAP_ENTRIES:
            continue
        # A rule that hands on what it was given cannot be told from it, and is linear where that is right.
        given = {*rule.inputs, *rule.upstream, *rule.outputs}
        places = [i for i, id in enumerate(rule.results) if id in inside and id not in given]
        try:
            trials = try_out(rule)
        except GradproofError:
            continue
        outcomes = {i: _outcome(rule, trials, i, options) for i in places}
        found = tuple(i for i, outcome in outcomes.items() if outcome is not None)
        if found:
            yield ExactRule(scope, rule, found, all(outcomes[i] for i in found))


def _outcome(rule: HandWrittenRule, trials: Trials, i: int, options: Options) -> bool | None:
    """Whether a rule returned the derivative; None where it means something else, or nothing is proven."""
    compared = _compared(rule, trials.here, i, options)
    if compared not in ("within", "beyond"):
        return None
    # It may also be right for this upstream gradient only, such as zero.
    departs = compared == "beyond" or not all(_agrees(reading, i) for reading in trials.other_upstream)
    if departs and explain(rule, trials, i).is_intended:
        return None
    return compared == "within"


def _compared(rule: HandWrittenRule, reading: Reading, i: int, options: Options) -> str | None:
    meant, true = reading.meant[i], reading.true[i]
    if meant is None or not (meant.is_bounded and true.is_bounded) or meant.mid.shape != true.mid.shape:
        return None
    widened = Enclosure(true.mid, true.rad + meant.rad)
    return compare(meant.mid, widened, rule.program[rule.inputs[i]].dtype, options).outcome


def _agrees(reading: Reading, i: int) -> bool:
    meant = reading.meant[i]
    return meant is not None and is_close(meant.mid, reading.true[i].mid)


def with_exact(pool: Program, program: Program, rules: Sequence[ExactRule]) -> Program:
    """The program with the derivatives in the place of what the rules computed."""
    replacements = [
        Replacement(
            one.rule.forward,
            tuple(zip(one.rule.outputs, one.rule.upstream)),
            {id: one.rule.inputs[i] for i in one.inputs if (id := one.rule.results[i]) is not None},
        )
        for one in rules
    ]
    ends = {id for one in rules for id in (*one.rule.outputs, *one.rule.upstream)}
    whole = replace(prune(pool, (*program.outputs, *sorted(ends))), outputs=program.outputs)
    whole = spliced(replace(whole, inputs=program.inputs, names=program.names), replacements)
    return prune(whole, whole.outputs)
