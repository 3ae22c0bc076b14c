"""An arithmetic that computes many rows at once: pull all rows of a Jacobian back in it, and one sweep has them all.

What differs from row to row has a first axis that counts the rows; what all of them share has none. An op that is
known here acts on all rows together, every other one row by row: the numbers are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from gradproof.engine.linearise import pull_back
from gradproof.engine.operators import Operators
from gradproof.engine.run import Run
from gradproof.ir.types import Array
from gradproof.ops import TABLE, Arithmetic


class Many(Operators):
    """One array of a shape per row. Its shape is that of a row, so that rules need not know of the others."""

    __slots__ = ("rows",)

    def __init__(self, m: ManyRows, rows: Any) -> None:
        self.m, self.rows = m, rows

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.rows.shape[1:])

    @property
    def ndim(self) -> int:
        return len(self.shape)


class ManyRows(Arithmetic):
    """The arithmetic `plain` for `count` rows."""

    def __init__(self, plain: Arithmetic, count: int) -> None:
        super().__init__(_DomainOfRows(self, plain.domain))
        self.plain, self.count = plain, count

    def literal(self, array: Any) -> Any:
        return self.plain.literal(array)

    def _meaning(self, name: str) -> Callable[..., Any]:
        together = _TOGETHER.get(name)
        op = TABLE.get(name)
        if together is None and op is not None and op.slopes is not None:
            together = _entrywise
        whole = getattr(self.plain, name)
        if together is not None:
            meant = partial(together, self, whole)
        elif op is not None and op.forward is not None and getattr(self.plain.domain, name, None) is None:
            meant = partial(op.forward, self)  # in terms of other ops, which may be known
        else:
            meant = partial(self.row_by_row, whole)

        def meaning(*xs: Any, **params: Any) -> Any:
            return (meant if any(isinstance(x, Many) for x in xs) else whole)(*xs, **params)

        return meaning

    def row_by_row(self, op: Callable[..., Any], *xs: Any, **params: Any) -> Many:
        parts = [op(*(self._row(x, k) for x in xs), **params) for k in range(self.count)]
        return Many(self, self.plain.domain.lift(lambda *rows: np.stack(rows), *parts))

    def _row(self, x: Any, k: int) -> Any:
        return self.plain.domain.lift(lambda v: v[k], x.rows) if isinstance(x, Many) else x

    def aligned(self, x: Any, ndim: int) -> Any:
        """All rows as one array whose rows have `ndim` axes: as NumPy aligns shapes, at their ends."""
        if not isinstance(x, Many):
            return x
        shape = (self.count, *(1,) * (ndim - x.ndim), *x.shape)
        return x.rows if x.ndim == ndim else self.plain.reshape(x.rows, shape=shape)


class _DomainOfRows:
    """The domain of the rows, whose `lift` takes them one by one."""

    def __init__(self, m: ManyRows, domain: Any) -> None:
        self._m, self._domain = m, domain

    def __getattr__(self, name: str) -> Any:
        return getattr(self._domain, name)

    def lift(self, move: Callable[..., Any], *xs: Any) -> Any:
        if not any(isinstance(x, Many) for x in xs):
            return self._domain.lift(move, *xs)
        return self._m.row_by_row(lambda *rows: self._domain.lift(move, *rows), *xs)


def _entrywise(m: ManyRows, op: Callable[..., Any], *xs: Any, **params: Any) -> Many:
    ndim = max(np.ndim(x) if not isinstance(x, Many) else x.ndim for x in xs)
    return Many(m, op(*(m.aligned(x, ndim) for x in xs), **params))


def _reshape(m: ManyRows, op: Callable[..., Any], x: Many, shape: tuple[int, ...]) -> Many:
    return Many(m, op(x.rows, shape=(m.count, *shape)))


def _broadcast(m: ManyRows, op: Callable[..., Any], x: Many, shape: tuple[int, ...]) -> Many:
    return Many(m, op(m.aligned(x, len(shape)), shape=(m.count, *shape)))


def _transpose(m: ManyRows, op: Callable[..., Any], x: Many, order: tuple[int, ...]) -> Many:
    return Many(m, op(x.rows, order=(0, *(place + 1 for place in order))))


def _sum(m: ManyRows, op: Callable[..., Any], x: Many, axes: tuple[int, ...]) -> Many:
    return Many(m, op(x.rows, axes=tuple(axis % x.ndim + 1 for axis in axes)))


_TOGETHER: dict[str, Callable[..., Many]] = {
    "select": _entrywise,
    "matmul": _entrywise,  # of matrices: leading axes broadcast as those of entries do
    "conj": _entrywise,
    "real": _entrywise,
    "imag": _entrywise,
    "complex": _entrywise,
    "reshape": _reshape,
    "broadcast": _broadcast,
    "transpose": _transpose,
    "sum": _sum,
}


def pull_back_rows(run: Run, target: int, weights: Array, wrt: Sequence[int]) -> list[Any]:
    """Gradients of the entries of a node under each of the weights: one more axis in front, which counts these."""
    m = ManyRows(run.m, len(weights))
    seed = Many(m, run.m.literal(weights))
    found = pull_back(Run(run.program, m, run.values), {target: seed}, wrt)
    return [
        one.rows
        if isinstance(one := found.get(id), Many)
        else run.m.zeros((len(weights), *run.program[id].shape))
        for id in wrt
    ]
