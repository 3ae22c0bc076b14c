"""The derivative of a program, as a program or as numbers: gradient, JVP, VJP and Jacobian of any order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradproof.domains.ieee import Ieee
from gradproof.engine.linearise import pull_back, push_forward
from gradproof.engine.run import Policy, Run, run
from gradproof.engine.trace import Traced, Tracer
from gradproof.errors import NotScalar
from gradproof.ir.program import Builder, Program


def gradient_program(program: Program, wrt: Sequence[int] | None = None, output: int | None = None) -> Program:
    """The program that computes the gradient of a scalar output: the nodes of `program`, then the backward ones.

    It is an ordinary program with recorded values: it can be run in any domain and differentiated again.
    """
    wrt = tuple(program.inputs if wrt is None else wrt)
    output = program.outputs[0] if output is None else output
    if program[output].shape != ():
        raise NotScalar(f"a gradient needs a single number, but node %{output} has shape {program[output].shape}")
    builder = Builder()
    tracer = Tracer(builder, phase="backward")
    traced = _copy(program, builder, tracer)
    recorded = Run(program, tracer, traced)
    seed = tracer._constant(np.ones((), _value(traced[output]).dtype))
    gradients = _spanned_pull_back(recorded, {output: seed}, wrt)
    outputs = [_gradient_id(gradients.get(id), tracer, _value(traced[id])) for id in wrt]
    return builder.build(outputs)


def _copy(program: Program, builder: Builder, tracer: Tracer) -> dict[int, Any]:
    """The same nodes in `builder`, as traced arrays; discrete ones stay plain, but keep their nodes."""
    traced: dict[int, Any] = {}
    values = None if all(node.value is not None for node in program.nodes) else run(Ieee(), program).values
    for node in program.nodes:
        value = node.value if node.value is not None else values[node.id]  # type: ignore[index]
        id = builder.add(node.op, *node.inputs, value=value, span=node.span, phase=node.phase, scope=node.scope, params=node.params)
        assert id == node.id
        traced[node.id] = tuple(Traced(tracer, -1, part) for part in value) if isinstance(value, tuple) else Traced(tracer, id, np.asarray(value))
        if node.op == "item":
            whole = list(traced[node.inputs[0]])
            whole[node.params["index"]] = traced[node.id]
            traced[node.inputs[0]] = tuple(whole)
    builder.inputs.extend(program.inputs)
    builder.names.update(program.names)
    return traced


def _spanned_pull_back(recorded: Run, seeds: dict[int, Any], wrt: Sequence[int]) -> dict[int, Any]:
    return pull_back(recorded, seeds, wrt)


def _gradient_id(gradient: Any, tracer: Tracer, like: Any) -> int:
    if gradient is None:
        gradient = tracer._constant(np.zeros(like.shape, like.dtype))
    return int(gradient.id)


def _value(traced: Any) -> Any:
    return traced.value


def gradient(domain: Any, program: Program, wrt: Sequence[int] | None = None, policy: Policy = Policy()) -> list[Any]:  # noqa: B008
    """The gradient of the scalar output for each of `wrt`, in the domain's numbers."""
    output = program.outputs[0]
    if program[output].shape != ():
        raise NotScalar(f"a gradient needs a single number, but node %{output} has shape {program[output].shape}")
    result = run(domain, program, policy)
    return vjp(result, [result.m.literal(np.ones(()))], wrt)


def vjp(result: Run, seeds: Sequence[Any], wrt: Sequence[int] | None = None) -> list[Any]:
    """Vector-Jacobian product: one seed per output."""
    program = result.program
    wrt = program.inputs if wrt is None else wrt
    merged: dict[int, Any] = {}
    for id, seed in zip(program.outputs, seeds):
        merged[id] = seed if id not in merged else result.m.add(merged[id], seed)
    gradients = pull_back(result, merged, wrt)
    return [gradients.get(id, result.m.zeros(program[id].shape)) for id in wrt]


def jvp(result: Run, tangents: Sequence[Any]) -> list[Any]:
    """Jacobian-vector product: one tangent per input."""
    program = result.program
    moved = push_forward(result, dict(zip(program.inputs, tangents)))
    return [moved.get(id, result.m.zeros(program[id].shape)) for id in program.outputs]


def jacobian(result: Run, output: int | None = None, wrt: Sequence[int] | None = None) -> list[Any]:
    """d output / d each of `wrt`, of shape output.shape + input.shape; one VJP per entry of the output."""
    program = result.program
    output = program.outputs[0] if output is None else output
    wrt = program.inputs if wrt is None else wrt
    shape = program[output].shape
    size = int(np.prod(shape, dtype=np.int64))
    rows: list[list[Any]] = [[] for _ in wrt]
    for place in range(size):
        unit = np.zeros(size)
        unit[place] = 1.0
        gradients = pull_back(result, {output: result.m.literal(unit.reshape(shape))}, wrt)
        for row, id in zip(rows, wrt):
            row.append(gradients.get(id, result.m.zeros(program[id].shape)))
    return [
        result.m.domain.lift(lambda *parts: np.reshape(np.stack(parts), (*shape, *parts[0].shape)), *row)
        if row else result.m.zeros((*shape, *program[id].shape))
        for row, id in zip(rows, wrt)
    ]
