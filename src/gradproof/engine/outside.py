"""Whether a function has no value for certain: the arguments of an op lie outside its domain.

A ball that only touches the end of a domain has no value either: the root of sin(x)**2 + cos(x)**2 - 1 is taken of
a ball around zero. Nothing follows from that. Only where an op has a value at no place of the balls it was given
is there none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from flint import acb

from gradproof.engine.run import AS_RECORDED, Run, evaluate
from gradproof.ir.program import Node
from gradproof.ir.types import Array


def is_outside(result: Run) -> bool:
    """Whether the first op on the way that lost a value had none at either end, nor in the middle, of its arguments."""
    with result.m.domain.active():
        for node in result.program.nodes:
            lost = _lost(result.values[node.id])
            if lost.any():
                return bool(lost.all() if not node.inputs else (lost & _lost_everywhere(result, node)).any())
    return False


def has_no_value(result: Run, node: Node) -> bool:
    """Whether an op has no value for certain, and so neither has the program."""
    with result.m.domain.active():
        own = _lost(result.values[node.id]) & _lost_everywhere(result, node)
        return bool(own.any()) and any(_lost(result.values[id]).any() for id in result.program.outputs)


def _lost_everywhere(result: Run, node: Node) -> Array:
    """The entries that have no value at any of three places of the balls; none where a result has several parts.

    At a place, what has no value is NaN; what only is too large for a ball, as exp(1e300), is anything at all.
    """
    if any(isinstance(result.values[id], tuple) for id in (node.id, *node.inputs)):
        return np.zeros((), bool)
    lost = np.ones((), bool)
    for place in _PLACES:
        arguments = {id: _at(result.values[id], place) for id in node.inputs}
        lost = lost & _is_nan(evaluate(result.m, node, arguments, AS_RECORDED))
    return lost


_PLACES: tuple[Callable[[Any], Any], ...] = (
    lambda part: part.lower(),
    lambda part: part.mid(),
    lambda part: part.upper(),
)


def _at(x: Any, place: Callable[[Any], Any]) -> Any:
    if not _has_balls(x):
        return x
    entries = [
        acb(place(entry.real), place(entry.imag)) if isinstance(entry, acb) else place(entry)
        for entry in x.reshape(-1)
    ]
    points = np.empty(len(entries), object)
    points[:] = entries
    return points.reshape(x.shape)


def _lost(x: Any) -> Array:
    if isinstance(x, tuple):
        return np.array([bool(_lost(part).any()) for part in x])
    if not _has_balls(x):
        return np.zeros((), bool)
    return np.array([not entry.is_finite() for entry in x.reshape(-1)], bool).reshape(x.shape)


def _is_nan(x: Any) -> Array:
    if not _has_balls(x):
        return np.zeros((), bool)
    parts = [(entry.real, entry.imag) if isinstance(entry, acb) else (entry,) for entry in x.reshape(-1)]
    return np.array([any(part.is_nan() for part in entry) for entry in parts], bool).reshape(x.shape)


def _has_balls(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.dtype == object
