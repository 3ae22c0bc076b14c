"""Computes a program again with some of its ops replaced, so that dtypes and shapes follow from the change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from gradproof.engine.trace import Traced, Tracer
from gradproof.errors import GradproofError
from gradproof.ir.program import Builder, Node, Program

# What takes the place of a node, made of its inputs.
Made = Callable[[Tracer, list[Traced]], Traced]


def retraced(program: Program, changes: Mapping[int, Made], narrow: str | None = None) -> Program | None:
    """The same ops on what the changed ones return; None where that does not fit together.

    An op that is still the same keeps its id, so that it can be told that it was not changed.

    Constants of the dtype `narrow` take the dtype of whatever they meet: they were numbers beside narrow arrays.
    """
    builder = Builder()
    builder.next_id = max(node.id for node in program.nodes) + 1
    tracer = Tracer(builder, phase="forward")
    values: dict[int, Any] = {}
    try:
        with np.errstate(all="ignore"):
            for node in program.nodes:
                tracer.at(node.span, node.scope)
                values[node.id] = _again(tracer, node, values, changes, narrow)
        builder.inputs.extend(program.inputs)
        builder.names.update(program.names)
        made = builder.build([values[id].id for id in program.outputs])
        return _renamed(made, {values[node.id].id: node for node in program.nodes if node.id not in changes})
    except (GradproofError, ValueError, TypeError, IndexError, AttributeError):
        return None


def _renamed(program: Program, before: Mapping[int, Node]) -> Program:
    same = {node.id: before[node.id].id for node in program.nodes if _is_same(node, before.get(node.id))}
    nodes = tuple(
        replace(node, id=same.get(node.id, node.id), inputs=tuple(same.get(id, id) for id in node.inputs))
        for node in program.nodes
    )
    return replace(program, nodes=nodes, outputs=tuple(same.get(id, id) for id in program.outputs))


def _is_same(node: Node, before: Node | None) -> bool:
    return before is not None and node.op == before.op and len(node.inputs) == len(before.inputs)


def _again(
    tracer: Tracer, node: Node, values: Mapping[int, Any], changes: Mapping[int, Made], narrow: str | None
) -> Any:
    if node.id in changes and not node.inputs:
        return changes[node.id](tracer, [])
    if node.op in ("input", "constant"):
        place: dict[str, Any] = {"span": node.span, "phase": node.phase, "scope": node.scope}
        tracer.builder.add(node.op, value=np.asarray(node.value), id=node.id, **place)
        is_weak = node.op == "constant" and node.dtype == narrow
        return Traced(tracer, node.id, np.asarray(node.value), weak=is_weak)
    if node.is_opaque or node.dtype == "tuple" or node.op == "item":
        raise TypeError(f"{node.op} cannot be computed again")
    xs = [values[id] for id in node.inputs]
    if node.id in changes:
        return changes[node.id](tracer, xs)
    return getattr(tracer, node.op)(*xs, **_fitting(node, xs))


def _fitting(node: Node, xs: list[Traced]) -> dict[str, Any]:
    """A reduction over all axes stays one when there are fewer."""
    params = dict(node.params)
    if "axes" in params and node.shape == ():
        params["axes"] = tuple(range(xs[0].ndim))
    return params
