"""Puts a gradient written by hand in the place of the tape's own, to be judged against the same program."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gradproof.errors import InvalidInput
from gradproof.frontends.check.request import WrongShape
from gradproof.ir.capture import Capture, Scope
from gradproof.ir.shapes import joint_shape
from gradproof.ir.span import Span
from gradproof.tape.announce import Finished
from gradproof.tape.array import Array
from gradproof.tape.functions._operands import converted
from gradproof.tape.lowering import RecordTracer, lowered
from gradproof.tape.missing import Missing
from gradproof.tape.program import TapeSource
from gradproof.tape.record import Record, constant
from gradproof.tape.structure import flatten
from gradproof.tape.variable import Variable

WHOLE = 0  # the scope of a gradient that was written for the whole function; custom gradients count from 1


def by_hand(
    finished: Finished,
    variables: Sequence[Variable],
    returned: Any,
    name: str,
    wrong_shapes: list[WrongShape],
) -> Finished:
    """The same call with the returned arrays as its gradients; those of another shape are put aside.

    Every argument is a source, also one the target does not depend on: zero is a gradient that can be right.
    """
    of = finished.proof.targets[0].value.shape if finished.proof.is_jacobian else ()
    fitting, gradients = [], []
    for part, variable in zip(_parts(returned, variables, name), variables):
        values = _traced(part, variable, name)
        wanted = (*of, *variable.shape)
        if values.shape != wanted and not values.value.size == math.prod(wanted) == 1:
            found = tuple(values.shape)
            hint = _shape_hint(found, wanted)
            wrong_shapes.append(WrongShape(variable.name or name, variable.dtype.name, wanted, found, hint))
            continue
        fitting.append(variable)
        gradients.append(_settled(values, wanted, variable))
    sources = [TapeSource((_leaf(variable),), variable.name) for variable in fitting]
    proof = replace(finished.proof, sources=sources, gradients=gradients, _known={})
    return Finished(proof, fitting, [variable.name or name for variable in fitting], sources)


def with_zeros(finished: Finished, variables: Sequence[Variable]) -> Finished:
    """The same call with zeros for arguments the target does not depend on: that is their derivative.

    A tape has no gradient for them, since it cannot know whether they were meant to take part.
    """
    proof = finished.proof
    of = proof.targets[0].value.shape if proof.is_jacobian else ()
    present = iter(zip(proof.sources, proof.gradients))
    sources: list[TapeSource | Missing] = []
    gradients: list[Record] = []
    for found, variable in zip(finished.sources, variables):
        if isinstance(found, Missing) and found.reason == "not-connected":
            sources.append(TapeSource((_leaf(variable),), variable.name))
            gradients.append(constant(np.zeros((*of, *variable.shape), variable.dtype), phase="backward"))
        elif isinstance(found, Missing):
            sources.append(found)
        else:
            source, gradient = next(present)
            sources.append(source)
            gradients.append(gradient)
    present_now = [source for source in sources if isinstance(source, TapeSource)]
    return replace(
        finished, proof=replace(proof, sources=present_now, gradients=gradients, _known={}), sources=sources
    )


def with_rule(capture: Capture, name: str, definition: Span | None) -> Capture:
    """The capture with the gradient written by hand as a rule of its own: one for the whole function."""
    if capture.rows is not None:
        rows = tuple(with_rule(row, name, definition) for row in capture.rows.captures)
        return replace(capture, rows=replace(capture.rows, captures=rows))
    known = [source for source in capture.sources if source.node is not None]
    if capture.program is None:
        return capture
    scope = Scope(
        id=WHOLE,
        name=name,
        inputs=tuple(source.node for source in known if source.node is not None),
        outputs=capture.program.outputs,
        upstream=(),
        results=tuple(source.recorded for source in known),
        used_at=capture.call,
        defined_at=definition,
    )
    return replace(capture, rules=replace(capture.rules, scopes=(*capture.rules.scopes, scope)))


def _leaf(variable: Variable) -> Record:
    record = variable._record
    assert record is not None
    return record


def _parts(returned: Any, variables: Sequence[Variable], name: str) -> list[Any]:
    """One gradient per source; a single argument may have its gradient bare, or as a list of numbers."""
    if len(variables) == 1 and not (
        isinstance(returned, tuple | list | dict) and len(flatten(returned)) == 1
    ):
        return [_joined(returned)]
    parts = flatten(returned)
    if len(parts) != len(variables):
        names = ", ".join(f"`{variable.name}`" for variable in variables)
        arrays = "1 array" if len(parts) == 1 else f"{len(parts)} arrays"
        arguments = "1 argument has" if len(variables) == 1 else f"{len(variables)} arguments have"
        raise InvalidInput(
            f"the gradient `{name}` returned {arrays}, but {arguments} to be differentiated for: {names}"
        )
    return parts


def _joined(returned: Any) -> Any:
    """A list of traced numbers is stacked on the tape, so that its entries keep their history."""
    if isinstance(returned, tuple | list) and any(isinstance(leaf, Array) for leaf in flatten(returned)):
        return np.stack([_joined(part) for part in returned])
    return returned


def _traced(part: Any, variable: Variable, name: str) -> Any:
    """The numbers with their history, where a tape has followed it; else as constants."""
    if part is None:
        raise InvalidInput(f"the gradient `{name}` returned None for `{variable.name}`")
    m = RecordTracer((), "backward")
    if isinstance(part, Array) and part._record is not None:
        return m.of(lowered(part._record))
    try:
        values = np.asarray(part._value if isinstance(part, Array) else part)
    except ValueError as error:
        raise InvalidInput(f"the gradient `{name}` for `{variable.name}` is not an array: {error}") from error
    if values.dtype.kind not in "biufc":
        raise InvalidInput(
            f"the gradient `{name}` returned an object of type {type(part).__name__} for `{variable.name}`"
        )
    return m.of(constant(values, phase="backward"))


def _settled(traced: Any, shape: tuple[int, ...], variable: Variable) -> Record:
    """In the shape and dtype a gradient for this argument has."""
    m = traced.m
    if traced.value.dtype.kind in "biu":
        traced = m.cast(traced, dtype=variable.dtype.name)
    if traced.shape != shape:
        traced = m.reshape(traced, shape=shape)
    record: Any = converted(m, traced, variable.dtype).id
    return record  # type: ignore[no-any-return]


def _shape_hint(found: tuple[int, ...], wanted: tuple[int, ...]) -> str:
    """The mistake that such a shape usually comes from."""
    if found == wanted[::-1]:
        return "it is transposed"
    try:
        broadcast = joint_shape(found, wanted) == found
    except ValueError:
        return ""
    return "the axes that broadcasting repeated are not summed" if broadcast else ""
