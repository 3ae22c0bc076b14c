"""The derivative of a program, as a program or as numbers: gradient, JVP, VJP and Jacobian of any order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradproof.domains.ieee import Ieee
from gradproof.engine.linearise import pull_back
from gradproof.engine.run import AS_RECORDED, Policy, Run, run
from gradproof.engine.trace import Traced, Tracer
from gradproof.errors import InvalidProgram, NotScalar
from gradproof.ir import types
from gradproof.ir.capture import Pullback
from gradproof.ir.program import Builder, Node, Program


@dataclass(frozen=True)
class Derived:
    """A gradient program and the rules it was made of. Its outputs are the gradients, in the order of `wrt`."""

    program: Program
    wrt: tuple[int, ...]
    pullbacks: tuple[Pullback, ...]


def derive(program: Program, wrt: Sequence[int] | None = None, output: int | None = None) -> Derived:
    """The program that computes the gradient of a scalar output: the nodes of `program`, then the backward ones.

    It is an ordinary program with recorded values: it can be run in any domain and differentiated again.
    """
    wrt = tuple(program[id].id for id in (program.inputs if wrt is None else wrt))
    output = _scalar_output(program, output)
    builder = Builder()
    tracer = Tracer(builder, phase="backward")
    traced = _copy(program, builder, tracer)
    rules: dict[int, tuple[Node, tuple[int, ...], dict[int, int]]] = {}

    def note(node: Node, index: int, gy: Any, gx: Any) -> None:
        upstream = tuple(part.id for part in (gy if isinstance(gy, tuple) else (gy,)))
        rules.setdefault(node.id, (node, upstream, {}))[2][index] = gx.id

    seed = tracer.constant(np.ones((), traced[output].value.dtype))
    gradients = pull_back(Run(program, tracer, traced), {output: seed}, wrt, watcher=note)
    absent = {id: tracer.constant(np.zeros_like(traced[id].value)) for id in wrt if id not in gradients}
    derived = builder.build([(gradients.get(id) or absent[id]).id for id in wrt])
    return Derived(derived, wrt, tuple(_pullback(program, *rule) for rule in rules.values()))


def _pullback(program: Program, node: Node, upstream: tuple[int, ...], results: dict[int, int]) -> Pullback:
    outputs: tuple[int, ...] = (node.id,)
    if node.dtype == types.TUPLE:
        parts = {n.params["index"]: n.id for n in program.nodes if n.op == "item" and n.inputs == (node.id,)}
        outputs, upstream = tuple(parts.values()), tuple(upstream[k] for k in parts)
    by_input = tuple(results.get(index) for index in range(len(node.inputs)))
    return Pullback(node.op, node.inputs, outputs, upstream, by_input, node.span)


def _scalar_output(program: Program, output: int | None) -> int:
    if output is None:
        if not program.outputs:
            raise InvalidProgram("the program has no output to differentiate")
        output = program.outputs[0]
    if program[output].shape != ():
        raise NotScalar(
            f"a gradient needs a single number, but node %{output} has shape {program[output].shape}"
        )
    return output


def _copy(program: Program, builder: Builder, tracer: Tracer) -> dict[int, Any]:
    """The same nodes in `builder`, as traced arrays; what was not recorded is computed in floating point."""
    values: Mapping[int, Any] = {node.id: node.value for node in program.nodes}
    if any(value is None for value in values.values()):
        values = run(Ieee(), program).values
    traced: dict[int, Any] = {}
    for node in program.nodes:
        place: dict[str, Any] = {"span": node.span, "phase": node.phase, "scope": node.scope}
        builder.add(node.op, *node.inputs, params=node.params, value=values[node.id], id=node.id, **place)
        traced[node.id] = _traced(tracer, node.id, values[node.id])
        if node.op == "item":  # the parts of a tuple are the nodes that take it apart
            whole = list(traced[node.inputs[0]])
            whole[node.params["index"]] = traced[node.id]
            traced[node.inputs[0]] = tuple(whole)
    builder.inputs.extend(program.inputs)
    builder.names.update(program.names)
    return traced


def _traced(tracer: Tracer, id: int, value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(Traced(tracer, id, part) for part in value)
    return Traced(tracer, id, np.asarray(value))


def gradient(
    domain: Any, program: Program, wrt: Sequence[int] | None = None, policy: Policy = AS_RECORDED
) -> list[Any]:
    """The gradient of the scalar output for each of `wrt`, in the domain's numbers."""
    _scalar_output(program, None)
    result = run(domain, program, policy)
    return vjp(result, [result.m.literal(np.ones(()))], wrt)


def vjp(result: Run, seeds: Sequence[Any], wrt: Sequence[int] | None = None) -> list[Any]:
    """Vector-Jacobian product: one seed per output."""
    program = result.program
    wrt = program.inputs if wrt is None else wrt
    merged: dict[int, Any] = {}
    for id, seed in zip(program.outputs, seeds):
        merged[id] = seed if id not in merged else result.m.add(merged[id], seed)
    return _in_kind(result, pull_back(result, merged, wrt), wrt)


def _in_kind(result: Run, gradients: Mapping[int, Any], wrt: Sequence[int]) -> list[Any]:
    """Zeros where nothing arrived, and for complex inputs complex numbers, also where only zeros did."""
    found = [gradients.get(id, result.m.zeros(result.program[id].shape)) for id in wrt]
    with result.m.domain.active():
        return [
            result.m.complex(result.m.real(g), result.m.imag(g))
            if types.is_complex(result.program[id].dtype)
            else g
            for id, g in zip(wrt, found)
        ]


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
        for row, gradient in zip(rows, _in_kind(result, gradients, wrt)):
            row.append(gradient)
    return [
        result.m.domain.lift(lambda *parts: np.reshape(np.stack(parts), (*shape, *parts[0].shape)), *row)
        if row
        else result.m.zeros((*shape, *program[id].shape))
        for row, id in zip(rows, wrt)
    ]
