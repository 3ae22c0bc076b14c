"""Why a number is zero: masked out on purpose, rounded to zero, or computed as an honest zero."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from gradproof.diagnosis.exact_entry import Exact, exact_entry, is_exact
from gradproof.diagnosis.flow import MAX_STEPS, Place, feeding, places, value_at
from gradproof.engine.margins import moving_nodes
from gradproof.ir.program import Node, Program
from gradproof.ir.types import Array

Why = Literal["not selected", "not used", "multiplied by 0", "computed"]

_PRODUCTS = frozenset({"mul", "absorbing_mul", "div", "xdivy"})
SUMS = frozenset({"add", "sub", "sum", "mean", "matmul", "sum_to", "cumsum", "var"})


@dataclass(frozen=True)
class Zero:
    """Why there is a zero, and the node that made it one."""

    why: Why
    node: Node

    @property
    def is_masked(self) -> bool:
        return self.why != "computed"


def zero_at(program: Program, place: Place) -> Zero:
    """Follow a zero back to the select, the slice or the mask it comes from, or to the op that computed it.

    A select that chose a constant zero, and entries that a slice or gather did not use, are zeros of the backward
    ops; a factor that does not depend on the inputs is a mask. Whatever depends on them is a computed zero.
    """
    moving = moving_nodes(program)
    select: Node | None = None
    is_product = False
    for _ in range(MAX_STEPS):
        node = program[place.id]
        if node.op == "select" and node.phase == "backward":
            select = node
        if node.phase == "forward":
            mask = _mask_behind(program, place, moving) if node.id in moving else None
            if mask is not None:
                return Zero("not selected", mask)
            return Zero("computed" if node.id in moving else "multiplied by 0", node)
        if node.op == "constant":
            if select is not None:
                return Zero("not selected", select)
            # Zeros that a rule filled in where it had nothing to send back came by no product.
            return Zero("multiplied by 0" if is_product else "not used", node)
        if node.op == "cast" and program[node.inputs[0]].is_discrete:
            return Zero("not selected", node)
        fed = list(feeding(program, place))
        if not fed:
            return Zero("not used", node)
        following = [one for id, mask in fed for one in _zeros(program, id, mask)]
        if not following or not (node.op in _PRODUCTS or _all_zero(program, fed)):
            return Zero("computed", node)
        is_product = is_product or node.op in _PRODUCTS
        place = _preferred(program, following, moving, is_sum=node.op not in _PRODUCTS)
    return Zero("computed", program[place.id])


def _mask_behind(program: Program, place: Place, moving: set[int]) -> Node | None:
    """The select between two constants that a zero of the forward comes from.

    The slope of a branch is one. Where a derivative is differentiated again, it stands among the forward ops.
    """
    for _ in range(MAX_STEPS):
        node = program[place.id]
        if node.op == "select" and not moving.intersection(node.inputs[1:]):
            return node
        fed = list(feeding(program, place))
        following = [one for id, mask in fed for one in _zeros(program, id, mask)]
        if len(following) != 1 or not (node.op in _PRODUCTS or _all_zero(program, fed)):
            return None
        place = following[0]
    return None


def _zeros(program: Program, id: int, mask: Array) -> list[Place]:
    value = np.asarray(program[id].value)
    zero = mask & (value == 0)
    return list(places(id, zero))[:1]


def _all_zero(program: Program, fed: list[tuple[int, Array]]) -> bool:
    return all(not np.any(np.asarray(program[id].value)[mask]) for id, mask in fed)


def _preferred(program: Program, found: list[Place], moving: set[int], is_sum: bool) -> Place:
    """Of two zero factors the one of the backward ops, or that does not move: it is the mask.

    Of the parts of a sum one that moves: what fills the place of a result that nobody used hides none that was.
    """
    return min(
        found, key=lambda place: (program[place.id].phase == "forward", (place.id in moving) != is_sum)
    )


def rounded_away(
    program: Program, place: Place, exact: Mapping[int, Array]
) -> tuple[Place, Exact | None] | None:
    """The op that rounded a number to what it is not in exact arithmetic, and the exact result on its own inputs.

    `exact` holds the balls of every node. Zeros are followed to the first; an op that rounded nothing itself, as the
    slope of a function that a framework computes from its value, to what it was given. A subtraction of the program
    that leaves zero is not: what its operands had in common is the fault, however they were rounded before.
    """
    if not _departs(program, place, exact):
        return None
    for _ in range(MAX_STEPS):
        fed = (one for id, mask in feeding(program, place) for one in places(id, mask))
        before = [one for one in fed if _departs(program, one, exact)]
        zeros = [one for one in before if value_at(program, one) == 0]
        if not zeros and (not before or _is_origin(program, place)):
            return place, exact_entry(program, place)
        place = (zeros or before)[0]
    return None


def _is_origin(program: Program, place: Place) -> bool:
    node = program[place.id]
    cancels = node.op in SUMS and node.phase == "forward" and value_at(program, place) == 0
    return cancels or not is_exact(program, place)


def _departs(program: Program, place: Place, exact: Mapping[int, Array]) -> bool:
    """Whether a number is another one in exact arithmetic."""
    value = value_at(program, place)
    if place.id not in exact or value is None or not np.isfinite(value):
        return False
    ball = np.asarray(exact[place.id], object)[place.index]
    number = complex(value) if np.iscomplexobj(value) else float(value)
    return bool(ball.is_finite() and not ball.contains(type(ball)(number)))
