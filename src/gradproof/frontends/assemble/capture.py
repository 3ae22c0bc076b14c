"""From a recorded gradient call to a capture: programs, sources, rules."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from gradproof.engine.trace import Traced
from gradproof.errors import GradproofError
from gradproof.frontends.assemble import jacobians as rows
from gradproof.frontends.assemble.program import Assembly
from gradproof.frontends.assemble.rules import hidden_stops, inner_of, know_ends, pullbacks_of, scopes_of
from gradproof.frontends.assemble.unread import UNKNOWN_PLACE, broken_at, name_of_sources, target_name, unread
from gradproof.frontends.assemble.view import View
from gradproof.frontends.frozen.state import with_state
from gradproof.frontends.missing.detours import placed
from gradproof.frontends.record.model import GradientCall, Observed, Operand
from gradproof.ir import types
from gradproof.ir.capture import CallRun, Capture, Copies, RuleRuns, Source
from gradproof.ir.program import Program, prune
from gradproof.ir.surroundings import OpenRecord, Surroundings


def to_capture(call: GradientCall, view: View | None = None) -> Capture:
    """Everything the judge and the causes need; what could not be lowered stays opaque, and a failure is said.

    Without a `view`, all that ran counts as connected if a gradient is missing, and what the tape heard if not.
    """
    return read(call, view)[1]


def read(call: GradientCall, view: View | None) -> tuple[Assembly | None, Capture]:
    """The capture, and what it was made from; nothing of that where the call could not be read."""
    if call.failure is not None and not call.targets:  # no more is known of it than that it was made
        return None, unread(call, call.failure)
    if call.doubt is not None:
        return None, unread(call, call.doubt)
    try:
        made, capture = assembled(call, view)
        return made, with_state(capture, call)
    except GradproofError as error:
        return None, unread(call, call.exception or str(error))
    except Exception as error:  # an internal fault must not break the user's run: it becomes a stated reason
        failed = f"gradproof failed to read this gradient ({error!r}); please report it with this trace: "
        return None, unread(call, failed + traceback.format_exc(limit=-3))


def assembled(call: GradientCall, view: View | None) -> tuple[Assembly, Capture]:
    made = Assembly(call, view)
    return made, _capture(made)


def _capture(made: Assembly) -> Capture:
    call = made.call
    made.lower()
    know_ends(made)
    made.m.place(call.span, "forward", None)
    if call.api in ("jacobian", "batch_jacobian"):
        return _jacobian(made)
    if call.api == "jvp":
        return _directional(made)
    output = _weighted_target(made)
    sources = tuple(_source(made, k, operand) for k, operand in enumerate(call.sources))
    whole = made.m.builder.build([output.id])
    # Zeros for what the target does not depend on are judged, too.
    kept = sources if call.unconnected_gradients == "zero" else ()
    program = prune(whole, [output.id], [source.node for source in kept if source.node is not None])
    return _with_program(made, tuple(placed(source, made, program) for source in sources), whole, program)


def _with_program(
    made: Assembly,
    sources: tuple[Source, ...],
    whole: Program,
    program: Program,
    copies: Copies | None = None,
) -> Capture:
    call = made.call
    recorded = [source.recorded for source in sources if source.recorded is not None]
    scopes = tuple(scopes_of(made, whole))
    # Without a gradient, what rules that were run on their own returned is all there is.
    ends = recorded or [id for scope in scopes for id in scope.results or () if id is not None]
    return Capture(
        framework=call.framework,
        call=call.span or UNKNOWN_PLACE,
        target=target_name(call),
        sources=sources,
        program=program,
        gradient_program=whole.with_outputs(ends) if ends else None,
        rules=RuleRuns(
            tuple(pullbacks_of(made, whole)),
            scopes,
            tuple(inner_of(made, program if copies is None else copies.of)),
            hidden_stops(made, whole),
            tuple(scopes_of(made, whole, are_wholes=True)),
        ),
        run=CallRun(
            call.occurrence, _order(call), call.mode, call.policy, call.exception, replica=call.replica
        ),
        around=Surroundings(
            open_tape=OpenRecord(call.tape.entered, call.tape.held) if call.tape.held else None,
            kept=call.kept,
            differences=call.differences,
        ),
        copies=copies,
        faults=tuple(made.faults),
        ran=tuple(made.ran),
        failure=call.failure,
    )


def _order(call: GradientCall) -> int:
    """One more than the number of gradient calls, one inside the other, whose backward ops this one went through."""
    inner = (
        len([id for id in event.within if id != call.id])
        for event in call.events
        if event.phase == "forward" and event.is_heard_by(call.tape)
    )
    return 1 + max(inner, default=0)


def _target(made: Assembly, k: int) -> Traced:
    operand = made.call.targets[k]
    y = made.plain_target(k) or made.tensor(operand.value)
    if not isinstance(y, Traced):
        why = f": {operand.value.unknown}" if operand.value.unknown else ""
        raise GradproofError(f"the value of the target `{operand.name}` is not known{why}")
    return y


def _weighted_target(made: Assembly) -> Traced:
    """The number that was differentiated: every target times its output gradient, summed."""
    m = made.m
    weights = made.call.output_gradients or (None,) * len(made.call.targets)
    total: Traced | None = None
    for k, weight in enumerate(weights):
        y = _target(made, k)
        if weight is not None and weight.array is not None:
            y = m.mul(y, m.conj(m.constant(weight.array)))
        if not types.is_discrete(types.dtype_name(y.value)):
            y = m.real(y) if np.iscomplexobj(y.value) else y
            y = m.sum(y, axes=tuple(range(y.ndim))) if y.ndim else y
            total = y if total is None else m.add(total, y)
    if total is None:
        raise GradproofError("the target is an integer or a boolean, which has no derivative")
    return total


def _jacobian(made: Assembly) -> Capture:
    """The whole Jacobian as one gradient, by a copy of the source per row."""
    y = _target(made, 0)
    if not types.is_real(types.dtype_name(y.value)):
        raise GradproofError("Jacobians of complex or discrete targets are not judged")
    sources = tuple(_source(made, k, operand) for k, operand in enumerate(made.call.sources))
    whole = made.m.builder.build([y.id])
    program = prune(whole, [y.id])
    reached = [source.node for source in sources if source.node is not None]
    if not reached:
        return _with_program(made, sources, whole, program)
    if made.call.api == "batch_jacobian" and y.shape[:1] != program[reached[0]].shape[:1]:
        raise GradproofError("a batch Jacobian needs a target and a source of as many examples")

    make: Callable[[Program], Program]
    if made.call.api == "jacobian":
        copies, make = rows.jacobian(program, y.id, reached), rows.ByEntries(tuple(reached))
    else:
        copies, make = rows.batch_jacobian(program, y.id, reached[0]), rows.ByExamples(reached[0])
    places = dict(zip(reached, copies.inputs))
    moved = tuple(
        source
        if source.node is None
        else replace(source, node=places[source.node], shape=copies.program[places[source.node]].shape)
        for source in sources
    )
    by_rows = reached[0] if made.call.api == "batch_jacobian" else None
    kept = Copies(program, make, by_rows)
    return _with_program(made, moved, whole, copies.program, kept)


def _directional(made: Assembly) -> Capture:
    """Forward mode: how far each target moves when the sources move along their tangents."""
    call = made.call
    targets = [_target(made, k) for k in range(len(call.targets))]
    whole = made.m.builder.build([y.id for y in targets])
    program = prune(whole, whole.outputs)
    reached = {node.id for node in program.nodes}  # a target need not depend on every source
    tangents = {
        node.id: tangent.array
        for operand, tangent in zip(call.sources, call.tangents or ())
        if (node := _node_of(made, operand)) is not None and tangent is not None and node.id in reached
    }
    directions = rows.directions_of(call)
    copies = rows.along(program, program.outputs, tangents, directions)
    name = name_of_sources(call)
    sources = []
    for k, (y, place) in enumerate(zip(targets, copies.inputs)):
        seen = call.observed[k] if k < len(call.observed) else None
        array = None if seen is None else seen.array
        recorded = None if seen is None else _recorded(made, seen)
        broken = broken_at(call, 0) if seen is None and call.sources else None
        shape = (*directions, *y.shape)
        sources.append(Source(name, shape, types.dtype_name(y.value), place, array, recorded, broken))
    kept = Copies(program, rows.AlongTangents(tangents, directions))
    return _with_program(made, tuple(sources), whole, copies.program, kept)


def _node_of(made: Assembly, operand: Operand) -> Traced | None:
    node = made.nodes.get(operand.value.id)
    if node is None and operand.variable is not None:
        node = made.nodes.get(operand.variable.id)
    return node if isinstance(node, Traced) else None


def _any_point(operand: Operand) -> Any:
    """The numbers of a source that nothing takes, or zeros where they cannot be read: they do not matter."""
    value = operand.value
    if value.array is not None or value.shape is None or not types.is_real(value.dtype):
        return value.array
    return np.zeros(value.shape, np.float32 if value.dtype == "bfloat16" else value.dtype)


def _source(made: Assembly, k: int, operand: Operand) -> Source:
    call, node = made.call, _node_of(made, operand)
    observed = call.observed[k] if k < len(call.observed) else None
    array = None if observed is None else observed.array
    if node is None and call.unconnected_gradients == "zero" and (at := _any_point(operand)) is not None:
        node = made.m.input(at, operand.name)  # nothing took it: the zero is judged as it stands
    return Source(
        operand.name,
        operand.value.shape or (),
        operand.value.dtype,
        None if node is None else node.id,
        array,
        None if observed is None else _recorded(made, observed),
        broken_at(call, k) if observed is None else None,
        unseen=observed is not None and array is None,
        stale=operand.stale,
        overwritten=call.overwritten,
    )


def _recorded(made: Assembly, observed: Observed) -> int | None:
    """The node that holds a gradient. A rule may hand on what it was given; then no op puts the gradient out."""
    seeds = {seed.id for seed in made.call.output_gradients or () if seed is not None}
    id = observed.ids[0] if observed.ids else observed.values.id
    node = made.tensor(observed.values) if observed.values.id in seeds else made.nodes.get(id)
    if not isinstance(node, Traced):
        return None
    if observed.indices is None:
        return node.id
    if observed.shape is None or observed.indices.array is None:
        return None
    made.m.place(made.call.span, "backward", None)
    return int(made.m.scatter_add(node, observed.indices.array, size=int(observed.shape[0])).id)
