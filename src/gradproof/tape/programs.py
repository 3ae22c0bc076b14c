"""One gradient call of a tape as a capture: the programs, the custom rules, and what was returned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from gradproof.frontends.record.place import span_of
from gradproof.ir import types
from gradproof.ir.capture import CallRun, Capture, RuleRuns, Scope
from gradproof.ir.capture import Source as CapturedSource
from gradproof.ir.program import prune
from gradproof.ir.span import Span
from gradproof.tape.custom import USES, CustomUse, Upstream
from gradproof.tape.lowering import lowered
from gradproof.tape.program import Built, build, meaning
from gradproof.tape.record import CUSTOM, Record, ancestors
from gradproof.tape.target import row_of, weighted_sum

if TYPE_CHECKING:
    from gradproof.tape.proof import Proof

FRAMEWORK = "numpy"
UNKNOWN_PLACE = Span("<unknown>", 0)


def captured(proof: Proof, group: Sequence[int], row: int | None = None) -> Capture:
    """Some sources of a call, or of one row of a Jacobian; who asked may know better names for them."""
    target = weighted_sum(proof.targets, proof.seeds, proof.branches, row)
    gradients = [proof.gradients[k] for k in group]
    if row is not None:
        gradients = [row_of(gradient, row, proof.targets[0]) for gradient in gradients]
    uses = list(_uses([*proof.targets, *gradients], gradients))
    # What a rule was given belongs into the program even if the rule made nothing of it.
    also = [lowered(record) for use, applied in uses if applied for record in (*applied.given, *use.outputs)]
    built = build([target, *gradients, *also], [proof.sources[k] for k in group])
    whole, ids = built.program, built.ids
    sources = tuple(
        CapturedSource(
            proof.sources[k].name or "source",
            gradient.value.shape,
            types.dtype_name(gradient.value),
            node,
            np.asarray(gradient.value),
            ids[gradient],
        )
        for k, node, gradient in zip(group, whole.inputs, gradients, strict=True)
    )
    return Capture(
        framework=FRAMEWORK,
        call=proof.span or UNKNOWN_PLACE,
        target=proof.target_name,
        sources=sources,
        program=prune(whole, [ids[target]]),
        gradient_program=whole.with_outputs(ids[gradient] for gradient in gradients),
        rules=RuleRuns(scopes=tuple(_scope(built, use, applied) for use, applied in uses)),
        run=CallRun(
            targets=tuple(record.serial for record in proof.targets),
            made_of=frozenset(record.serial for record in ancestors(proof.targets)),
        ),
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
