"""Which mistake a derivative rule was written with: told from what it returns and what it should, at several points."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from gradproof.engine.refine import Enclosure
from gradproof.errors import GradproofError
from gradproof.ir import types
from gradproof.ir.types import Array
from gradproof.judge.compare import compare
from gradproof.judge.quotient import find_quotient
from gradproof.judge.relations import (
    applies_jacobian,
    branch_of,
    constant_factor,
    extra_term,
    is_close,
    is_simple,
    left_out,
    lonely_copy,
    wrong_entries,
)
from gradproof.judge.rule import HandWrittenRule, Reading, Trials, try_out
from gradproof.judge.upstream import Response, response
from gradproof.options import Options

Kind = Literal[
    "sign", "factor", "zero", "missing term", "missing factor", "extra term", "transposed", "swapped",
    "un-reduced broadcast", "ignores upstream", "not linear", "branch", "entries", "finite difference",
    "dtype", "not finite", "none", "straight-through", "reversal", "scaling", "clipping", "other",
]  # fmt: skip

# Deviations that people write on purpose: the rule stands in for a derivative that would be of no use.
INTENDED = frozenset({"straight-through", "reversal", "scaling", "clipping"})

_EXCUSED_ROUNDINGS = 64  # constants of a rule are rounded to its dtype, and a few of them may be multiplied
_FEW_ROUNDINGS = 8  # a gradient that was computed in a narrower dtype has been rounded some times


@dataclass(frozen=True, eq=False)
class Mistake:
    """What is wrong with a rule for one of its inputs.

    `numbers` has what belongs to the kind: a factor, a step. `entries` are the wrong entries where not all
    are, `node` the op of the forward that the mistake is about, `other` the input it was taken for.
    """

    kind: Kind
    rule: HandWrittenRule
    input: int  # its place among the rule's inputs
    meant: Array
    true: Array
    worst: tuple[int, ...]
    numbers: Mapping[str, float] = field(default_factory=dict)
    detail: str = ""
    entries: tuple[tuple[int, ...], ...] = ()
    node: int | None = None
    other: int | None = None
    is_measured: bool = False  # by differences, where the forward has no exact meaning

    @property
    def is_intended(self) -> bool:
        return self.kind in INTENDED


def find_mistakes(rule: HandWrittenRule, options: Options) -> list[Mistake]:
    """The mistakes of a rule at the point of its use, per input; empty where it is the derivative or cannot be told."""
    try:
        trials = try_out(rule)
    except GradproofError:
        return []
    for asked in (options, replace(options, tolerances=excused())):
        found = [
            explain(rule, trials, i) for i in range(len(rule.inputs)) if _departs(rule, trials.here, i, asked)
        ]
        if found:
            return found
    return []


def excused() -> dict[str, float]:
    """Tolerances under which only rounded constants of a rule are forgiven."""
    return {dtype: _EXCUSED_ROUNDINGS * types.unit_roundoff(dtype) for dtype in Options().tolerances}


def _departs(rule: HandWrittenRule, here: Reading, i: int, options: Options) -> bool:
    meant, true = here.meant[i], here.true[i]
    dtype = rule.program[rule.inputs[i]].dtype
    if meant is None or types.is_discrete(dtype) or meant.mid.shape != true.mid.shape:
        return False
    return compare(meant.mid, Enclosure(true.mid, true.rad + meant.rad), dtype, options).outcome == "beyond"


def explain(rule: HandWrittenRule, trials: Trials, i: int) -> Mistake:
    """The name of a mistake that shows at one of the points tried."""
    meant, true = trials.here.meant[i], trials.here.true[i]
    assert meant is not None
    off = np.abs(meant.mid - true.mid)
    worst = tuple(int(k) for k in np.unravel_index(int(np.argmax(off)), off.shape))
    plain = Mistake("other", rule, i, meant.mid, true.mid, worst)
    try:
        return next(_readings_of(plain, trials), plain)
    except GradproofError:
        return plain


def _readings_of(plain: Mistake, trials: Trials) -> Iterator[Mistake]:
    """Candidates in the order of how much they say; the first that holds at every point is the name."""
    answer = response(plain.rule, plain.input)
    for look in _LOOKS:
        found = look(plain, trials, answer)
        if found is not None:
            yield found


Look = Callable[[Mistake, Trials, Response], Mistake | None]


def _pairs(mistake: Mistake, trials: Trials) -> list[tuple[Array, Array]]:
    """What was returned and what is right, at every point tried."""
    readings = [trials.here, *trials.other_upstream, *trials.elsewhere]
    return [
        (meant.mid, reading.true[mistake.input].mid)
        for reading in readings
        if (meant := reading.meant[mistake.input]) is not None
    ]


def _intended(mistake: Mistake, trials: Trials, answer: Response) -> Mistake | None:
    pairs = _pairs(mistake, trials)
    rule = mistake.rule
    if not rule.has_upstream:
        return None
    if rule.decisions and all(not np.any(true) for _, true in pairs):
        same = all(is_close(r.meant[mistake.input].mid, r.point.upstream[0]) for r in _all(trials))  # type: ignore[union-attr]
        return replace(mistake, kind="straight-through", detail="identity" if same else "surrogate")
    ups = [reading.point.upstream for reading in _all(trials)]
    is_identity = len(rule.outputs) == 1 and all(
        true.shape == up[0].shape and is_close(true, up[0]) for (_, true), up in zip(pairs, ups)
    )
    if is_identity:
        factor = constant_factor(pairs)
        if factor is not None:
            kind: Kind = "reversal" if factor < 0 else "scaling"
            return replace(mistake, kind=kind, numbers={"factor": factor})
    if answer.is_clipped:
        return replace(mistake, kind="clipping")
    return None


def _all(trials: Trials) -> list[Reading]:
    return [trials.here, *trials.other_upstream, *trials.elsewhere]


def _upstream(mistake: Mistake, trials: Trials, answer: Response) -> Mistake | None:
    if answer.is_ignored:
        return replace(mistake, kind="ignores upstream")
    if not answer.is_linear:
        return replace(mistake, kind="not linear", numbers=answer.numbers, detail=answer.detail)
    return None


def _plain_relation(mistake: Mistake, trials: Trials, answer: Response) -> Mistake | None:
    pairs = _pairs(mistake, trials)
    if all(not np.any(meant) for meant, _ in pairs):
        return replace(mistake, kind="zero")
    if all(is_close(meant, -true) for meant, true in pairs):
        return replace(mistake, kind="sign")
    other = _swapped(mistake, trials)
    if other is not None:
        return replace(mistake, kind="swapped", other=other)
    ups = [reading.point.upstream[0] for reading in _all(trials)]
    if all(_is_transposed(*pair) for pair in pairs) or all(map(_has_transposed_slope, pairs, ups)):
        return replace(mistake, kind="transposed")
    if mistake.rule.has_upstream and applies_jacobian(mistake.rule, _all(trials), mistake.input):
        return replace(mistake, kind="transposed", detail="jacobian")
    return None


def _swapped(mistake: Mistake, trials: Trials) -> int | None:
    """Another input whose gradient was returned here."""
    for k, own in enumerate(trials.here.true):
        if k == mistake.input or own.mid.shape != mistake.true.shape:
            continue
        if all(is_close(r.meant[mistake.input].mid, r.true[k].mid) for r in _all(trials)):  # type: ignore[union-attr]
            return k
    return None


def _is_transposed(meant: Array, true: Array) -> bool:
    if true.ndim < 2:
        return False
    square = true.shape[-1] == true.shape[-2]
    if square and is_close(meant, np.swapaxes(true, -1, -2)):
        return True
    return is_close(meant, true.T.reshape(true.shape))


def _has_transposed_slope(pair: tuple[Array, Array], up: Array) -> bool:
    """The rule of an entrywise function multiplied the upstream gradient with the slopes of other entries."""
    meant, true = pair
    if true.ndim != 2 or up.shape != true.shape or true.shape[0] != true.shape[1] or not up.all():
        return False
    return is_close(meant, up * (true / up).T)


def _narrow(mistake: Mistake, trials: Trials, answer: Response) -> Mistake | None:
    """The right numbers, but rounded to fewer digits before they were handed over."""
    rule = mistake.rule
    result = rule.results[mistake.input]
    assert result is not None
    node = rule.program[result]
    before = rule.program[node.inputs[0]] if node.op == "cast" else node
    if types.is_discrete(before.dtype) or types.precision_bits(before.dtype) >= types.precision_bits(
        node.dtype
    ):
        return None
    if not is_close(mistake.meant, mistake.true, _FEW_ROUNDINGS * types.unit_roundoff(before.dtype)):
        return None
    return replace(mistake, kind="dtype", detail=before.dtype)


def _difference(mistake: Mistake, trials: Trials, answer: Response) -> Mistake | None:
    quotient = find_quotient(mistake.rule, trials, mistake.input)
    if quotient is None:
        return None
    numbers = {"step": quotient.step, "difference": quotient.difference, "predicted": quotient.predicted}
    return replace(
        mistake, kind="finite difference", worst=quotient.index, numbers=numbers, detail=quotient.scheme
    )


def _factor(mistake: Mistake, trials: Trials, answer: Response) -> Mistake | None:
    pairs = _pairs(mistake, trials)
    factor = constant_factor(pairs)
    if factor is None or (not trials.elsewhere and mistake.true.size == 1 and not is_simple(factor)):
        return None  # one number is always a multiple of another
    detail = (
        "mean" if any(math.isclose(n * factor, 1.0, rel_tol=1e-6) for n in _averaged(mistake.rule)) else ""
    )
    return replace(mistake, kind="factor", numbers={"factor": factor}, detail=detail)


def _averaged(rule: HandWrittenRule) -> list[float]:
    """How many entries each mean has that a rule takes itself."""
    forward = {node.id for node in rule.forward.nodes}
    means = [node for node in rule.piece.nodes if node.op == "mean" and node.id not in forward]
    return [rule.piece[node.inputs[0]].value.size / node.value.size for node in means]


def _copy(mistake: Mistake, trials: Trials, answer: Response) -> Mistake | None:
    copies = lonely_copy(mistake.rule, _all(trials), mistake.input)
    return (
        None if copies is None else replace(mistake, kind="un-reduced broadcast", numbers={"copies": copies})
    )


def _branch(mistake: Mistake, trials: Trials, answer: Response) -> Mistake | None:
    found = branch_of(mistake.rule, trials, mistake.input)
    if found is None:
        return None
    node, is_true = found
    wrong = wrong_entries(mistake.meant, mistake.true)
    return replace(mistake, kind="branch", node=node, detail=str(is_true), entries=wrong)


def _term(mistake: Mistake, trials: Trials, answer: Response) -> Mistake | None:
    for keep in ("cut", "pass"):
        node = left_out(mistake.rule, _all(trials), mistake.input, keep == "cut")
        if node is not None:
            kind: Kind = "missing term" if keep == "cut" else "missing factor"
            return replace(mistake, kind=kind, node=node)
    return None


def _extra(mistake: Mistake, trials: Trials, answer: Response) -> Mistake | None:
    found = extra_term(_all(trials), mistake.input)
    if found is None or not (trials.elsewhere or mistake.true.size > 2):
        return None
    return replace(mistake, kind="extra term", numbers={"coefficient": found[1]}, detail=found[0])


def _some(mistake: Mistake, trials: Trials, answer: Response) -> Mistake | None:
    wrong = wrong_entries(mistake.meant, mistake.true)
    # An entry may be right by chance where it was used, as any multiple of 0 is; then it is not so elsewhere.
    anywhere = {index for meant, true in _pairs(mistake, trials) for index in wrong_entries(meant, true)}
    if not wrong or len(anywhere) == mistake.true.size:
        return None
    return replace(mistake, kind="entries", entries=wrong)


_LOOKS: tuple[Look, ...] = (
    _intended, _narrow, _upstream, _plain_relation, _difference, _factor, _copy, _branch, _term, _extra, _some,
)  # fmt: skip
