"""Sources that the target does not move with, though a way leads from them to it: their gradient is exactly zero.

The bias before a batch normalisation is the example: it shifts all entries of a channel alike, their mean goes with
them, and what is left does not move. Balls only ever show such a zero to so many digits, and cost a run with many of
them. Here it is shown by how the shift itself spreads: along which axes of an array it is the same everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from gradproof.ir import types
from gradproof.ir.program import Node, Program


@dataclass(frozen=True)
class Motion:
    """How an array moves with a source: `scale` times an array of which no more is known than its name.

    That array lies along `axes`, counted from the back; along all others the motion is the same everywhere.
    """

    name: int
    axes: tuple[int, ...]
    scale: Fraction = Fraction(1)

    def is_same_along(self, axes: tuple[int, ...], rank: int) -> bool:
        return not {axis - rank for axis in axes} & set(self.axes)


Moving = Mapping[int, Motion]
Rule = Callable[[Program, Node, Moving], Motion | None]


def is_unmoved(program: Program, source: int) -> bool:
    """Whether the output is shown not to change with a source, all decisions as taken. False proves nothing."""
    moving = {source: _any(program[source])}
    for node in program.nodes:
        if node.is_discrete or node.op == "stop_gradient" or not any(id in moving for id in node.inputs):
            continue
        if not types.is_real(node.dtype):
            return False
        motion = RULES.get(node.op, _unknown)(program, node, moving)
        if motion is not None:
            moving[node.id] = motion
    return not any(id in moving for id in program.outputs)


def _any(node: Node, along: tuple[int, ...] | None = None) -> Motion:
    """A motion of its own, along all axes unless some are given; an axis of length one does not count."""
    axes = tuple(range(-len(node.shape), 0)) if along is None else along
    return Motion(node.id, tuple(axis for axis in sorted(set(axes)) if node.shape[axis] != 1))


def _unknown(program: Program, node: Node, moving: Moving) -> Motion:
    del program, moving
    return _any(node)


def _same(program: Program, node: Node, moving: Moving) -> Motion:
    """Of casts and repetitions: exact arithmetic knows no dtypes, and axes are counted from the back."""
    del program
    return moving[node.inputs[0]]


def _reshape(program: Program, node: Node, moving: Moving) -> Motion:
    """The same, if all axes it lies along stay; those that are cut or joined are taken as a whole."""
    before, motion = program[node.inputs[0]].shape, moving[node.inputs[0]]
    places: dict[int, int] = {}
    along: list[int] = []
    for old, new in _groups(before, node.shape):
        if set(old) & set(motion.axes):
            along += new
            if len(old) == len(new) == 1:
                places[old[0]] = new[0]
    if len(places) < len(motion.axes):
        return _any(node, tuple(along))
    return replace(motion, axes=tuple(places[axis] for axis in motion.axes))


def _groups(before: Sequence[int], after: Sequence[int]) -> Iterator[tuple[list[int], list[int]]]:
    """The axes of two shapes of as many entries, counted from the back, in groups that become each other."""
    sides = [[k - len(shape) for k, n in enumerate(shape) if n != 1] for shape in (before, after)]
    while sides[0] or sides[1]:
        taken: tuple[list[int], list[int]] = ([], [])
        sizes = [1, 1]
        while not taken[0] or sizes[0] != sizes[1]:
            side = 0 if sizes[0] <= sizes[1] else 1
            if not sides[side]:  # no entries at all
                yield ([*taken[0], *sides[0]], [*taken[1], *sides[1]])
                return
            axis = sides[side].pop(0)
            taken[side].append(axis)
            sizes[side] *= (before, after)[side][axis]
        yield taken


def _transpose(program: Program, node: Node, moving: Moving) -> Motion:
    del program
    motion, rank = moving[node.inputs[0]], len(node.shape)
    places = {axis - rank: place - rank for place, axis in enumerate(node.params["order"])}
    return replace(motion, axes=tuple(places[axis] for axis in motion.axes))


def _sum(program: Program, node: Node, moving: Moving) -> Motion:
    motion, shape = moving[node.inputs[0]], program[node.inputs[0]].shape
    reduced = {axis - len(shape) for axis in node.params["axes"]}
    left = [axis - len(shape) for axis in range(len(shape)) if axis - len(shape) not in reduced]
    places = {axis: place - len(left) for place, axis in enumerate(left)}
    axes = tuple(places[axis] for axis in motion.axes if axis in places)
    if len(axes) < len(motion.axes):
        return _any(node, axes)
    count = 1 if node.op == "mean" else math.prod(shape[axis] for axis in reduced)
    return replace(motion, axes=axes, scale=motion.scale * count)


def _sum_or_difference(program: Program, node: Node, moving: Moving) -> Motion | None:
    sign = -1 if node.op == "sub" else 1
    first, second = (moving.get(id) for id in node.inputs)
    if second is None:
        return first
    second = replace(second, scale=sign * second.scale)
    if first is None:
        return second
    if (first.name, first.axes) != (second.name, second.axes):
        return _any(node, (*first.axes, *second.axes))
    scale = first.scale + second.scale
    return replace(first, scale=scale) if scale else None


def _product(program: Program, node: Node, moving: Moving) -> Motion:
    """Of one moving factor; by a number that is a constant, the same motion at another scale."""
    ids = [id for id in node.inputs if id in moving]
    if len(ids) != 1 or (node.op == "div" and ids[0] != node.inputs[0]):
        return _any(node)
    other = program[node.inputs[1] if ids[0] == node.inputs[0] else node.inputs[0]]
    number = _number(other)
    motion = moving[ids[0]]
    if not number:
        along = tuple(axis for axis in range(-len(other.shape), 0) if other.shape[axis] != 1)
        return _any(node, (*motion.axes, *along))
    return replace(motion, scale=motion.scale / number if node.op == "div" else motion.scale * number)


def _number(node: Node) -> Fraction | None:
    """The number that a constant consists of, if it is one and finite."""
    if node.op != "constant" or math.prod(node.shape) != 1 or not types.is_real(node.dtype):
        return None
    number = float(np.asarray(node.value).reshape(()))
    return Fraction(number) if math.isfinite(number) else None


def _matrix_product(program: Program, node: Node, moving: Moving) -> Motion:
    """Of one moving factor: rows or columns that move alike give rows or columns that do."""
    ids = [id for id in node.inputs if id in moving]
    if len(ids) != 1 or min(len(program[id].shape) for id in node.inputs) < 2:
        return _any(node)
    is_left = ids[0] == node.inputs[0]
    free, fixed = (-2, -1) if is_left else (-1, -2)
    other = program[node.inputs[1] if is_left else node.inputs[0]].shape
    batch = [axis for axis in range(-len(other), -2) if other[axis] != 1]
    own = [axis for axis in moving[ids[0]].axes if axis == free or axis < -2]
    return _any(node, (*own, *batch, fixed))


def _blind(program: Program, node: Node, moving: Moving) -> Motion | None:
    """Of functions that a common shift of all they reduce over leaves as they are."""
    motion, rank = moving[node.inputs[0]], len(program[node.inputs[0]].shape)
    return None if motion.is_same_along(node.params["axes"], rank) else _any(node)


def _shifted(program: Program, node: Node, moving: Moving) -> Motion:
    """Of functions that move by as much as all they reduce over, if it all moves alike."""
    motion, rank = moving[node.inputs[0]], len(program[node.inputs[0]].shape)
    if not motion.is_same_along(node.params["axes"], rank):
        return _any(node)
    return _sum(program, replace(node, op="mean"), moving)


def _negative(program: Program, node: Node, moving: Moving) -> Motion:
    del program
    motion = moving[node.inputs[0]]
    return replace(motion, scale=-motion.scale)


RULES: Mapping[str, Rule] = {
    "identity": _same,
    "cast": _same,
    "broadcast": _same,
    "neg": _negative,
    "reshape": _reshape,
    "transpose": _transpose,
    "sum": _sum,
    "mean": _sum,
    "add": _sum_or_difference,
    "sub": _sum_or_difference,
    "mul": _product,
    "div": _product,
    "matmul": _matrix_product,
    "var": _blind,
    "softmax": _blind,
    "log_softmax": _blind,
    "logsumexp": _shifted,
}
