"""Plants faults in derivatives of recorded programs and counts the caught: `python -m tests.planting`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

import numpy as np

from gradproof.domains.ball import BallDomain
from gradproof.engine.derive import Derived, derive, gradient
from gradproof.engine.run import run
from gradproof.engine.trace import Traced, Tracer
from gradproof.ir.program import Builder, Program
from gradproof.ir.types import Array
from gradproof.judge.blame import departures
from gradproof.judge.judge import Evidence, judge
from gradproof.judge.verdict import Verdict
from gradproof.ops import TABLE
from gradproof.options import Options

from .planted_programs import PROGRAMS, build
from .planted_rules import (
    Spoil,
    cast,
    difference_quotient,
    ignores_upstream,
    missing_term,
    one_entry,
    scaled,
    stopped,
    transposed,
    unreduced,
    wrong_branch,
)

OPTIONS = Options()
FACTORS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
NOTHING = 1e-60  # what is left of a true gradient of zero in the arithmetic that measures effects
CAST = "float32 cast"
STOPPED = "second order only"
# Neither has a wrong pullback: a cast only rounds, and a rule whose own derivative is cut off is right.
UNBLAMED = (CAST, STOPPED)
MARGIN = 1.05  # rounding of float32 can hide as much of an effect that just exceeds the tolerance


@dataclass(frozen=True)
class Fault:
    """One wrong rule: its kind, the op it belongs to, and the program whose derivative is then recorded."""

    kind: str
    op: str
    program: str
    dtype: str
    spoil: Spoil
    order: int = 1

    def __str__(self) -> str:
        return f"{self.kind} in {self.op} of {self.program} ({self.dtype})"


@dataclass(frozen=True)
class Finding:
    """What became of a fault. `effect` is how far it moves the gradient, relative as the judge measures."""

    fault: Fault
    effect: float
    verdicts: tuple[Verdict, ...]
    blamed: frozenset[str]

    @property
    def counts(self) -> bool:
        """An effect below the tolerance, or within rounding of it, is none: the gradient is correct."""
        return self.effect > MARGIN * OPTIONS.tolerance(self.fault.dtype)

    @property
    def is_caught(self) -> bool:
        return any(verdict in (Verdict.WRONG, Verdict.INACCURATE) for verdict in self.verdicts)

    @property
    def is_blamed(self) -> bool:
        """Whether the op with the fault was named, and no other; a cast is right in exact arithmetic."""
        return self.blamed == (frozenset() if self.fault.kind in UNBLAMED else {self.fault.op})


@contextmanager
def planted(op: str, spoil: Spoil) -> Iterator[None]:
    """The table with one op's rule spoilt, while derivatives are recorded."""
    before = TABLE[op]
    TABLE[op] = spoil(before)
    try:
        yield
    finally:
        TABLE[op] = before


def faults(dtypes: tuple[str, ...] = ("float64", "float32")) -> Iterator[Fault]:
    """Every kind of fault in every op of every program in which it can occur."""
    for dtype in dtypes:
        for name in PROGRAMS:
            program = build(name, dtype)
            for op in sorted(_differentiated(program)):
                for kind, spoil, order in _kinds(program, op, dtype):
                    yield Fault(kind, op, name, dtype, spoil, order)


def _differentiated(program: Program) -> set[str]:
    """Ops through which the gradient runs."""
    derived = derive(program)
    return {pullback.op for pullback in derived.pullbacks}


def _kinds(program: Program, op: str, dtype: str) -> Iterator[tuple[str, Spoil, int]]:
    rule, nodes = TABLE[op], [node for node in program.nodes if node.op == op]
    yield "sign", scaled(-1.0), 1
    for factor in FACTORS if dtype == "float64" else FACTORS[:3]:  # float32 does not see less than 1e-4
        yield f"factor 1 + {factor:g}", scaled(1.0 + factor), 1
    yield "wrong at one entry", one_entry, 1
    yield "sign at second order", scaled(-1.0), 2
    yield "ignored upstream", ignores_upstream, 1
    if any(len(node.inputs) > 1 for node in nodes) and op != "select":
        yield "missing term", missing_term, 1
    if any(_is_square(program, id) for node in nodes for id in node.inputs):
        yield "transposed", transposed, 1
    if op == "select":
        yield "wrong branch", wrong_branch, 1
    if rule.slopes is not None and any(
        program[id].shape != node.shape for node in nodes for id in node.inputs
    ):
        yield "un-reduced broadcast", unreduced, 1
    if dtype == "float64":
        yield CAST, cast, 1
    if rule.slopes is not None and rule.linear is None and len(rule.slopes) == 1:
        yield "finite difference", difference_quotient, 1
        yield STOPPED, stopped, 2


def _is_square(program: Program, id: int) -> bool:
    shape = program[id].shape
    return len(shape) == 2 and shape[0] == shape[1]


def examine(fault: Fault) -> Finding:
    """Record the derivative with the fault in it, then judge it with the rules as they are."""
    program = build(fault.program, fault.dtype)
    if fault.order == 2:
        return _examine_second_order(fault, program)
    with planted(fault.op, fault.spoil):
        recorded = derive(program)
    return _finding(fault, program, recorded)


def _examine_second_order(fault: Fault, program: Program) -> Finding:
    """Either a rule whose own derivative is cut off, or a wrong one that only the second derivative meets."""
    second = _second_order(fault.program, fault.dtype)
    if fault.kind != STOPPED:
        with planted(fault.op, fault.spoil):
            recorded = derive(second)
        return _finding(fault, second, recorded)
    with planted(fault.op, fault.spoil):
        first = derive(program)
    assert verdicts(program, first) == (Verdict.CORRECT,) * len(first.wrt), f"{fault}: first order is right"
    return _finding(fault, second, derive(_weighted_output(first.program)))


@cache
def _second_order(name: str, dtype: str) -> Program:
    return _weighted_output(derive(build(name, dtype)).program)


def _weighted_output(program: Program) -> Program:
    """A gradient program with one number as its result."""
    builder = Builder()
    for node in program.nodes:
        builder.add(node.op, *node.inputs, params=node.params, value=node.value, id=node.id, phase=node.phase)
    builder.inputs.extend(program.inputs)
    m = Tracer(builder)
    total = None
    for id in program.outputs:
        term = m.sum(Traced(m, id, np.asarray(program[id].value)), axes=tuple(range(len(program[id].shape))))
        total = term if total is None else m.add(total, term)
    assert total is not None
    return builder.build([total.id])


def verdicts(program: Program, recorded: Derived) -> tuple[Verdict, ...]:
    observed = tuple(np.asarray(recorded.program[id].value) for id in recorded.program.outputs)
    evidence = Evidence(program, recorded.wrt, observed, recorded.program.outputs, recorded.program)
    return tuple(judgement.verdict for judgement in judge(evidence, OPTIONS))


def blamed_ops(recorded: Derived) -> frozenset[str]:
    found = departures(recorded.program, recorded.pullbacks, OPTIONS)
    return frozenset(departure.pullback.op for departure in found)


def _finding(fault: Fault, program: Program, recorded: Derived) -> Finding:
    return Finding(fault, _effect(fault, recorded), verdicts(program, recorded), blamed_ops(recorded))


@cache
def _true_gradient(name: str, dtype: str, order: int, wrt: tuple[int, ...]) -> tuple[Array, ...]:
    """All faults of one program are held against the same numbers."""
    domain = BallDomain(256)
    program = build(name, dtype) if order == 1 else _second_order(name, dtype)
    return tuple(domain.leave(g)[0] for g in gradient(domain, program, wrt))


def _effect(fault: Fault, recorded: Derived) -> float:
    """How far the fault moves the gradient, relative as the judge measures.

    In exact arithmetic; but a cast is nothing else than rounding, so there the recorded values count.
    """
    true = _true_gradient(fault.program, fault.dtype, fault.order, recorded.wrt)
    domain = BallDomain(256)
    meant = run(domain, recorded.program)
    worst = 0.0
    for id, t in zip(recorded.program.outputs, true):
        scale = np.maximum(np.abs(t), OPTIONS.share_of_largest * np.abs(t).max())
        exact = domain.leave(meant.values[id])[0]
        distance = np.abs((recorded.program[id].value if fault.kind == CAST else exact) - t)
        with np.errstate(divide="ignore", invalid="ignore"):
            worst = max(worst, float(np.max(np.where(distance <= NOTHING, 0.0, distance / scale))))
    return worst


def table(findings: list[Finding]) -> str:
    """By kind: how many had an effect, how many were caught, and how often the blame was right."""
    rows = ["kind                      dtype     planted   caught  blamed right  without effect"]
    kinds = dict.fromkeys((f.fault.kind, f.fault.dtype) for f in findings)
    total: Counter[str] = Counter()
    for kind, dtype in sorted(kinds, key=lambda pair: (pair[1], pair[0])):
        group = [f for f in findings if (f.fault.kind, f.fault.dtype) == (kind, dtype)]
        real = [f for f in group if f.counts]
        numbers = {
            "planted": len(real),
            "caught": sum(f.is_caught for f in real),
            "blamed": sum(f.is_blamed for f in real),
            "none": len(group) - len(real),
        }
        total.update(numbers)
        rows.append(_row(kind, dtype, numbers))
    return "\n".join([*rows, _row("all", "", total)])


def _row(kind: str, dtype: str, numbers: Mapping[str, int]) -> str:
    counts = f"{numbers['planted']:>8}{numbers['caught']:>9}{numbers['blamed']:>14}{numbers['none']:>16}"
    return f"{kind:<25} {dtype:<9}{counts}"


if __name__ == "__main__":
    print(table([examine(fault) for fault in faults()]))
