"""One call of `gradient` or `jacobian`: from targets and sources to arrays that carry their proof."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradproof.engine.trace import Traced
from gradproof.errors import InvalidInput
from gradproof.ir.program import OPAQUE
from gradproof.ir.span import Span
from gradproof.tape.announce import Finished, announce
from gradproof.tape.array import Array
from gradproof.tape.backward import reached, sweep
from gradproof.tape.lowering import RecordTracer, lowered
from gradproof.tape.missing import Missing
from gradproof.tape.program import TapeSource
from gradproof.tape.proof import Proof
from gradproof.tape.record import LEAF, Record, TapeToken, ancestors, constant
from gradproof.tape.result import TracedGradient, gradient_array
from gradproof.tape.state import STATE, TapeExit
from gradproof.tape.variable import Variable
from gradproof.tape.why import Question, no_rule, why_missing


@dataclass(frozen=True)
class TapeGradientCall:
    """What was asked of which tape, and what the tape knows."""

    targets: Sequence[Any]
    seeds: Sequence[Any]
    sources: Sequence[Any]
    target_name: str
    source_names: Sequence[str]
    token: TapeToken
    is_watched: Callable[[Array], bool]
    leaves: Sequence[TapeExit]
    branches: Sequence[Record]
    zero_if_missing: bool
    span: Span | None

    def question(self, k: int) -> Question:
        source = self.sources[k]
        is_watched = isinstance(source, Array) and self.is_watched(source)
        names = self.target_name, self.source_names[k]
        return Question(self.targets[0], source, *names, self.token, self.leaves, is_watched)


@dataclass(frozen=True)
class _Setting:
    """A call with everything lowered to ops."""

    targets: list[Record]
    seeds: list[Record | None]
    order: list[Record]  # all records the targets were computed from
    sources: list[TapeSource | Missing]


def differentiate(call: TapeGradientCall) -> list[Any]:
    """One gradient, Missing or array of zeros per source."""
    setting = _set_up(call)
    m = _backward_tracer()
    seeds: dict[Record, Traced] = {}
    for target, seed in zip(setting.targets, setting.seeds):
        start = m.of(constant(np.ones_like(target.value), phase="backward") if seed is None else seed)
        seeds[target] = m.add(seeds[target], start) if target in seeds else start
    with _sweeping(m):
        found = sweep(m, seeds, _all_records(setting.sources), call.token)
        gradients = [_total(m, source, found) for source in setting.sources]
    return _results(call, _checked(call, setting, gradients), gradients)


def differentiate_each(call: TapeGradientCall) -> list[Any]:
    """One Jacobian per source: a sweep for every entry of the target."""
    setting = _set_up(call)
    m = _backward_tracer()
    rows: list[list[Any]] = [[] for _ in setting.sources]
    with _sweeping(m):
        for target in setting.targets:
            _sweep_rows(call, setting, m, target, rows)
        setting = _checked(
            call, setting, [next((part for part in row if part is not None), None) for row in rows]
        )
        gradients = [_stacked(m, row, source, setting.targets) for row, source in zip(rows, setting.sources)]
    return _results(call, setting, gradients, is_jacobian=True)


def _sweep_rows(
    call: TapeGradientCall, setting: _Setting, m: RecordTracer, target: Record, rows: list[list[Any]]
) -> None:
    for place in range(target.value.size):
        unit = np.zeros(target.value.size, target.value.dtype)
        unit[place] = 1
        seed = m.of(constant(unit.reshape(target.value.shape), phase="backward"))
        found = sweep(m, {target: seed}, _all_records(setting.sources), call.token)
        for row, source in zip(rows, setting.sources):
            row.append(_total(m, source, found))


def _set_up(call: TapeGradientCall) -> _Setting:
    targets, seeds = [], []
    for target, seed in zip(call.targets, call.seeds):
        if isinstance(target, Array) and target._record is not None and target.dtype.kind not in "biu":
            targets.append(lowered(target._record))
            seeds.append(None if seed is None else _seed(seed, target))
    order = ancestors(targets)
    sources = [_source(call, k, order, targets) for k in range(len(call.sources))]
    return _Setting(targets, seeds, order, sources)


def _seed(seed: Any, target: Array) -> Record:
    """A given gradient of a target, in the target's dtype; a traced one can be differentiated again."""
    if (
        isinstance(seed, Array)
        and seed.is_tracked
        and seed.dtype == target.dtype
        and seed.shape == target.shape
    ):
        assert seed._record is not None
        return lowered(seed._record)  # type: ignore[no-any-return]
    values = np.asarray(seed._value if isinstance(seed, Array) else seed)
    if values.shape != target.shape:
        raise InvalidInput(
            f"an output gradient has the shape of its target, {target.shape}, but this one has {values.shape}"
        )
    return constant(values.astype(target.dtype))


def _source(
    call: TapeGradientCall, k: int, order: list[Record], targets: list[Record]
) -> TapeSource | Missing:
    source = call.sources[k]
    if not isinstance(source, Array) or source._record is None or source.dtype.kind in "biu":
        return why_missing(call.question(k))
    if not call.is_watched(source):
        return why_missing(call.question(k))
    if isinstance(source, Variable):
        records = tuple(record for record in order if record.op == LEAF and record.call is source._identity)
    else:
        records = (lowered(source._record),)
    blocked = _blocked(order, records, targets, call.token)
    if blocked is not None:
        return no_rule(call.question(k), blocked)
    return TapeSource(records, call.source_names[k]) if records else why_missing(call.question(k))


def _blocked(
    order: list[Record], sources: tuple[Record, ...], targets: list[Record], token: TapeToken
) -> Record | None:
    """A function without a derivative on the way: a partial gradient would be a lie."""
    opaque = [record for record in order if record.op.startswith(OPAQUE) and not record.is_discrete]
    if not opaque:
        return None
    active = reached(order, sources, token)
    needed = set(ancestors([target for target in targets if target in active]))
    return next((record for record in opaque if record in active and record in needed), None)


def _backward_tracer() -> RecordTracer:
    """Without an outer tape nobody needs the values of the sweep; for a proof they are computed again."""
    return RecordTracer((*STATE.tapes, TapeToken()), "backward", keeps_values=bool(STATE.tapes))


class _sweeping:
    """Records also without an outer tape: custom rules are part of the program of the gradient."""

    def __init__(self, m: RecordTracer) -> None:
        self.tapes: tuple[TapeToken, ...] = m.builder.tapes

    def __enter__(self) -> None:
        self.before = STATE.tapes
        STATE.tapes = self.tapes

    def __exit__(self, *_: object) -> None:
        STATE.tapes = self.before
        self.tapes[-1].is_alive = False


def _all_records(sources: Sequence[TapeSource | Missing]) -> list[Record]:
    return [record for source in sources if isinstance(source, TapeSource) for record in source.records]


def _total(m: RecordTracer, source: TapeSource | Missing, found: dict[Record, Traced]) -> Any:
    if isinstance(source, Missing):
        return None
    total: Any = None
    for record in source.records:
        if record in found:
            total = found[record] if total is None else m.add(total, found[record])
    return total


def _checked(call: TapeGradientCall, setting: _Setting, gradients: list[Any]) -> _Setting:
    """Sources that the sweep did not reach have no gradient; the reason is looked for only now."""
    sources = [
        why_missing(call.question(k)) if isinstance(source, TapeSource) and gradients[k] is None else source
        for k, source in enumerate(setting.sources)
    ]
    return replace(setting, sources=sources)


def _stacked(m: RecordTracer, row: list[Any], source: TapeSource | Missing, targets: list[Record]) -> Any:
    if isinstance(source, Missing) or not targets:
        return None
    target = targets[0]
    shape = source.records[0].value.shape
    if not row:
        return m.of(constant(np.zeros((*target.value.shape, *shape), source.records[0].value.dtype)))
    zero = m.of(constant(np.zeros(shape, source.records[0].value.dtype), phase="backward"))
    parts = [m.reshape(zero if part is None else part, shape=(1, *shape)) for part in row]
    whole = m.concat(*parts, axis=0) if len(parts) > 1 else parts[0]
    return m.reshape(whole, shape=(*target.value.shape, *shape))


def _results(
    call: TapeGradientCall, setting: _Setting, gradients: list[Any], is_jacobian: bool = False
) -> list[Any]:
    present = [k for k, gradient in enumerate(gradients) if gradient is not None]
    for k in present:
        gradients[k].id.value = gradients[k].value
    proof = Proof(
        setting.targets,
        setting.seeds,
        [setting.sources[k] for k in present],  # type: ignore[misc]
        [gradients[k].id for k in present],
        _relevant(call),
        call.span,
        call.target_name,
        is_jacobian=is_jacobian,
    )
    announce(Finished(proof, call.sources, call.source_names, setting.sources, tuple(call.leaves)))
    results: list[Any] = []
    for k, source in enumerate(setting.sources):
        if isinstance(source, Missing):
            results.append(_zeros(call, k, source) if call.zero_if_missing else source)
        elif STATE.tapes:
            results.append(TracedGradient(gradients[k].id, proof, present.index(k)))
        else:
            results.append(gradient_array(gradients[k].value, proof, present.index(k)))
    return results


def _relevant(call: TapeGradientCall) -> list[Record]:
    """Conditions of `if` and `while` that were decided while the tape recorded."""
    return [lowered(record) for record in call.branches if call.token in record.tapes]


def _zeros(call: TapeGradientCall, k: int, missing: Missing) -> Any:
    source = call.sources[k]
    value = np.zeros_like(source._value if isinstance(source, Array) else np.asarray(source, np.float64))
    del missing
    return value if value.dtype.kind not in "biu" else value.astype(np.float64)
