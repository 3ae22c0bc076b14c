"""Where one number of a program came from: entry by entry, by the structure of the ops and not by their values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradproof.domains.ieee import Ieee
from gradproof.engine.linearise import input_gradient
from gradproof.ir import types
from gradproof.ir.program import Node, Program
from gradproof.ir.types import Array
from gradproof.ops import TABLE, Arithmetic

Index = tuple[int, ...]

MAX_STEPS = 100_000  # the longest way followed; a loop of ten thousand steps fits
_SEED = 7
# Ops that only pass numbers on: behind them a number still is the user's.
PASSING = frozenset({
    "identity", "reshape", "broadcast", "transpose", "strided_slice", "take", "take_along", "tile", "concat",
    "stack", "squeeze", "expand", "slice", "gather", "cast",
})  # fmt: skip


@dataclass(frozen=True)
class Place:
    """One entry of the result of one node."""

    id: int
    index: Index


def feeding(program: Program, place: Place) -> Iterator[tuple[int, Array]]:
    """The real or complex inputs of a node, each with the mask of its entries that this entry was computed from.

    A `select` was computed from the branch it took, or from that whose NaN it holds. Where the structure of an op
    cannot be told, all entries count.
    """
    node = program[place.id]
    if node.op in ("input", "constant") or node.is_opaque or node.is_discrete:
        return
    if node.op == "item":
        node = program[node.inputs[0]]
        masks = [np.ones(program[id].shape, bool) for id in node.inputs]
    elif node.op == "select":
        masks = _selected(program, node, place.index)
    elif node.op in TABLE and TABLE[node.op].slopes is not None:
        masks = [_one(program[id].shape, node.shape, place.index) for id in node.inputs]
    else:
        masks = _by_structure(program, node, place.index)
    for id, mask in zip(node.inputs, masks):
        if not program[id].is_discrete and program[id].dtype != types.TUPLE and mask.any():
            yield id, mask


Faulty = Callable[[int], Array | None]
"""The mask of the faulty entries of a node, or None where nothing is known of it."""


def trail(program: Program, end: Place, *kinds: Faulty) -> tuple[Place, ...]:
    """From the entry where a fault arose to `end`; of several ways back, the one to what was computed first.

    Of several kinds of faults, one that stands earlier is followed before those behind it.
    """
    found = [end]
    for _ in range(MAX_STEPS):
        fed = sorted(feeding(program, found[-1]), key=lambda one: one[0])
        before = next((place for bad in kinds if (place := _first(fed, bad)) is not None), None)
        if before is None:
            break
        found.append(before)
    return tuple(reversed(found))


def _first(fed: Iterable[tuple[int, Array]], bad: Faulty) -> Place | None:
    for id, mask in fed:
        faulty = bad(id)
        if faulty is not None and (mask & faulty).any():
            return next(places(id, mask & faulty))
    return None


def places(id: int, mask: Array) -> Iterator[Place]:
    return (Place(id, tuple(int(k) for k in index)) for index in np.argwhere(mask))


def operand(program: Program, place: Place, position: int) -> Place:
    """The entry of one input that an entrywise op used for this entry."""
    node = program[place.id]
    id = node.inputs[position]
    return next(places(id, _one(program[id].shape, node.shape, place.index)))


def value_at(program: Program, place: Place) -> Any:
    """What was recorded there; None where nothing was."""
    value = program[place.id].value
    return None if value is None or isinstance(value, tuple) else np.asarray(value)[place.index]


def _one(shape: Index, result: Index, index: Index) -> Array:
    """The mask of the single entry that broadcasting takes to `index`."""
    mask = np.zeros(shape, bool)
    lead = len(result) - len(shape)
    mask[tuple(0 if size == 1 else k for size, k in zip(shape, index[lead:]))] = True
    return mask


def _selected(program: Program, node: Node, index: Index) -> list[Array]:
    masks = [_one(program[id].shape, node.shape, index) for id in node.inputs]
    condition = np.asarray(program[node.inputs[0]].value)
    taken = 1 if bool(condition[masks[0]][0]) else 2
    if _is_nan(node, index) and not _any_nan(program[node.inputs[taken]], masks[taken]):
        # No comparison with NaN holds; kernels such as that of `relu` hand it on all the same.
        taken = 3 - taken
    return [mask if k in (0, taken) else np.zeros_like(mask) for k, mask in enumerate(masks)]


def _is_nan(node: Node, index: Index) -> bool:
    return node.value is not None and bool(np.isnan(np.asarray(node.value)[index]))


def _any_nan(node: Node, mask: Array) -> bool:
    return node.is_discrete or node.value is None or bool(np.isnan(np.asarray(node.value)[mask]).any())


def _by_structure(program: Program, node: Node, index: Index) -> list[Array]:
    """A pullback at arbitrary numbers: what gets a gradient of exactly zero there has no part in the entry."""
    m = Arithmetic(Ieee("float64"))
    rng = np.random.default_rng(_SEED)
    inputs = [program[id] for id in node.inputs]
    xs = [x.value if x.is_discrete else rng.uniform(1.0, 2.0, x.shape) for x in inputs]
    everything = [np.ones(x.shape, bool) for x in inputs]
    try:
        with np.errstate(all="ignore"):
            y = getattr(m, node.op)(*xs, **node.params)
            gy = np.zeros(node.shape)
            gy[index] = 1.0
            gradients = [
                None if x.is_discrete else input_gradient(m, node, i, gy, y, xs) for i, x in enumerate(inputs)
            ]
    except Exception:  # an op may refuse arbitrary numbers; then nothing is known of its structure
        return everything
    return [
        np.zeros(x.shape, bool) if gx is None else np.asarray(gx).reshape(x.shape) != 0.0
        for gx, x in zip(gradients, inputs)
    ]


def forward_op(program: Program, node: Node) -> Node:
    """The op of the user's line that a backward op belongs to: the one with the same place in the source.

    Of several that a function of a framework consists of, one that can have an unbounded slope.
    """
    if node.phase == "forward" or node.span is None:
        return node
    here = [
        one for one in program.nodes if one.phase == "forward" and one.span == node.span and _computes(one)
    ]
    with_edges = [one for one in here if TABLE[one.op].edges]
    return (with_edges or here or [node])[-1]


def _computes(node: Node) -> bool:
    return bool(node.inputs) and not node.is_discrete and node.op in TABLE and node.op not in PASSING
