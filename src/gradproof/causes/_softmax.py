"""Recognises a softmax, by name or written by hand, and a softmax or sigmoid of what another has made."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gradproof.ir.program import Node, Program

_HANDED_ON = frozenset({"identity", "reshape", "cast", "broadcast_to"})
_SOFTMAX = frozenset({"softmax", "log_softmax"})
# What log(1 + exp(x)) does to x before `exp`, to be stable: -|x|, or a difference from 0.
_FOLDED = frozenset({"neg", "select", "add", "sub"})


def is_over_one(program: Program, node: Node) -> bool:
    """Whether a softmax runs over a single number, so that it is 1 and its logarithm 0 whatever that number is."""
    return is_softmax(program, node) and softmax_length(program, node) == 1


def softmax_length(program: Program, node: Node) -> int:
    """Over how many numbers a softmax runs."""
    given, axes = _given(program, node)
    return int(np.prod([given.shape[axis] for axis in axes]))


def is_by_hand(program: Program, node: Node) -> bool:
    """Whether this is exp(x) divided by its sum: how JAX writes a softmax, and many people."""
    return node.op == "div" and _summed_by_hand(program, node) is not None


def is_softmax(program: Program, node: Node) -> bool:
    """Whether this is a softmax or its logarithm, by name or written by hand."""
    return node.op in _SOFTMAX or _summed_by_hand(program, node) is not None


def _summed_by_hand(program: Program, node: Node) -> Node | None:
    """The sum in exp(x) / sum(exp(x)) or in x - log(sum(exp(x))), if this is one of them."""
    if node.op not in ("div", "sub"):
        return None
    top, bottom = (_handed_on(program, id) for id in node.inputs)
    if node.op == "sub" and bottom.op != "log":
        return None
    summed = bottom if node.op == "div" else _handed_on(program, bottom.inputs[0])
    if summed.op != "sum":
        return None
    term = _handed_on(program, summed.inputs[0])
    same = term if node.op == "div" or term.op != "exp" else _handed_on(program, term.inputs[0])
    return summed if term.op == "exp" and same is top else None


def _handed_on(program: Program, id: int) -> Node:
    """The node whose numbers these are, behind reshapes."""
    node = program[id]
    while node.op in _HANDED_ON:
        node = program[node.inputs[0]]
    return node


def applied_twice(program: Program, outer: Node) -> Node | None:
    """The softmax or sigmoid whose results are all that `outer`, another of its kind, is computed from."""
    if is_softmax(program, outer):
        return _softmax_before(program, outer)
    given = _of_log_sigmoid(program, outer)
    leaves = [] if given is None else list(_unfolded(program, given))
    first = leaves[0] if leaves else None
    same = first is not None and first.op == "sigmoid" and all(leaf is first for leaf in leaves)
    return first if same else None


def _softmax_before(program: Program, outer: Node) -> Node | None:
    """A softmax along the same axes. Along others it is a normalisation by rows and columns, which is meant."""
    given, axes = _given(program, outer)
    inner = _handed_on(program, given.id)
    if inner.op == "sub" and _is_shift(program, inner, axes):
        inner = _handed_on(program, inner.inputs[0])
    if not (inner.op == "softmax" or is_by_hand(program, inner)):
        return None
    _, before = _given(program, inner)
    is_same = _from_the_end(given, axes) == _from_the_end(inner, before)
    return inner if is_same else None


def _given(program: Program, node: Node) -> tuple[Node, tuple[int, ...]]:
    """What a softmax is taken of, and along which axes."""
    if node.op in _SOFTMAX:
        return program[node.inputs[0]], tuple(node.params["axes"])
    summed = _summed_by_hand(program, node)
    assert summed is not None
    term = _handed_on(program, summed.inputs[0])
    return program[term.inputs[0]], tuple(summed.params["axes"])


def _is_shift(program: Program, node: Node, axes: tuple[int, ...]) -> bool:
    """Whether one number is taken off a whole row, as its largest is: a softmax does not change by that."""
    taken = _handed_on(program, node.inputs[1])
    along = int(np.prod([node.shape[axis] for axis in axes]))
    return int(np.prod(taken.shape)) * along <= int(np.prod(node.shape))


def _from_the_end(node: Node, axes: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Axes and the shape from the first of them on, as they are when axes in front are merged."""
    back = tuple(sorted(axis - len(node.shape) for axis in axes))
    return back, node.shape[back[0] :]


def _of_log_sigmoid(program: Program, node: Node) -> Node | None:
    """What the logarithm of a sigmoid is taken of: by name, or the x in log(1 + exp(x))."""
    if node.op in ("log_sigmoid", "softplus"):
        return program[node.inputs[0]]
    term = _handed_on(program, node.inputs[0]) if node.op == "log1p" else None
    return program[term.inputs[0]] if term is not None and term.op == "exp" else None


def _unfolded(program: Program, node: Node) -> Iterator[Node]:
    """What numbers are that may have changed their sign; zeros beside them left out."""
    node = _handed_on(program, node.id)
    if node.op not in _FOLDED:
        yield node
        return
    for id in node.inputs[1:] if node.op == "select" else node.inputs:
        if program[id].op != "constant" or np.any(np.asarray(program[id].value)):
            yield from _unfolded(program, program[id])
