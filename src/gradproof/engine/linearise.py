"""Derivatives of a run: reverse mode (pull_back) and forward mode (push_forward), in any domain."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from gradproof.clock import tick
from gradproof.engine.run import Run
from gradproof.errors import NoDerivative
from gradproof.ir import types
from gradproof.ir.program import Node, descendants
from gradproof.ir.verify import describe
from gradproof.ops import TABLE, Arithmetic, Op

Watcher = Callable[[Node, int, Any, Any], None]  # told of each pullback: node, input, gy, gx
Edit = Callable[[Node, int, Any, Any], Any]  # node, input, gy, gx -> the gx to go on with, None for none


def pull_back(
    run: Run,
    seeds: Mapping[int, Any],
    wrt: Iterable[int],
    keep_all: bool = False,
    watcher: Watcher | None = None,
    edit: Edit | None = None,
) -> dict[int, Any]:
    """Gradients of <seeds, values> for the nodes `wrt`, or for all nodes on the way with `keep_all`.

    A node that the seeds do not reach is absent from the result. `edit` may put something else in the place
    of what a rule returns: that is how it is found out which mistake a wrong gradient was made with.
    """
    wrt = set(wrt)
    active = descendants(run.program, wrt)
    gradients: dict[int, Any] = {id: seed for id, seed in seeds.items() if id in active}
    kept: dict[int, Any] = {}
    with run.m.domain.active():
        for node in reversed(run.program.nodes):
            if node.id not in gradients:
                continue
            tick()
            gy = gradients.pop(node.id)
            if keep_all or node.id in wrt:
                kept[node.id] = gy
            run.m.at(node.span, node.scope)
            _pull_back_node(run, node, gy, active, gradients, watcher, edit)
    return kept


def _pull_back_node(
    run: Run,
    node: Node,
    gy: Any,
    active: set[int],
    gradients: dict[int, Any],
    watcher: Watcher | None,
    edit: Edit | None,
) -> None:
    if node.op == "item":
        slots = gradients.setdefault(node.inputs[0], {})
        _accumulate(run.m, slots, node.params["index"], gy)
        return
    wanted = [i for i, id in enumerate(node.inputs) if id in active]
    if not wanted:
        return
    xs = [run.values[id] for id in node.inputs]
    y = run.values[node.id]
    if isinstance(y, tuple):
        gy = tuple(
            gy.get(k) if gy.get(k) is not None else run.m.zeros(part.shape) for k, part in enumerate(y)
        )
    for i in wanted:
        gx = input_gradient(run.m, node, i, gy, y, xs)
        if gx is not None and edit is not None:
            gx = edit(node, i, gy, gx)
        if gx is None:
            continue
        if types.is_complex(node.dtype) and types.is_real(run.program[node.inputs[i]].dtype):
            gx = run.m.real(gx)  # a real number moves along the real axis only
        gx = run.m.fit(gx, xs[i])
        if watcher is not None:
            watcher(node, i, gy, gx)
        _accumulate(run.m, gradients, node.inputs[i], gx)


def _accumulate(m: Arithmetic, gradients: dict[int, Any], key: int, gx: Any) -> None:
    gradients[key] = gx if key not in gradients else m.add(gradients[key], gx)


def input_gradient(m: Arithmetic, node: Node, i: int, gy: Any, y: Any, xs: list[Any]) -> Any:
    """What reaches input `i` of a node from the gradient `gy` of its result; None where it is constantly zero."""
    op = _differentiable(node)
    if op.slopes is not None:
        slope = _slope(m, node, op, i, y, xs)
        if slope is None:
            return None
        return m.sum_to(_chain(m, gy, slope, node), shape=tuple(np.shape(xs[i])))
    assert op.pullback is not None
    return op.pullback(m, i, gy, y, *xs, **node.params)


def _differentiable(node: Node) -> Op:
    op = TABLE.get(node.op)
    if op is None or (op.slopes is None and op.pullback is None):
        if not node.is_opaque:
            raise NoDerivative(f"{describe(node)} has no derivative rule, and the gradient runs through it")
        place = f" ({node.span})" if node.span else ""
        raise NoDerivative(
            f"`{node.op.removeprefix('opaque:')}`{place} has no exact meaning here, and the gradient runs through it"
        )
    return op


def _slope(m: Arithmetic, node: Node, op: Op, i: int, y: Any, xs: list[Any]) -> Any:
    assert op.slopes is not None
    rule = op.slopes[i]
    if rule is None:
        raise NoDerivative(f"{describe(node)} has no rule for the derivative by its {_ORDINALS[i]} argument")
    if node.op in _ARITHMETIC:
        # An integer operand is a real number here: its reciprocal must be one of the domain, not of NumPy.
        xs = [m.domain.enter(x) if types.is_discrete_array(x) else x for x in xs]
    slope = rule(m, y, *xs, **node.params)
    return None if isinstance(slope, int) and slope == 0 else slope


_ARITHMETIC = frozenset({"add", "sub", "mul", "div"})


_ORDINALS = ("first", "second", "third", "fourth", "fifth")


def _chain(m: Arithmetic, gy: Any, slope: Any, node: Node) -> Any:
    if isinstance(slope, int):
        return gy if slope == 1 else m.neg(gy) if slope == -1 else m.mul(gy, slope)
    return m.mul(gy, m.conj(slope) if types.is_complex(node.dtype) else slope)


def push_forward(
    run: Run, tangents: Mapping[int, Any], wanted: Iterable[int] | None = None
) -> dict[int, Any]:
    """Tangents of all nodes (or those of `wanted`) that follow from `tangents`.

    A tangent given for an inner node is added to the one that reaches it: this is how errors made at
    every node are carried to the result in a single sweep.
    """
    moved: dict[int, Any] = {}
    with run.m.domain.active():
        for node in run.program.nodes:
            if node.is_discrete:
                continue
            tick()
            y_dot = push_node(run, node, moved)
            if node.id in tangents:
                y_dot = tangents[node.id] if y_dot is None else run.m.add(y_dot, tangents[node.id])
            if y_dot is not None:
                moved[node.id] = y_dot
    return moved if wanted is None else {id: moved[id] for id in wanted if id in moved}


def push_node(run: Run, node: Node, moved: dict[int, Any]) -> Any:
    if node.op == "item":
        whole = moved.get(node.inputs[0])
        return None if whole is None else whole[node.params["index"]]
    moving = [i for i, id in enumerate(node.inputs) if id in moved]
    if not moving:
        return None
    op, m = _differentiable(node), run.m
    y, xs = run.values[node.id], [run.values[id] for id in node.inputs]
    xs_dot = [moved.get(id) for id in node.inputs]
    if op.linear == "jointly":
        # An integer says where entries go, and stays; one that is added is a number that stands still.
        places = [op.slopes is None and run.program[id].is_discrete for id in node.inputs]
        still = [x if is_place else m.zeros(np.shape(x)) for is_place, x in zip(places, xs)]
        return getattr(m, node.op)(*(s if d is None else d for s, d in zip(still, xs_dot)), **node.params)
    if op.linear == "each":
        terms = [getattr(m, node.op)(*xs[:i], xs_dot[i], *xs[i + 1 :], **node.params) for i in moving]
    elif op.slopes is not None:
        terms = [_forward_term(m, node, op, i, y, xs, xs_dot[i]) for i in moving]
    else:
        from gradproof.engine.transpose import push_through_pullback

        return push_through_pullback(m, node, moving, y, xs, xs_dot)
    total = None
    for term in terms:
        if term is not None:
            total = term if total is None else m.add(total, term)
    return total


def _forward_term(m: Arithmetic, node: Node, op: Op, i: int, y: Any, xs: list[Any], x_dot: Any) -> Any:
    slope = _slope(m, node, op, i, y, xs)
    if slope is None:
        return None
    term = x_dot if isinstance(slope, int) and slope == 1 else m.mul(x_dot, slope)
    shape = tuple(np.shape(y))
    return term if tuple(term.shape) == shape else m.broadcast(term, shape=shape)
