"""Tests a custom gradient rule alone, where it was used, against the exact derivative of its own forward."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from gradproof.engine.derive import vjp
from gradproof.engine.refine import Enclosure, refine
from gradproof.engine.run import Run
from gradproof.errors import BeyondMemory, NoDerivative, NotSupported
from gradproof.ir import types
from gradproof.ir.program import Program
from gradproof.judge.compare import compare
from gradproof.options import Options
from gradproof.tape.array import Array
from gradproof.tape.custom import CustomUse
from gradproof.tape.lowering import lowered
from gradproof.tape.program import Source, build
from gradproof.tape.record import CUSTOM, ancestors, constant
from gradproof.tape.result import Gradient, TracedGradient
from gradproof.tape.state import recording

Values = np.ndarray[Any, Any]
Finding = Literal[
    "agrees",
    "sign",
    "factor",
    "missing-term",
    "transposed",
    "unreduced-broadcast",
    "ignores-upstream",
    "not-linear",
    "identity",
    "wrong-entries",
    "nothing-returned",
    "wrong",
    "undecided",
]

CLOSE = 1e-6  # two gradients that agree to this share of their size are the same for naming a mistake
MOST_TERMS = 16  # uses of an argument that are left out one by one


@dataclass(frozen=True)
class RuleFact:
    """What was found about a rule for one input.

    `factor` is what the rule's result must be divided by, where that alone mends it. `wrong_entries` are the
    places that differ. `dtype` is the dtype the rule returned, where it is not the input's.
    """

    finding: Finding
    returned: Values | None
    exact: Enclosure | None
    factor: float | None = None
    wrong_entries: tuple[tuple[int, ...], ...] = ()
    dtype: str | None = None
    reason: str | None = None

    @property
    def agrees(self) -> bool:
        return self.finding == "agrees"


def custom_uses(gradient: Gradient | TracedGradient) -> list[CustomUse]:
    """Every custom gradient a gradient passed through, in the order of the forward."""
    records = ancestors([*gradient._proven.targets, *gradient._proven.gradients])
    return [record.call for record in records if record.op == CUSTOM]


def check_rule(
    use: CustomUse, upstream: Sequence[Any] | None = None, options: Options | None = None
) -> tuple[RuleFact, ...]:
    """One fact per input of the rule, for the upstream given or one whose entries all differ."""
    options = options or Options()
    given = _distinct(use) if upstream is None else [np.asarray(part) for part in upstream]
    returned = _apply(use, given)
    try:
        exact = _exact(use, given, options)
    except (NoDerivative, NotSupported, BeyondMemory) as error:
        return tuple(RuleFact("undecided", value, None, reason=str(error)) for value in returned)
    doubled = _apply(use, [2 * part for part in given])
    return tuple(
        _fact(use, k, given, returned[k], doubled[k], exact[k], options) for k in range(len(use.inputs))
    )


def _distinct(use: CustomUse) -> list[Values]:
    parts, start = [], 0
    for record in use.outputs:
        value = record.value
        numbers = 1.0 + (np.arange(start, start + value.size) % 61 + 1) / 64.0
        parts.append(numbers.reshape(value.shape).astype(value.dtype))
        start += value.size
    return parts


def _apply(use: CustomUse, upstream: Sequence[Values]) -> list[Values | None]:
    with recording():
        found = use.gradients([Array(constant(part)) for part in upstream])
    return [None if g is None else np.asarray(g._value if isinstance(g, Array) else g) for g in found]


def _forward(use: CustomUse) -> Program:
    outputs = [lowered(record) for record in use.outputs]
    return build(outputs, [Source((lowered(record),)) for record in use.inputs]).program


def _exact(use: CustomUse, upstream: Sequence[Values], options: Options) -> tuple[Enclosure, ...]:
    program = _forward(use)

    def measure(result: Run) -> Sequence[Any]:
        return vjp(result, [result.m.literal(part) for part in upstream])

    def is_decided(enclosures: tuple[Enclosure, ...], _: Run) -> bool:
        return all(_is_sharp(enclosure) for enclosure in enclosures)

    return refine(program, measure, is_decided, options).enclosures


def _is_sharp(enclosure: Enclosure) -> bool:
    return bool((enclosure.rad <= 1e-12 * np.abs(enclosure.mid)).all())


def _fact(
    use: CustomUse,
    k: int,
    upstream: list[Values],
    returned: Values | None,
    doubled: Values | None,
    exact: Enclosure,
    options: Options,
) -> RuleFact:
    record = use.inputs[k]
    if returned is None:
        is_zero = bool((np.abs(exact.mid) <= exact.rad).all())
        return RuleFact("agrees" if is_zero else "nothing-returned", None, exact)
    dtype = None if returned.dtype == record.value.dtype else returned.dtype.name
    if returned.shape != exact.mid.shape:
        return RuleFact(_about_shape(returned, exact.mid), returned, exact, dtype=dtype)
    if not exact.is_bounded:
        return RuleFact(
            "undecided", returned, exact, dtype=dtype, reason="the forward has no bounded slope here"
        )
    outcome = compare(returned, exact, types.dtype_name(record.value), options).outcome
    if outcome == "within":
        return RuleFact("agrees", returned, exact, dtype=dtype)
    if outcome == "undecided":
        return RuleFact(
            "undecided", returned, exact, dtype=dtype, reason="the exact derivative is not known well enough"
        )
    finding, factor = _name_mistake(use, k, upstream, returned, doubled, exact.mid)
    return RuleFact(finding, returned, exact, factor, _wrong_entries(returned, exact.mid), dtype)


def _about_shape(returned: Values, exact: Values) -> Finding:
    if returned.shape == exact.shape[::-1] and _same(returned.T, exact):
        return "transposed"
    lead = returned.ndim - exact.ndim
    if lead >= 0:
        axes = (
            *range(lead),
            *(lead + i for i, n in enumerate(exact.shape) if n == 1 != returned.shape[lead + i]),
        )
        if _same(returned.sum(axis=axes).reshape(-1), exact.reshape(-1)):
            return "unreduced-broadcast"
    return "wrong"


def _name_mistake(
    use: CustomUse, k: int, upstream: list[Values], returned: Values, doubled: Values | None, exact: Values
) -> tuple[Finding, float | None]:
    if doubled is not None and _same(doubled, returned):
        return "ignores-upstream", None
    if doubled is not None and not _same(doubled, 2 * returned):
        return "not-linear", None
    factor = _common_factor(returned, exact)
    if factor is not None:
        return ("sign", -1.0) if abs(factor + 1.0) <= CLOSE else ("factor", factor)
    if len(upstream) == 1 and returned.shape == upstream[0].shape and _same(returned, upstream[0]):
        return "identity", None
    if returned.ndim == 2 and returned.shape[0] == returned.shape[1] and _same(returned.T, exact):
        return "transposed", None
    if _misses_a_term(use, k, upstream, returned, exact):
        return "missing-term", None
    wrong = len(_wrong_entries(returned, exact))
    return ("wrong-entries" if 0 < wrong < exact.size else "wrong"), None


def _same(a: Values, b: Values) -> bool:
    if a.shape != b.shape or not (np.isfinite(a).all() and np.isfinite(b).all()):
        return False
    return bool(
        np.abs(a - b).max(initial=0.0) <= CLOSE * max(np.abs(b).max(initial=0.0), np.finfo(np.float64).tiny)
    )


def _common_factor(returned: Values, exact: Values) -> float | None:
    """The number by which all entries differ, where there is one."""
    if not np.abs(exact).max(initial=0.0) or not np.isfinite(returned).all():
        return None
    place = np.unravel_index(int(np.argmax(np.abs(exact))), exact.shape)
    factor = complex(returned[place]) / complex(exact[place])
    if factor.imag or not factor.real or not _same(returned, factor.real * exact):
        return None
    # One number is a multiple of any other: there only a factor that people forget says something.
    is_telling = exact.size > 1 or any(abs(factor.real - known) <= CLOSE for known in FORGOTTEN)
    return factor.real if is_telling else None


FORGOTTEN = (-1.0, 2.0, 0.5, -2.0, -0.5)


def _wrong_entries(returned: Values, exact: Values) -> tuple[tuple[int, ...], ...]:
    scale = max(float(np.abs(exact).max(initial=0.0)), np.finfo(np.float64).tiny)
    wrong = ~(np.abs(returned - exact) <= CLOSE * np.maximum(np.abs(exact), 1e-3 * scale))
    return tuple(tuple(int(i) for i in place) for place in np.argwhere(wrong))


def _misses_a_term(use: CustomUse, k: int, upstream: list[Values], returned: Values, exact: Values) -> bool:
    """Whether the result is exact but for one of the places where the forward uses the argument."""
    program = _forward(use)
    own = program.inputs[k]
    edges = [(node, i) for node in program.nodes for i, id in enumerate(node.inputs) if id == own]
    if not 1 < len(edges) <= MOST_TERMS:
        return False
    return any(_same(returned, exact - term) for term in _terms(program, own, edges, upstream))


def _terms(program: Program, own: int, edges: list[tuple[Any, int]], upstream: list[Values]) -> list[Values]:
    """What each use of an input contributes to its gradient."""
    from gradproof.domains.ieee import Ieee
    from gradproof.engine.linearise import input_gradient, pull_back
    from gradproof.engine.run import run

    result = run(Ieee(), program)
    seeds = dict(zip(program.outputs, upstream))
    gradients = pull_back(result, seeds, [own], keep_all=True)
    terms = []
    with np.errstate(all="ignore"):
        for node, i in edges:
            if node.id in gradients and node.op != "item" and not node.is_discrete:
                xs = [result.values[id] for id in node.inputs]
                gx = input_gradient(result.m, node, i, gradients[node.id], result.values[node.id], xs)
                terms.append(np.zeros(program[own].shape) if gx is None else np.asarray(gx))
    return terms
