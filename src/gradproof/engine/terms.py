"""How large the terms are that a gradient is the sum of.

A true gradient of zero that is a sum of terms of size 1 (the bias before a batch normalisation, say) can only be
found up to rounding of those terms; this is what its error has to be measured against.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradproof.clock import tick
from gradproof.domains.ieee import Ieee
from gradproof.engine.linearise import input_gradient
from gradproof.engine.run import Run
from gradproof.ir import types
from gradproof.ir.program import Node, descendants
from gradproof.ir.types import Array
from gradproof.ops import TABLE, Arithmetic

_SUMS_AND_MOVES = frozenset(
    {"add", "sub", "neg", "sum", "mean", "sum_to", "identity", "reshape", "broadcast", "transpose", "cast"}
)
_PRODUCTS = frozenset({"mul", "absorbing_mul", "square"})
CANCELLED = 2.0**-40  # of its terms: a zero that float64 midpoints show with their own rounding


def term_sizes(result: Run, wrt: Sequence[int]) -> list[Array]:
    """For each of `wrt`, the sum of the sizes of all its terms, entry by entry; zero where they are not known.

    One reverse sweep in float64 with every slope replaced by its size, so that nothing cancels on the way.
    """
    program, plain = result.program, Arithmetic(Ieee("float64"))
    active = descendants(program, set(wrt))
    sizes: dict[int, Any] = {program.outputs[0]: np.ones(program[program.outputs[0]].shape)}
    kept = {id: np.zeros(program[id].shape) for id in wrt}
    values = _Midpoints(result)
    with plain.domain.active():
        factors = _Factors(plain, values, active)
        for node in reversed(program.nodes):
            if node.id in sizes and node.id in active:
                tick()
                gy = sizes.pop(node.id)
                if node.id in kept:
                    kept[node.id] = np.nan_to_num(gy, nan=0.0, posinf=0.0)
                _send_back(plain, factors, node, gy, active, sizes)
    return [kept[id] for id in wrt]


class _Midpoints:
    """The values of a run as float64 numbers, each converted when it is first asked for."""

    def __init__(self, result: Run) -> None:
        self.result = result
        self.known: dict[int, Any] = {}

    def __getitem__(self, id: int) -> Any:
        if id not in self.known:
            value = self.result.values[id]
            several = isinstance(value, tuple)
            parts = [self._plain(part) for part in (value if several else (value,))]
            self.known[id] = tuple(parts) if several else parts[0]
        return self.known[id]

    def _plain(self, x: Any) -> Array:
        if types.is_discrete_array(x):
            return np.asarray(x)
        mid: Array = self.result.m.domain.leave(x)[0]
        return mid


class _Factors:
    """What a product is multiplied by: its values, and where they cancelled to zero, the size of what varies in them.

    The rounding that is left of such a zero is a factor, too (1 - sum(softmax(x)), whose gradient is asked for). Only
    what comes from the sources counts: a constant that is added and taken away again excuses no rounding.
    """

    def __init__(self, plain: Arithmetic, values: _Midpoints, active: set[int]) -> None:
        self.plain, self.values, self.active = plain, values, active
        self.varying: dict[int, Array] = {}
        cancelled: set[int] = set()
        for node in values.result.program.nodes:
            if node.id not in active:
                continue
            if node.op in _SUMS_AND_MOVES:
                varying = self._sum(node)
            elif cancelled.isdisjoint(node.inputs) or (through := self._through(node)) is None:
                continue
            else:
                varying = through
            self.varying[node.id] = varying
            if bool((np.abs(values[node.id]) <= CANCELLED * varying).any()):
                cancelled.add(node.id)

    def _sum(self, node: Node) -> Array:
        parts = [self._part(id) for id in node.inputs]
        op = {"sub": "add", "neg": "identity"}.get(node.op, node.op)
        return np.asarray(np.abs(getattr(self.plain, op)(*parts, **node.params)))

    def _through(self, node: Node) -> Array | None:
        """What becomes of a rounding that is left of a zero behind a function; elsewhere the values themselves."""
        op, y = TABLE.get(node.op), self.values[node.id]
        if op is None or isinstance(y, tuple) or node.is_discrete:
            return None
        parts, xs = [self._part(id) for id in node.inputs], [self.values[id] for id in node.inputs]
        if op.slopes is not None:
            slopes = [0 if rule is None else rule(self.plain, y, *xs, **node.params) for rule in op.slopes]
            terms = [np.abs(slope) * part for slope, part in zip(slopes, parts)]
        elif op.linear is not None:
            sizes = [x if types.is_discrete_array(x) else np.abs(x) for x in xs]
            moved = [k for k, id in enumerate(node.inputs) if id in self.active]
            terms = [
                np.abs(getattr(self.plain, node.op)(*sizes[:k], parts[k], *sizes[k + 1 :], **node.params))
                for k in moved
            ]
        else:
            return None
        varying = np.nan_to_num(np.asarray(sum(terms)), posinf=0.0)
        return np.asarray(np.where(np.abs(y) <= CANCELLED * varying, varying, np.abs(y)))

    def _part(self, id: int) -> Array:
        if id not in self.active:
            return np.zeros(np.shape(self.values[id]))
        return self.varying[id] if id in self.varying else np.abs(self.values[id])

    def __getitem__(self, id: int) -> Array:
        size = np.abs(self.values[id])
        varying = self.varying.get(id)
        return size if varying is None else np.where(size <= CANCELLED * varying, varying, size)


def _send_back(
    plain: Arithmetic, factors: _Factors, node: Node, gy: Any, active: set[int], sizes: dict[int, Any]
) -> None:
    if node.op == "item":
        slots = sizes.setdefault(node.inputs[0], {})
        slots[node.params["index"]] = slots.get(node.params["index"], 0.0) + gy
        return
    is_product = node.op in _PRODUCTS or (node.op in TABLE and TABLE[node.op].linear is not None)
    values = factors if is_product else factors.values
    y, xs = factors.values[node.id], [values[id] for id in node.inputs]
    if isinstance(y, tuple):
        gy = tuple(gy.get(k, np.zeros(np.shape(part))) for k, part in enumerate(y))
    for i, id in enumerate(node.inputs):
        if id in active:
            size = _size(plain, node, i, gy, y, xs)
            if size is not None:
                sizes[id] = sizes.get(id, 0.0) + size


def _size(plain: Arithmetic, node: Node, i: int, gy: Any, y: Any, xs: list[Any]) -> Array | None:
    """What input `i` gets from terms of the sizes `gy`, if none of them cancel."""
    op = TABLE[node.op]
    if op.slopes is not None:
        rule = op.slopes[i]
        slope = 0 if rule is None else rule(plain, y, *xs, **node.params)
        size: Array = plain.sum_to(plain.mul(gy, np.abs(slope)), shape=np.shape(xs[i]))
        return np.abs(size)
    if op.linear is not None:
        # Moves and sums: with every factor replaced by its size, no term has a sign.
        return _absolute(
            input_gradient(
                plain, node, i, gy, np.abs(y), [x if types.is_discrete_array(x) else np.abs(x) for x in xs]
            )
        )
    # Other rules may subtract (softmax does), so that equal sizes would cancel: they are given several signs.
    patterns = (_signed(gy, sign) for sign in _SIGNS)
    found = [_absolute(input_gradient(plain, node, i, pattern, y, xs)) for pattern in patterns]
    return None if found[0] is None else np.sum(found, axis=0)  # type: ignore[arg-type]


def _plus(n: int) -> Array:
    return np.ones(n)


def _alternating(n: int) -> Array:
    return np.asarray(1.0 - 2.0 * (np.arange(n) % 2))


def _first_apart(n: int) -> Array:
    return np.asarray(1.0 - 2.0 * (np.arange(n) == 0))


_SIGNS = (_plus, _alternating, _first_apart)


def _signed(gy: Any, sign: Any) -> Any:
    if isinstance(gy, tuple):
        return tuple(_signed(part, sign) for part in gy)
    return gy * sign(np.size(gy)).reshape(np.shape(gy))


def _absolute(gx: Any) -> Array | None:
    return None if gx is None else np.abs(np.asarray(gx))
