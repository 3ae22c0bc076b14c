"""Ties that balls cannot prove, proven by fingerprints: the same number computed in two places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gradproof.domains.fingerprint import Fingerprint
from gradproof.engine.margins import Decision, bounds
from gradproof.engine.refine import entry_count
from gradproof.engine.run import Run, run
from gradproof.engine.ties import gaps
from gradproof.errors import GradproofError
from gradproof.ir.program import Node
from gradproof.ir.types import Array
from gradproof.ops import TABLE

MAX_NUMBERS = 2_000_000  # a few seconds; residues are Python objects


def with_proven_ties(result: Run, found: Sequence[Decision]) -> list[Decision]:
    """The decisions, those entries being sure ties whose operands have the same fingerprint."""
    unclear = any(decision.moves and bool(decision.is_unclear.any()) for decision in found)
    if not unclear or entry_count(result.program) > MAX_NUMBERS:
        return list(found)
    try:
        marks = run(Fingerprint(), result.program)
        return [_sharpened(result, marks, decision) for decision in found]
    except (GradproofError, ArithmeticError):  # an op without fingerprints: nothing is proven
        return list(found)


def _sharpened(result: Run, marks: Run, decision: Decision) -> Decision:
    unclear = decision.is_unclear
    if not unclear.any():
        return decision
    node = result.program[decision.node]
    with result.m.domain.active():
        enclosures = [bounds(result.m, result.values[id]) for id in node.inputs]
    xs = [marks.values[id] for id in node.inputs]
    apart = gaps(marks.m, node, TABLE[node.op], xs, enclosures, unclear | decision.ties)
    proven = unclear & _nowhere(node, apart, decision.margin)
    return replace(
        decision, margin=np.where(proven, 0.0, decision.margin), radius=np.where(proven, 0.0, decision.radius)
    )


def _nowhere(node: Node, apart: Sequence[Array], like: Array) -> Array:
    """Where, in the shape of the decision, nothing that was compared is apart."""
    compares = TABLE[node.op].compares
    if compares in ("pair", "grid"):
        return np.asarray(apart[0] == 0.0)
    if compares == "all":
        return np.full(like.shape, all(not part.any() for part in apart))
    axis = node.params.get("axis", 0)
    together = np.all(apart[0] == 0.0, axis=axis, keepdims=True)
    return np.broadcast_to(together if like.ndim == apart[0].ndim else together.squeeze(axis), like.shape)
