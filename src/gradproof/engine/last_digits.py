"""How far a gradient moves when the numbers that its program was given move in their last digits.

The gradient of a cross entropy whose labels are the model's own probabilities is a difference of equal numbers. It is
zero if the labels have all their digits; with those of a float32 it is a rest of their rounding, which no arithmetic
of that dtype can find and nobody wants. Moving the labels by a unit of their last place changes that rest altogether.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gradproof.engine.derive import vjp
from gradproof.engine.run import Run, run
from gradproof.ir import types
from gradproof.ir.program import Node
from gradproof.ir.types import Array

_MOVES = 3  # runs with last digits moved up or down at random: one of them may leave an entry where it is
_SEED = 11


def last_digit_moves(result: Run, wrt: Sequence[int]) -> list[Array]:
    """For each of `wrt`, the most that its entries move when the given numbers do by a unit of their last place."""
    plain = _gradients(result, wrt)
    moves = [np.zeros(mid.shape) for mid in plain]
    for k in range(_MOVES):
        rng = np.random.default_rng((_SEED, k))
        nodes = tuple(_moved(node, rng) for node in result.program.nodes)
        again = _gradients(run(result.m, replace(result.program, nodes=nodes)), wrt)
        moves = [np.fmax(move, np.abs(a - b)) for move, a, b in zip(moves, again, plain)]
    return moves


def _gradients(result: Run, wrt: Sequence[int]) -> list[Array]:
    gradients = vjp(result, [result.m.literal(np.ones(()))], wrt)
    with result.m.domain.active():
        return [np.asarray(result.m.domain.leave(gradient)[0]) for gradient in gradients]


def _moved(node: Node, rng: np.random.Generator) -> Node:
    if node.op not in ("input", "constant") or not types.is_real(node.dtype):
        return node
    value = np.asarray(node.value)
    away = np.where(rng.random(value.shape) < 0.5, -np.inf, np.inf).astype(value.dtype)
    return replace(node, value=np.where(_is_short(value, node.dtype), value, np.nextafter(value, away)))


def _is_short(value: Array, dtype: str) -> Array:
    """Numbers that need half the digits of their dtype at most were meant as they stand: 1, 0.5, 100."""
    significand = np.frexp(value.astype(np.float64))[0]
    scaled = np.ldexp(significand, (types.precision_bits(dtype) + 1) // 2)
    return np.asarray((scaled == np.round(scaled)) | ~np.isfinite(scaled))
