"""The proof behind the gradients of one call: programs, enclosures and verdicts, each found once and only when asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradproof.engine.refine import Enclosure, gradient_measure, refine
from gradproof.engine.run import Run
from gradproof.errors import BeyondMemory, NoDerivative, NotSupported
from gradproof.ir import types
from gradproof.ir.span import Span
from gradproof.judge.compare import Comparison, compare
from gradproof.judge.judge import Evidence, Judgement, judge
from gradproof.options import Options
from gradproof.tape.lowering import RecordTracer
from gradproof.tape.program import Source, build
from gradproof.tape.record import LEAF, Record

ERROR_SHARE = 0.1  # the radius of an enclosure may add a tenth to the error it is used to measure ...
ROUNDING_SHARE = 2.0**-5  # ... or this much of one rounding, where the error itself is below that


@dataclass(eq=False)
class Proof:
    """What a call of `gradient` computed: records of targets, sources and gradients, all lowered.

    `seeds` are the gradients of the targets that were given, None where a target is summed.
    """

    targets: Sequence[Record]
    seeds: Sequence[Record | None]
    sources: Sequence[Source]
    gradients: Sequence[Record]
    branches: Sequence[Record] = ()
    span: Span | None = None
    target_name: str = "target"
    is_jacobian: bool = False
    options: Options = field(default_factory=Options)
    _evidence: dict[int, Evidence] = field(default_factory=dict)
    _judgements: dict[int, tuple[Judgement, ...]] = field(default_factory=dict)
    _enclosures: dict[int, tuple[Enclosure, ...]] = field(default_factory=dict)

    def evidence(self, index: int) -> tuple[Evidence, int]:
        """The programs of the group a source belongs to, and its place in the group."""
        group = self._group(index)
        key = group[0]
        if key not in self._evidence:
            self._evidence[key] = self._gather(group)
        return self._evidence[key], group.index(index)

    def judgement(self, index: int) -> Judgement:
        evidence, k = self.evidence(index)
        key = self._group(index)[0]
        if key not in self._judgements:
            self._judgements[key] = judge(evidence, self.options)
        return self._judgements[key][k]

    def enclosure(self, index: int) -> Enclosure:
        """The true gradient, to within a fraction of the error of the one observed; unbounded where nothing is known."""
        evidence, k = self.evidence(index)
        key = self._group(index)[0]
        if key not in self._enclosures:
            self._enclosures[key] = _enclose(evidence, self.options)
        return self._enclosures[key][k]

    def error(self, index: int) -> np.ndarray[Any, Any]:
        return _distance(np.asarray(self.gradients[index].value), self.enclosure(index))

    def digits(self, index: int) -> Comparison:
        observed = np.asarray(self.gradients[index].value)
        return compare(observed, self.enclosure(index), types.dtype_name(observed), self.options)

    def _group(self, index: int) -> list[int]:
        """Leaves are proven together. What was computed itself is proven alone, as an input with the value it had."""
        if not _is_leaf(self.sources[index]):
            return [index]
        return [k for k, source in enumerate(self.sources) if _is_leaf(source)]

    def _gather(self, group: Sequence[int]) -> Evidence:
        sources = [self.sources[k] for k in group]
        gradients = [self.gradients[k] for k in group]
        forward = build([_scalar(self.targets, self.seeds)], sources, self.branches).program
        backward = build(gradients, sources).program
        observed = tuple(record.value for record in gradients)
        return Evidence(forward, forward.inputs, observed, backward.outputs, backward)


def _is_leaf(source: Source) -> bool:
    return all(record.op == LEAF for record in source.records)


def _scalar(targets: Sequence[Record], seeds: Sequence[Record | None]) -> Record:
    """The number whose gradient was asked for: all targets, weighted by their seeds, summed up."""
    m = RecordTracer((), "forward")
    total: Any = None
    with np.errstate(all="ignore"):
        for target, seed in zip(targets, seeds):
            m.work_on(target)
            term: Any = m.of(target)
            if seed is not None:
                term = m.mul(term, m.conj(m.of(seed)))
            if term.ndim:
                term = m.sum(term, axes=tuple(range(term.ndim)))
            total = term if total is None else m.add(total, term)
    record: Record = total.id
    return record


def _enclose(evidence: Evidence, options: Options) -> tuple[Enclosure, ...]:
    """Climb until every radius is small beside the distance it is used to measure."""
    observed = [np.asarray(value) for value in evidence.observed]

    def is_decided(enclosures: tuple[Enclosure, ...], _: Run) -> bool:
        return all(_is_tight(value, enclosure) for value, enclosure in zip(observed, enclosures))

    try:
        return refine(evidence.program, gradient_measure(evidence.wrt), is_decided, options).enclosures
    except (NoDerivative, NotSupported, BeyondMemory):
        return tuple(Enclosure(np.zeros(value.shape), np.full(value.shape, np.inf)) for value in observed)


def _is_tight(observed: np.ndarray[Any, Any], enclosure: Enclosure) -> bool:
    with np.errstate(all="ignore"):
        distance = _gap(observed, enclosure)
        unit = types.unit_roundoff(types.dtype_name(observed)) * np.abs(enclosure.mid)
        allowed = np.maximum(ERROR_SHARE * distance, ROUNDING_SHARE * unit)
    # Where the observed number is not finite no precision helps: the distance is infinite.
    return bool(((enclosure.rad <= allowed) | ~np.isfinite(observed)).all())


def _distance(observed: np.ndarray[Any, Any], enclosure: Enclosure) -> np.ndarray[Any, Any]:
    """|observed - true| at most, the two roundings of this very line included."""
    with np.errstate(all="ignore"):
        distance = _gap(observed, enclosure)
        bound = np.nextafter(distance * (1.0 + 2.0**-51) + enclosure.rad * (1.0 + 2.0**-51), np.inf)
    exact = (distance == 0.0) & (enclosure.rad == 0.0)
    return np.where(exact, 0.0, np.where(np.isnan(bound), np.inf, bound))


def _gap(observed: np.ndarray[Any, Any], enclosure: Enclosure) -> np.ndarray[Any, Any]:
    wide = observed.astype(np.result_type(observed.dtype, enclosure.mid.dtype))
    return np.asarray(np.abs(wide - enclosure.mid))
