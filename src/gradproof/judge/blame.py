"""Whose pullback departs from the exact one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradproof.domains.ball import BallDomain
from gradproof.domains.ball64 import BallDomain64
from gradproof.engine.linearise import input_gradient
from gradproof.engine.refine import Enclosure
from gradproof.errors import NoDerivative, NotSupported
from gradproof.ir.capture import Pullback
from gradproof.ir.program import Program
from gradproof.judge.compare import compare
from gradproof.ops import Arithmetic
from gradproof.options import Options

BLAME_BITS = 256


@dataclass(frozen=True)
class Departure:
    """A rule that does not return the derivative: in exact arithmetic, on the inputs it had, it differs."""

    pullback: Pullback
    meant: Enclosure  # what the rule computes, without rounding
    true: Enclosure  # what it should
    relative_error: float


def departures(program: Program, pullbacks: Iterable[Pullback], options: Options) -> list[Departure]:
    """The pullbacks of a recorded gradient program that are not the derivative, in the order they ran.

    Each is judged alone, at the upstream gradient it really had, so one wrong rule does not taint the others.
    """
    found = []
    for pullback in pullbacks:
        departure = _departure(program, pullback, options)
        if departure is not None:
            found.append(departure)
    return found


def _departure(program: Program, pullback: Pullback, options: Options) -> Departure | None:
    for m in (Arithmetic(BallDomain64()), Arithmetic(BallDomain(BLAME_BITS))):
        try:
            meant, true = _both(m, program, pullback)
        except NotSupported:
            continue
        except NoDerivative:
            return None
        reference = Enclosure(true.mid, true.rad + meant.rad)
        comparison = compare(meant.mid, reference, program[pullback.result].dtype, options)
        if comparison.outcome == "beyond":
            return Departure(pullback, meant, true, comparison.relative_error)
        if comparison.outcome == "within":
            return None
    return None


def _both(m: Arithmetic, program: Program, pullback: Pullback) -> tuple[Enclosure, Enclosure]:
    """What the recorded backward ops mean, and what the derivative is, for the recorded upstream gradient."""
    node = program[pullback.node]
    with m.domain.active():
        upstream = tuple(m.literal(program[id].value) for id in pullback.upstream)
        xs = [m.literal(program[id].value) for id in node.inputs]
        y = getattr(m, node.op)(*xs, **node.params)
        gy: Any = upstream if isinstance(y, tuple) else upstream[0]
        true = input_gradient(m, node, pullback.index, gy, y, xs)
        if true is None:
            true = m.zeros(program[node.inputs[pullback.index]].shape)
        meant = _replay(m, program, pullback, dict(zip(pullback.upstream, upstream)))
        return Enclosure(*m.domain.leave(meant)), Enclosure(*m.domain.leave(true))


def _replay(m: Arithmetic, program: Program, pullback: Pullback, known: dict[int, Any]) -> Any:
    """The backward ops from the upstream gradient to the result, in exact arithmetic on recorded forward values."""
    order: list[int] = []
    pending = [pullback.result]
    first = min(pullback.upstream)
    seen: set[int] = set(known)
    while pending:
        id = pending.pop()
        if id in seen:
            continue
        seen.add(id)
        order.append(id)
        node = program[id]
        if node.phase == "backward" and id > first:
            pending.extend(node.inputs)
    values = dict(known)
    for id in sorted(order):
        node = program[id]
        if node.phase != "backward" or id <= first or not all(k in values for k in node.inputs) or node.op == "constant":
            values[id] = _recorded(m, node.value)
        elif node.op == "item":
            values[id] = values[node.inputs[0]][node.params["index"]]
        elif node.is_discrete:
            values[id] = node.value
        else:
            y = getattr(m, node.op)(*(values[k] for k in node.inputs), **node.params)
            values[id] = y if isinstance(y, tuple) else m.domain.settle(y, node.dtype)
    return values[pullback.result]


def _recorded(m: Arithmetic, value: Any) -> Any:
    return tuple(m.literal(part) for part in value) if isinstance(value, tuple) else m.literal(value)


def worst(found: list[Departure]) -> Departure | None:
    return max(found, key=lambda departure: np.nan_to_num(departure.relative_error, nan=np.inf), default=None)
