"""From a finished call of a tape to captures: programs, sources, custom rules, what is missing and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gradproof.errors import InvalidInput
from gradproof.ir import types
from gradproof.ir.capture import Break, Capture, Scope
from gradproof.ir.capture import Source as CapturedSource
from gradproof.ir.program import prune
from gradproof.ir.span import Span
from gradproof.tape.announce import Finished
from gradproof.tape.array import Array
from gradproof.tape.custom import USES, CustomUse, Upstream
from gradproof.tape.lowering import lowered
from gradproof.tape.missing import REASONS, Missing
from gradproof.tape.place import span_of
from gradproof.tape.program import Built, Source, build, meaning
from gradproof.tape.proof import Proof, is_leaf, row_of, weighted_sum
from gradproof.tape.record import CUSTOM, Record, ancestors

FRAMEWORK = "numpy"
UNKNOWN_PLACE = Span("<unknown>", 0)


def to_captures(finished: Finished, occurrence: int = 1) -> list[Capture]:
    """One capture for the leaves among the sources, one for each other, one for what is missing."""
    proof = finished.proof
    leaves = [k for k, source in enumerate(proof.sources) if is_leaf(source)]
    groups = [leaves] if leaves else []
    groups += [[k] for k in range(len(proof.sources)) if k not in leaves]
    read = _read_rows if proof.is_jacobian else _read
    captures = [read(finished, group) for group in groups]
    missing = [
        _missing(finished, k) for k, source in enumerate(finished.sources) if isinstance(source, Missing)
    ]
    if missing:
        captures.append(_facts(finished, missing))
    return [replace(capture, occurrence=occurrence) for capture in captures]


def unread(finished: Finished, reason: str, occurrence: int = 1) -> Capture:
    """What is known without building a program."""
    values = iter(finished.proof.gradients)
    sources = []
    for k, source in enumerate(finished.sources):
        observed = None if isinstance(source, Missing) else np.asarray(next(values).value)
        sources.append(CapturedSource(finished.names[k], *_kind(finished.given[k]), None, observed))
    return replace(_facts(finished, sources), failure=reason, occurrence=occurrence)


def _read(finished: Finished, group: Sequence[int]) -> Capture:
    proof = finished.proof
    target = weighted_sum(proof.targets, proof.seeds, proof.branches)
    return _capture(finished, group, target, [proof.gradients[k] for k in group], proof.target_name)


def _read_rows(finished: Finished, group: Sequence[int]) -> Capture:
    """A Jacobian: each entry of the target is a gradient call of its own, and the whole holds them all."""
    proof = finished.proof
    (of,) = proof.targets
    rows = []
    for row in range(of.value.size):
        target = weighted_sum(proof.targets, proof.seeds, proof.branches, row)
        gradients = [row_of(proof.gradients[k], row, of) for k in group]
        index = ", ".join(str(i) for i in np.unravel_index(row, of.value.shape))
        name = f"{proof.target_name}[{index}]" if of.value.ndim else proof.target_name
        rows.append(_capture(finished, group, target, gradients, name))
    sources = [_source(finished, k, None, proof.gradients[k], None) for k in group]
    whole = _facts(finished, sources)
    return replace(whole, facts={**whole.facts, "rows": tuple(rows), "target_shape": of.value.shape})


def _capture(
    finished: Finished, group: Sequence[int], target: Record, gradients: Sequence[Record], name: str
) -> Capture:
    uses = list(_uses([*finished.proof.targets, *gradients], gradients))
    # What a rule was given belongs into the program even if the rule made nothing of it.
    also = [lowered(record) for use, applied in uses if applied for record in (*applied.given, *use.outputs)]
    built = build([target, *gradients, *also], [finished.proof.sources[k] for k in group])
    whole, ids = built.program, built.ids
    sources = [
        _source(finished, k, node, gradient, ids[gradient])
        for k, node, gradient in zip(group, whole.inputs, gradients, strict=True)
    ]
    return replace(
        _facts(finished, sources),
        target=name,
        targets=tuple(record.serial for record in finished.proof.targets),
        made_of=frozenset(record.serial for record in ancestors(finished.proof.targets)),
        program=prune(whole, [ids[target]]),
        gradient_program=whole.with_outputs(ids[gradient] for gradient in gradients),
        scopes=tuple(_scope(built, use, applied) for use, applied in uses),
    )


def _source(
    finished: Finished, k: int, node: int | None, gradient: Record, recorded: int | None
) -> CapturedSource:
    place = [j for j, source in enumerate(finished.sources) if isinstance(source, Source)][k]
    return CapturedSource(
        finished.names[place], *_kind(finished.given[place]), node, np.asarray(gradient.value), recorded
    )


def _uses(ends: Sequence[Record], gradients: Sequence[Record]) -> Iterator[tuple[CustomUse, Upstream | None]]:
    """The custom gradients that took part, each with the application of its rule behind these gradients."""
    behind = {meaning(lowered(record)) for record in ancestors([*ends, *gradients])}
    found = {record.call.scope: record.call for record in ancestors(ends) if record.op == CUSTOM}
    # Inside a derivative of a gradient there may be nothing left of the forward but the scope of the rule's ops.
    marked = sorted({record.scope for record in behind if record.scope is not None} - found.keys())
    found |= {scope: USES[scope] for scope in marked if scope in USES}
    for use in found.values():
        yield use, next((each for each in use.applied if _took_part(each, behind)), None)


def _took_part(applied: Upstream, behind: set[Record]) -> bool:
    return any(part is not None and meaning(lowered(part)) in behind for part in applied.results)


def _scope(built: Built, use: CustomUse, applied: Upstream | None) -> Scope:
    def node(record: Record | None) -> int | None:
        return None if record is None else built.ids.get(meaning(lowered(record)))

    def known(records: Sequence[Record]) -> tuple[int, ...]:
        return tuple(id for record in records if (id := node(record)) is not None)

    return Scope(
        id=use.scope,
        name=use.name,
        inputs=known(use.inputs),
        outputs=known(use.outputs),
        upstream=None if applied is None else known(applied.given),
        results=None if applied is None else tuple(node(part) for part in applied.results),
        used_at=span_of(use.place),
        defined_at=use.definition,
        rule_at=use.definition,
    )


def _missing(finished: Finished, k: int) -> CapturedSource:
    missing, call = finished.sources[k], finished.proof.span
    assert isinstance(missing, Missing)
    contributing = () if call is None or missing.span is None else ((call, "finds no gradient"),)
    facts = {
        "what": "a plain array" if not isinstance(finished.given[k], Array) else "not watched by this tape",
        "message": missing.message,
        "remedy": missing.remedy,
        "why": REASONS[missing.reason],
    }
    broken = Break(missing.reason, missing.span or call, missing.message, contributing, facts)
    return CapturedSource(finished.names[k], *_kind(finished.given[k]), None, None, missing=broken)


def _kind(given: Any) -> tuple[tuple[int, ...], str]:
    """Shape and dtype of a source as it was passed, whatever it was."""
    array = np.asarray(given._value if isinstance(given, Array) else given)
    try:
        return array.shape, types.dtype_name(array)
    except InvalidInput:
        return array.shape, array.dtype.name


def _facts(finished: Finished, sources: Sequence[CapturedSource]) -> Capture:
    proof: Proof = finished.proof
    return Capture(
        framework=FRAMEWORK,
        call=proof.span or UNKNOWN_PLACE,
        target=proof.target_name,
        sources=tuple(sources),
        program=None,
        facts={"mode": "eager"},
    )
