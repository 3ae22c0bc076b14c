"""Jacobians and directional derivatives as gradients: one number is differentiated, by one copy of a source per row.

Entry r of the target is computed from its own copy of the sources, and the entries are summed. The gradient of
that sum for all copies together is the Jacobian, so a Jacobian is judged like every gradient, at ties and at
singular points too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradproof.engine.trace import Traced, Tracer
from gradproof.errors import GradproofError
from gradproof.frontends.record.model import GradientCall
from gradproof.ir.program import Builder, Node, Program

# Nodes that the copies may have in all: some seconds in exact arithmetic.
MAX_NODES = 60_000

Index = tuple[int, ...]
# What stands for a source in the copy of a row: made of the inputs of the new program.
StandIn = Callable[[Tracer, Index], Traced]


@dataclass(frozen=True)
class RowCopies:
    """The program of the copies, and its inputs, whose gradients are asked for."""

    program: Program
    inputs: tuple[int, ...]


@dataclass(frozen=True)
class ByEntries:
    """How the program of a Jacobian is made of that of its target."""

    sources: tuple[int, ...]

    def __call__(self, of: Program) -> Program:
        return jacobian(of, of.outputs[0], self.sources).program


@dataclass(frozen=True)
class ByExamples:
    """How the program of a batch Jacobian is made of that of its target."""

    source: int

    def __call__(self, of: Program) -> Program:
        return batch_jacobian(of, of.outputs[0], self.source).program


@dataclass(frozen=True, eq=False)
class AlongTangents:
    """How the program of directional derivatives is made of that of its targets."""

    tangents: Mapping[int, Any]
    directions: Index = ()

    def __call__(self, of: Program) -> Program:
        return along(of, of.outputs, self.tangents, self.directions).program


def jacobian(program: Program, target: int, sources: Sequence[int]) -> RowCopies:
    """Gradients of shape target + source."""
    shape = program[target].shape
    m, inputs = _inputs([np.broadcast_to(program[id].value, (*shape, *program[id].shape)) for id in sources])
    stand_ins = {
        id: _row(whole, len(shape), program[id].shape) for id, whole in zip(sources, inputs, strict=True)
    }
    return _assembled(m, program, target, stand_ins, inputs)


def batch_jacobian(program: Program, target: int, source: int) -> RowCopies:
    """Gradients of shape target + source without the source's first axis: an example depends on itself alone."""
    shape, value = program[target].shape, program[source].value
    rows = np.reshape(value, (shape[0], *(1,) * (len(shape) - 1), *value.shape[1:]))
    m, inputs = _inputs([np.broadcast_to(rows, (*shape, *value.shape[1:]))])
    own = _row(inputs[0], len(shape), (1, *value.shape[1:]))
    constant = m.constant(value)

    def stand_in(m: Tracer, row: Index) -> Traced:
        return m.scatter_update(constant, np.asarray([[row[0]]]), own(m, row))  # type: ignore[no-any-return]

    return _assembled(m, program, target, {source: stand_in}, inputs)


def along(
    program: Program, targets: Sequence[int], tangents: Mapping[int, Any], directions: Index = ()
) -> RowCopies:
    """Gradients of the targets' shapes: how each entry changes when the sources move along their tangents.

    Where there are many directions, the first axes of the tangents and of the gradients count them.
    """
    m, inputs = _inputs(
        [np.zeros((*directions, *program[id].shape), program[id].value.dtype) for id in targets]
    )
    total = None
    for target, whole in zip(targets, inputs, strict=True):
        step = _row(whole, len(whole.shape), ())
        stand_ins = {
            id: _moved(m, program[id], tangent, len(directions), step) for id, tangent in tangents.items()
        }
        part = _sum_of_rows(m, program, target, stand_ins, directions)
        total = part if total is None else m.add(total, part)
    assert total is not None
    return RowCopies(m.builder.build([total.id]), tuple(x.id for x in inputs))


def directions_of(call: GradientCall) -> Index:
    """The axes of the tangents that come before those of what moves along them."""
    for operand, tangent in zip(call.sources, call.tangents or ()):
        if tangent is not None and tangent.shape is not None and operand.value.shape is not None:
            return tangent.shape[: len(tangent.shape) - len(operand.value.shape)]
    return ()


def _moved(m: Tracer, source: Node, tangents: Any, n_axes: int, step: StandIn) -> StandIn:
    at = m.constant(source.value)
    constants = {
        place: m.constant(np.asarray(tangents)[place]) for place in np.ndindex(np.shape(tangents)[:n_axes])
    }
    return lambda m, row: m.add(at, m.mul(step(m, row), constants[row[:n_axes]]))


def _inputs(values: Sequence[Any]) -> tuple[Tracer, list[Traced]]:
    m = Tracer(Builder(), phase="forward")
    arrays = [np.asarray(value) for value in values]
    return m, [Traced(m, m.builder.input(array), array) for array in arrays]


def _row(whole: Traced, n_axes: int, shape: tuple[int, ...]) -> StandIn:
    """The part of `whole` that belongs to a row, which the first axes count."""

    def stand_in(m: Tracer, row: Index) -> Traced:
        rest = whole.shape[n_axes:]
        end = (*(k + 1 for k in row), *rest)
        part = m.strided_slice(whole, begin=(*row, *(0,) * len(rest)), end=end)
        return m.reshape(part, shape=shape)  # type: ignore[no-any-return]

    return stand_in


def _assembled(
    m: Tracer, program: Program, target: int, stand_ins: dict[int, StandIn], inputs: Sequence[Traced]
) -> RowCopies:
    total = _sum_of_rows(m, program, target, stand_ins)
    return RowCopies(m.builder.build([total.id]), tuple(x.id for x in inputs))


def _sum_of_rows(
    m: Tracer, program: Program, target: int, stand_ins: dict[int, StandIn], directions: Index = ()
) -> Traced:
    moving = _dependent(program, set(stand_ins))
    rows = list(np.ndindex(*directions, *program[target].shape))
    count = len(rows) * len(moving)
    if count > MAX_NODES:
        raise GradproofError(
            f"a derivative of {len(rows)} rows through {len(moving)} nodes was not judged: "
            f"the limit is {MAX_NODES} nodes in all"
        )
    fixed: dict[int, int] = {}
    for node in program.nodes:
        if node.id not in moving:
            fixed[node.id] = _copy(m.builder, node, fixed)
    entries = []
    for row in rows:
        ids = {**fixed, **{id: stand_in(m, row).id for id, stand_in in stand_ins.items()}}
        for node in program.nodes:
            if node.id in moving and node.id not in stand_ins:
                ids[node.id] = _copy(m.builder, node, ids)
        y = Traced(m, ids[target], program[target].value)
        entry = row[len(directions) :]
        part = m.strided_slice(y, begin=entry, end=tuple(k + 1 for k in entry)) if entry else y
        entries.append(m.reshape(part, shape=()))
    return m.sum(m.stack(*entries, axis=0), axes=(0,)) if entries else m.constant(np.zeros(()))


def _copy(builder: Builder, node: Node, ids: dict[int, int]) -> int:
    op = "constant" if node.op == "input" else node.op  # what is not differentiated stays as it is
    return builder.add(
        op,
        *(ids[id] for id in node.inputs),
        params=node.params,
        value=node.value,
        span=node.span,
        phase=node.phase,
        scope=node.scope,
        kernel=node.kernel,
    )


def _dependent(program: Program, ids: set[int]) -> set[int]:
    """All nodes computed from `ids`, decisions too: every copy takes its own."""
    reached = set(ids)
    for node in program.nodes:
        if node.id not in reached and any(id in reached for id in node.inputs):
            reached.add(node.id)
    return reached
