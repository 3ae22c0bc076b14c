"""The one road from a capture to its judgements: every door of gradproof leads through here."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import dropwhile

import numpy as np

from gradproof.frameworks import framework
from gradproof.ir import types
from gradproof.ir.capture import Capture, Scope, Source
from gradproof.ir.meeting import with_sums_placed
from gradproof.ir.program import Program, ancestors, descendants
from gradproof.ir.types import Array
from gradproof.judge.branch_cuts import with_cuts_open
from gradproof.judge.by_facts import misshapen, missing, undecided
from gradproof.judge.cut_off import by_detour
from gradproof.judge.inner_stops import in_the_better_reading
from gradproof.judge.judge import Evidence, Judgement, judge
from gradproof.judge.policy import by_policy
from gradproof.judge.searched import by_search
from gradproof.judge.second_order import as_meant
from gradproof.judge.verdict import Verdict
from gradproof.options import Options

UNSEEN = "the numbers of the gradient could not be seen"


@dataclass(frozen=True, eq=False)
class JudgedCall:
    """A gradient call as it was judged, and one judgement per source.

    The program of `capture` is the one that the judgements are about: where a derivative is differentiated again, it
    may differ from the ops that ran.
    """

    capture: Capture
    judgements: tuple[Judgement, ...]


def judge_call(capture: Capture, options: Options, which: Collection[int] | None = None) -> JudgedCall:
    """Judge every gradient of a call; of those that are not among `which`, only the facts are looked at."""
    options = options.under(capture.run.policy)
    meant, found = in_the_better_reading(capture, lambda one: _found(one, options, which))
    whole = [by_detour(meant, k, judgement, options) for k, judgement in enumerate(found)]
    return JudgedCall(
        meant, tuple(by_policy(meant, k, judgement, options) for k, judgement in enumerate(whole))
    )


def _found(
    capture: Capture, options: Options, which: Collection[int] | None
) -> tuple[Capture, Sequence[Judgement]]:
    meant = with_sums_placed(with_cuts_open(as_meant(capture, options)))
    return meant, by_search(meant, _judgements(meant, options, which))


def unjudged(capture: Capture, k: int) -> Judgement:
    """What the facts alone say about a gradient."""
    source = capture.sources[k]
    if source.unseen:  # a gradient that was computed out of sight is not a missing one
        return undecided(capture.failure or UNSEEN)
    if source.observed is None:
        return missing(capture.failure)
    reason = (
        capture.failure
        or _of_whole_numbers(source)
        or _forward_out_of_sight(capture)
        or f"what was recorded does not lead from `{source.name}` to `{capture.target}`"
    )
    return undecided(reason)


def _judgements(capture: Capture, options: Options, which: Collection[int] | None) -> Sequence[Judgement]:
    asked = range(len(capture.sources)) if which is None else which
    reached = [k for k in asked if _is_reached(capture, k)]
    judged: dict[int, Judgement] = {}
    if capture.program is not None and reached:
        evidence = Evidence(
            capture.program,
            tuple(node for k in reached if (node := capture.sources[k].node) is not None),
            tuple(_fitting(capture.sources[k]) for k in reached),
            tuple(capture.sources[k].recorded for k in reached),
            capture.gradient_program,
        )
        judged = dict(zip(reached, judge(evidence, options)))
        judged = {k: _of_another_shape(capture.sources[k], found) for k, found in judged.items()}
    return [
        _if_seen(capture, k, judged[k]) if k in judged else unjudged(capture, k)
        for k in range(len(capture.sources))
    ]


def _if_seen(capture: Capture, k: int, judgement: Judgement) -> Judgement:
    hidden = capture.failure or UNSEEN if capture.sources[k].unseen else _partly_out_of_sight(capture, k)
    return judgement if hidden is None else replace(judgement, verdict=Verdict.UNVERIFIED, reason=hidden)


def _fitting(source: Source) -> Array | None:
    """What was returned, if it has the shape of a gradient for its source."""
    observed = source.observed
    return observed if observed is not None and observed.shape == source.shape else None


def _of_another_shape(source: Source, judgement: Judgement) -> Judgement:
    if source.observed is None or source.observed.shape == source.shape:
        return judgement
    found = misshapen(str(source.observed.shape), str(source.shape))
    return replace(judgement, verdict=found.verdict, reason=found.reason)


def _is_reached(capture: Capture, k: int) -> bool:
    """Whether the record leads from a source to the target.

    A framework that returns a gradient other than zero, or fails on its way, has found one. If the record has none,
    it is the record that is incomplete, and nothing may be concluded from it. Our own tape records everything.
    """
    source, program = capture.sources[k], capture.program
    if source.node is None or program is None or _of_whole_numbers(source) is not None:
        return False
    is_own = not framework(capture.framework).returns_none
    nothing = capture.run.exception is None if source.observed is None else not np.any(source.observed)
    if is_own or nothing:
        return True
    return source.node in ancestors(program, program.outputs)


def _of_whole_numbers(source: Source) -> str | None:
    """Why a gradient for integers, which a framework may return as zeros, has nothing to be compared with."""
    if source.observed is None or not types.is_discrete(source.dtype):
        return None
    return f"`{source.name}` is {source.dtype}: a function of whole numbers has no derivative"


def _partly_out_of_sight(capture: Capture, k: int) -> str | None:
    """Why a gradient is not decided although ops lead to the target: numbers take another way beside them."""
    program, node, forward = capture.gradient_program, capture.sources[k].node, capture.program
    left = [scope for scope in capture.rules.scopes if scope.left and scope.results]
    if program is None or node is None or forward is None or not left:
        return None
    moving = {id for id in (node, *descendants(program, [node])) if not program[id].is_discrete}
    used = ancestors(forward, forward.outputs)
    found = next(
        (
            scope
            for scope in left
            if moving & set(scope.left) and used & set(scope.outputs) and _may_come_back(program, scope)
        ),
        None,
    )
    return (
        None
        if found is None
        else (
            f"a part of the forward of `{found.name}` is computed outside {framework(capture.framework).title} from "
            f"`{capture.sources[k].name}`, so that its hand-written gradient has nothing whole to be compared with"
        )
    )


def _may_come_back(program: Program, scope: Scope) -> bool:
    """Whether numbers that left a forward may be in its result: as a constant that is taken after they were there.

    A slope that is kept for the rule, `slope = float(x / y)`, leaves when the result is computed already.
    """
    gone, behind = set(scope.left), ancestors(program, scope.outputs)
    later = [node for node in dropwhile(lambda node: node.id not in gone, program.nodes) if node.id in behind]
    handed_on = [node for node in program.nodes if node.id in behind and node.op == "identity"]
    taken = {*scope.outputs, *(id for node in (*later, *handed_on) for id in node.inputs)}
    return any(program[id].op == "constant" and not program[id].is_discrete for id in taken)


def _forward_out_of_sight(capture: Capture) -> str | None:
    """Why a gradient cannot be judged: the forward of a custom gradient has left the framework, or is a constant."""
    program = capture.gradient_program
    if program is None:
        return None
    for scope in capture.rules.scopes:
        start = {id for id in scope.inputs if not program[id].is_discrete}
        if scope.results is None or (scope.inputs and not start):
            continue
        if scope.outputs and not descendants(program, start) & set(scope.outputs):
            return (
                f"the forward of `{scope.name}` is computed outside {framework(capture.framework).title} or without "
                "its arguments, so that there is nothing its hand-written gradient could be compared with; that of a "
                "constant is 0"
            )
    return None
