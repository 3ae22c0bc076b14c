"""Whose pullback departs from the exact one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradproof.blackbox.opaque import pulled_back, wide
from gradproof.domains.ball import BallDomain
from gradproof.domains.ball64 import BallDomain64
from gradproof.domains.ieee import Ieee
from gradproof.engine.linearise import pull_back
from gradproof.engine.refine import Enclosure
from gradproof.engine.run import AS_RECORDED, Policy, Run, evaluate, run
from gradproof.errors import NoDerivative, NotSupported
from gradproof.ir import types
from gradproof.ir.capture import Pullback
from gradproof.ir.kernel import Kernel
from gradproof.ir.program import Node, Program, ancestors
from gradproof.ir.types import Array
from gradproof.judge.compare import compare
from gradproof.judge.meaning import with_open_decisions
from gradproof.ops import Arithmetic
from gradproof.options import TOLERANCES, Options

BLAME_BITS = 256
_NONE: Mapping[int, Any] = {}
# Constants of a rule are rounded to its dtype, and a few of them may be multiplied.
_EXCUSED = {dtype: 64 * types.unit_roundoff(dtype) for dtype in TOLERANCES}


@dataclass(frozen=True)
class Departure:
    """A rule that does not return the derivative: in exact arithmetic, on the inputs it had, it differs."""

    pullback: Pullback
    input: int  # the id of the node that gets the wrong gradient
    meant: Enclosure  # what the rule computes, without rounding
    true: Enclosure  # what it should
    relative_error: float
    is_measured: bool = False  # by differences, where the op has no exact meaning


def departures(program: Program, pullbacks: Iterable[Pullback], options: Options) -> list[Departure]:
    """The rules of a recorded gradient program that are not the derivative, in the order they ran.

    Each is judged alone, at the upstream gradient it really had, so one wrong rule does not taint the others.
    Where none departs by more than the tolerance, cancellation may have made much of a small departure: then
    they are asked for any that the precision of their dtype does not excuse.
    """
    pullbacks = tuple(pullbacks)
    for asked in (options, replace(options, tolerances=_EXCUSED)):
        found = [departure for pullback in pullbacks for departure in examine_rule(program, pullback, asked)]
        if found:
            return found
    return []


def examine_rule(program: Program, pullback: Pullback, options: Options) -> list[Departure]:
    """Where one rule departs, per input; empty if it is the derivative or cannot be told.

    Decisions that it has taken itself, by numbers that were rounded, may fall otherwise in exact arithmetic.
    """
    found = _examined(program, pullback, options)
    anew = with_open_decisions(program) if found else program
    return found if anew is program else _examined(anew, pullback, options) and found


def _examined(program: Program, pullback: Pullback, options: Options) -> list[Departure]:
    found: list[Departure] = []
    for m in (Arithmetic(BallDomain64()), Arithmetic(BallDomain(BLAME_BITS))):
        try:
            pairs = _meant_and_true(m, program, pullback)
        except NotSupported:
            continue
        except NoDerivative:
            return measured_departures(program, pullback, options)
        found, undecided = [], False
        for id, (meant, true) in pairs.items():
            widened = Enclosure(true.mid, true.rad + meant.rad)
            comparison = compare(meant.mid, widened, program[id].dtype, options)
            undecided |= comparison.outcome in ("undecided", "unbounded")
            if comparison.outcome == "beyond":
                found.append(Departure(pullback, id, meant, true, comparison.relative_error))
        if not undecided:
            return found
    return found


def measured_departures(program: Program, pullback: Pullback, options: Options) -> list[Departure]:
    """Where the rule of an op without an exact meaning departs from its differences, on the inputs it had."""
    found = []
    for k, (id, result) in enumerate(zip(pullback.inputs, pullback.results)):
        true = None if result is None else _measured(program, pullback, k)
        if result is None or true is None:
            continue
        meant = np.asarray(program[result].value, np.float64)
        comparison = compare(meant, true, program[id].dtype, options)
        if comparison.outcome == "beyond":
            exact = Enclosure(meant, np.zeros(meant.shape))
            found.append(Departure(pullback, id, exact, true, comparison.relative_error, is_measured=True))
    return found


def _measured(program: Program, pullback: Pullback, k: int) -> Enclosure | None:
    """What should reach one input of opaque ops, by differences; None where they cannot be computed again."""
    xs = [np.asarray(program[id].value) for id in pullback.inputs]
    values, errors = np.zeros(xs[k].shape), np.zeros(xs[k].shape)
    for id, gy in zip(pullback.outputs, pullback.upstream):
        node = program[id]
        if gy is None or node.is_discrete:
            continue
        kernel = _kernel_between(program, pullback.inputs, node)
        if kernel is None:
            return None
        try:
            part = pulled_back(kernel, xs, [k], wide(program[gy].value))
        except NoDerivative:
            return None
        values, errors = values + part.values[0], errors + part.errors[0]
    return Enclosure(values, errors)


def _kernel_between(program: Program, inputs: tuple[int, ...], output: Node) -> Kernel | None:
    """How an output is computed again from the inputs of a rule: by its op, or by all ops on the way from them."""
    if output.is_opaque and output.inputs == inputs:
        return output.kernel
    needed = ancestors(program, [output.id], beyond=inputs).difference(inputs)
    nodes = tuple(node for node in program.nodes if node.id in needed)
    opaque = [node for node in nodes if node.is_opaque and not node.is_discrete]
    kernels = [node.kernel for node in opaque if node.kernel is not None]
    if not kernels or len(kernels) < len(opaque):
        return None
    return _Piece(nodes, inputs, output.id, min((one.dtype for one in kernels), key=types.precision_bits))


@dataclass(frozen=True, eq=False)
class _Piece:
    """The ops from the inputs of a rule to one of its outputs, those without a meaning by their kernels."""

    nodes: tuple[Node, ...]
    inputs: tuple[int, ...]
    output: int
    dtype: str

    def __call__(self, *xs: Array) -> Array:
        m = Arithmetic(Ieee("float64"))
        values: dict[int, Any] = {id: _recorded(m, wide(x)) for id, x in zip(self.inputs, xs)}
        for node in self.nodes:
            if node.is_opaque and node.kernel is not None:
                values[node.id] = wide(node.kernel(*(values[id] for id in node.inputs)))
            else:
                values[node.id] = evaluate(m, replace(node, dtype=_wider(node)), values, AS_RECORDED)
        return np.asarray(values[self.output])

    def rule(self, gy: Array, *xs: Array) -> None:
        return None


def _wider(node: Node) -> str:
    return "float64" if types.is_real(node.dtype) else node.dtype


def boundless_rules(program: Program, pullbacks: Iterable[Pullback]) -> list[Pullback]:
    """Rules that returned finite numbers although, taken alone, their op has no bounded derivative there.

    As for the eigenvectors of equal eigenvalues: what the whole computes from them may still have one.
    """
    found = []
    for pullback in pullbacks:
        results = [program[id].value for id in pullback.results if id is not None]
        if not all(bool(np.isfinite(value).all()) for value in results):
            continue
        try:
            pairs = _meant_and_true(Arithmetic(BallDomain(BLAME_BITS)), program, pullback)
        except (NotSupported, NoDerivative):
            continue
        if any(not true.is_bounded for _, true in pairs.values()):
            found.append(pullback)
    return found


def _meant_and_true(
    m: Arithmetic, program: Program, pullback: Pullback
) -> dict[int, tuple[Enclosure, Enclosure]]:
    """Per input: what the recorded backward ops mean, and what the derivative is, both without rounding."""
    wanted = [id for id, result in zip(pullback.inputs, pullback.results) if result is not None]
    forward = _run_piece(m, program, set(pullback.inputs), pullback.outputs)
    upstream = {id: m.literal(program[id].value) for id in pullback.upstream if id is not None}
    seeds: dict[int, Any] = {}
    for output, id in zip(pullback.outputs, pullback.upstream):
        if id is not None:
            if program[id].shape != program[output].shape:
                raise NotSupported("a sparse gradient, of which only the rows that are not zero are at hand")
            seeds[output] = upstream[id] if output not in seeds else m.add(seeds[output], upstream[id])
    # What the outputs do not depend on has no node in the piece, and the derivative zero.
    true = pull_back(forward, seeds, [id for id in wanted if id in forward.values])
    results = [result for result in pullback.results if result is not None]
    # What the forward computed between is taken without its rounding: 1 - y^2 of a saturated tanh is not a wrong
    # rule because y was rounded.
    start = {*upstream, *forward.values, *_forward_ids(program)}
    backward = _run_piece(m, program, start, results, forward.values)
    meant: dict[int, Any] = {}
    with m.domain.active():
        # An input that occurs twice gets the sum of what its places get.
        for id, result in zip(pullback.inputs, pullback.results):
            if result is not None:
                if program[result].shape != program[id].shape:
                    raise NotSupported("a rule whose results were not recorded in the order of its inputs")
                part = backward.values[result]
                meant[id] = part if id not in meant else m.add(meant[id], part)
        return {
            id: (
                Enclosure(*m.domain.leave(meant[id])),
                Enclosure(*m.domain.leave(true.get(id, m.zeros(program[id].shape)))),
            )
            for id in dict.fromkeys(wanted)
        }


def _forward_ids(program: Program) -> set[int]:
    return {node.id for node in program.nodes if node.phase == "forward"}


def _run_piece(
    m: Arithmetic, program: Program, start: set[int], outputs: Iterable[int], given: Mapping[int, Any] = _NONE
) -> Run:
    """The nodes from `start` to `outputs`, run on the values of `start`: those `given`, else the recorded ones."""
    outputs = tuple(outputs)
    needed: set[int] = set()
    pending = list(outputs)
    while pending:
        id = pending.pop()
        if id not in needed:
            needed.add(id)
            pending.extend(() if id in start else program[id].inputs)
    nodes = (
        replace(n, op="input", inputs=()) if n.id in start else n for n in program.nodes if n.id in needed
    )
    piece = Program(tuple(nodes), (), outputs)
    values = {id: given[id] if id in given else _recorded(m, program[id].value) for id in needed & start}
    return run(m, piece, Policy(inputs=values))


def _recorded(m: Arithmetic, value: Any) -> Any:
    return tuple(m.literal(part) for part in value) if isinstance(value, tuple) else m.literal(value)
