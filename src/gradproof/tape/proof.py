"""The proof behind the gradients of one call: programs, enclosures and verdicts, found when asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradproof.engine.derive import jacobian
from gradproof.engine.refine import Enclosure, Measure, entry_count, gradient_measure, refine
from gradproof.engine.run import Run
from gradproof.errors import BeyondMemory, NoDerivative, NotSupported
from gradproof.ir import types
from gradproof.ir.program import Program
from gradproof.ir.span import Span
from gradproof.ir.types import Array
from gradproof.judge.by_facts import empty
from gradproof.judge.call import JudgedCall, judge_call
from gradproof.judge.compare import Comparison, compare
from gradproof.judge.judge import Judgement
from gradproof.judge.verdict import Verdict
from gradproof.options import Options
from gradproof.tape.program import TapeSource, build
from gradproof.tape.programs import captured
from gradproof.tape.record import Record
from gradproof.tape.target import is_leaf

ERROR_SHARE = 0.1  # the radius of an enclosure may add a tenth to the error it is used to measure ...
ROUNDING_SHARE = 2.0**-5  # ... or this much of one rounding, where the error itself is below that

MAX_SHARPENED = (
    200_000  # numbers in a program: beyond, a bound by `arb` would take many seconds and much memory
)


@dataclass(eq=False)
class Proof:
    """What a call of `gradient` or `jacobian` computed: records of targets, sources and results, all lowered.

    `seeds` are the gradients of the targets that were given, None where a target is summed. `branches` are
    the conditions of `if` and `while` that were decided on the way. A Jacobian has one target and no seed.
    """

    targets: Sequence[Record]
    seeds: Sequence[Record | None]
    sources: Sequence[TapeSource]
    gradients: Sequence[Record]
    branches: Sequence[Record] = ()
    span: Span | None = None
    target_name: str = "target"
    is_jacobian: bool = False
    options: Options = field(default_factory=Options)
    _known: dict[tuple[str, int], Any] = field(default_factory=dict)

    def judgement(self, index: int) -> Judgement:
        """The verdict and its evidence; of a Jacobian that of its worst row."""
        if not self.is_jacobian:
            return self._judged(index).judgements[self._group(index).index(index)]
        return self._once("worst row", index, lambda: self._judge_rows(index))  # type: ignore[no-any-return]

    def enclosure(self, index: int) -> Enclosure:
        """The true gradient, to a fraction of the observed one's error; unbounded where there is none."""
        return self._once("enclosure", index, lambda: self._enclose(index))  # type: ignore[no-any-return]

    def observed(self, index: int) -> Array:
        return np.asarray(self.gradients[index].value)

    def error(self, index: int) -> Array:
        return _distance(self.observed(index), self.enclosure(index))

    def comparison(self, index: int) -> Comparison:
        observed = self.observed(index)
        return compare(observed, self.enclosure(index), types.dtype_name(observed), self.options)

    def _judged(self, index: int) -> JudgedCall:
        group = self._group(index)
        found: JudgedCall = self._once(
            "judged", group[0], lambda: judge_call(captured(self, group), self.options)
        )
        return found

    def _once(self, what: str, index: int, find: Callable[[], Any]) -> Any:
        key = what, index
        if key not in self._known:
            self._known[key] = find()
        return self._known[key]

    def _group(self, index: int) -> list[int]:
        """Leaves are proven together; what was computed alone, as an input with the value it had."""
        if not is_leaf(self.sources[index]):
            return [index]
        return [k for k, source in enumerate(self.sources) if is_leaf(source)]

    def _enclose(self, index: int) -> Enclosure:
        judgement = self.judgement(index)
        observed = self.observed(index)
        undefined = _undefined_entries(judgement)
        if judgement.enclosure is None or undefined is True:
            return _nothing_known(observed)
        if not isinstance(undefined, bool):
            enclosure = judgement.enclosure
            return Enclosure(enclosure.mid, np.where(undefined, np.inf, enclosure.rad))
        if not self.is_jacobian and (judgement.oracle != "ball" or _is_tight(observed, judgement.enclosure)):
            return judgement.enclosure
        if self.is_jacobian:
            program = build([self.targets[0]], [self.sources[index]]).program
            return _climb(program, lambda result: jacobian(result), observed, self.options)
        capture = self._judged(index).capture
        node = capture.sources[self._group(index).index(index)].node
        if capture.program is None or node is None or entry_count(capture.program) > MAX_SHARPENED:
            return judgement.enclosure  # a true bound as well, if a wider one
        return _climb(capture.program, gradient_measure((node,)), observed, self.options)

    def _judge_rows(self, index: int) -> Judgement:
        n_rows = int(self.targets[0].value.size)
        rows = [judge_call(captured(self, [index], row), self.options).judgements[0] for row in range(n_rows)]
        if not rows:
            return empty(self.observed(index).shape)
        return max(rows, key=lambda judgement: judgement.verdict.severity)


def _climb(program: Program, measure: Measure, observed: Array, options: Options) -> Enclosure:
    """Climb until the radius is small beside the distance it is used to measure."""

    def is_decided(enclosures: tuple[Enclosure, ...], _: Run) -> bool:
        return _is_tight(observed, enclosures[0])

    try:
        return refine(program, measure, is_decided, options).enclosures[0]
    except (NoDerivative, NotSupported, BeyondMemory):
        return _nothing_known(observed)


def _undefined_entries(judgement: Judgement) -> Array | bool:
    """Which entries have no derivative, as far as that can be told entry by entry."""
    sides = None if judgement.reference is None else judgement.reference.sides
    if sides is not None and sides.fact == "cannot tell":
        return True
    if judgement.verdict is not Verdict.UNDEFINED:
        return False
    if sides is None or sides.fact != "kink" or judgement.one_sided is None:
        return True
    below, above = judgement.one_sided
    return np.asarray(below != above)


def _nothing_known(observed: Array) -> Enclosure:
    return Enclosure(np.zeros(observed.shape), np.full(observed.shape, np.inf))


def _is_tight(observed: Array, enclosure: Enclosure) -> bool:
    with np.errstate(all="ignore"):
        distance = _gap(observed, enclosure)
        unit = types.unit_roundoff(types.dtype_name(observed)) * np.abs(enclosure.mid)
        allowed = np.maximum(ERROR_SHARE * distance, ROUNDING_SHARE * unit)
    # Where the observed number is not finite no precision helps: the distance is infinite.
    return bool(((enclosure.rad <= allowed) | ~np.isfinite(observed)).all())


def _distance(observed: Array, enclosure: Enclosure) -> Array:
    """|observed - true| at most, the two roundings of this very line included."""
    with np.errstate(all="ignore"):
        distance = _gap(observed, enclosure)
        bound = np.nextafter((distance + enclosure.rad) * (1.0 + 2.0**-50), np.inf)
    exact = (distance == 0.0) & (enclosure.rad == 0.0)
    return np.where(exact, 0.0, np.where(np.isnan(bound), np.inf, bound))


def _gap(observed: Array, enclosure: Enclosure) -> Array:
    wide = observed.astype(np.result_type(observed.dtype, enclosure.mid.dtype))
    return np.asarray(np.abs(wide - enclosure.mid))
