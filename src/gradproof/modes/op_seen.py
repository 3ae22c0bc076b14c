"""An op of a run at one entry: what it had there, as text, and what it gives in exact arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradproof.diagnosis import words
from gradproof.diagnosis.exact_entry import measured
from gradproof.domains.ball import BallDomain
from gradproof.engine.rounding import LOCAL_BITS
from gradproof.errors import GradproofError
from gradproof.ir import types
from gradproof.ir.program import Node
from gradproof.ir.types import Array
from gradproof.modes.units import wide
from gradproof.ops import TABLE, Arithmetic

MOST_INPUTS = 3  # of an op with many inputs the first ones are shown


def inputs_shown(node: Node, inputs: Sequence[Array], index: tuple[int, ...]) -> tuple[str, ...]:
    """Of an op that works entry by entry the numbers of the entry; of others all that it had."""
    is_entrywise = node.op in TABLE and TABLE[node.op].slopes is not None
    return tuple(
        _shown(np.asarray(x), node.shape if is_entrywise else None, index) for x in inputs[:MOST_INPUTS]
    )


def _shown(x: Array, shape: tuple[int, ...] | None, index: tuple[int, ...]) -> str:
    if x.dtype.kind in "biu":
        return words.array_text(x.astype(np.float64)) if x.ndim == 0 else f"{x.dtype}{list(x.shape)}"
    dtype = types.dtype_name(x)
    if x.size == 1:
        return words.number(x.ravel()[0].item(), dtype=dtype)
    if shape is not None:
        return words.number(np.broadcast_to(x, shape)[index].item(), dtype=dtype)
    if x.ndim <= 1:
        return words.array_text(x, dtype, 3)
    return f"{words.count(x.size, 'number')} of shape {words.shape_text(x.shape)}"


def number_shown(value: Array, index: tuple[int, ...], dtype: str) -> str:
    return words.number(value[index].item(), dtype=dtype)


@dataclass(frozen=True, eq=False)
class ExactResult:
    """What an op gives in exact arithmetic: midpoint and radius, infinite where a float64 does not reach, and balls."""

    mid: Array
    rad: Array
    balls: Array

    def shown(self, index: tuple[int, ...]) -> str:
        return exact_shown(self.mid[index].item(), float(self.rad[index]), self.balls[index])


def exact_shown(mid: complex, rad: float, ball: Any) -> str:
    """A number to the digits that are certain, or the size of one beyond float64; nothing where it is not known."""
    if np.isfinite(rad):
        return words.number(mid, rad)
    found = measured(ball)
    return found.words if found is not None and found.is_defined else ""


def exact_result(node: Node, inputs: list[Array]) -> ExactResult | None:
    """What the op gives in exact arithmetic on the inputs it had."""
    if node.op not in TABLE or not all(np.isfinite(wide(x)).all() for x in inputs):
        return None
    m = Arithmetic(BallDomain(LOCAL_BITS))
    try:
        with m.domain.active():
            y = getattr(m, node.op)(*map(m.literal, inputs), **node.params)
            balls = np.asarray(m.domain.settle(y, node.dtype))
            mid, rad = m.domain.leave(balls)
    except (GradproofError, ValueError, TypeError, ZeroDivisionError, OverflowError):
        return None
    return ExactResult(mid, rad, balls) if mid.shape == node.shape else None
