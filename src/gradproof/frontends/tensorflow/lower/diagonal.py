"""Diagonals and bands of matrices: read, written, or made into matrices."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from gradproof.frontends.tensorflow.lower._table import ints, lower


class _Layout(NamedTuple):
    """Diagonals `low` to `high` of matrices of a size, kept as rows of equal length, the uppermost first."""

    low: int
    high: int
    rows: int
    columns: int
    left_above: bool
    left_below: bool

    def length(self, diagonal: int) -> int:
        return min(self.rows + min(diagonal, 0), self.columns - max(diagonal, 0))

    @property
    def longest(self) -> int:
        return min(self.rows + min(self.high, 0), self.columns - max(self.low, 0))

    def offset(self, diagonal: int) -> int:
        """Where the entries of a diagonal begin in its row: on the left, or as far right as they go."""
        left = (diagonal >= 0 and self.left_above) or (diagonal <= 0 and self.left_below)
        return 0 if left else self.longest - self.length(diagonal)

    def origin(self) -> Any:
        """(rows, columns): the flat place among the diagonals that holds an entry, -1 for none."""
        places = np.full((self.rows, self.columns), -1)
        for diagonal in range(self.low, self.high + 1):
            along = np.arange(self.length(diagonal))
            row, column = along + max(-diagonal, 0), along + max(diagonal, 0)
            places[row, column] = (self.high - diagonal) * self.longest + self.offset(diagonal) + along
        return places


def _layout(event: Any, k: Any, rows: int, columns: int) -> _Layout:
    bounds = ints(k)
    above, below = str(event.attrs.get("align", "LEFT_LEFT")).split("_")
    return _Layout(bounds[0], bounds[-1], rows, columns, above == "LEFT", below == "LEFT")


def _flat(m: Any, x: Any, n_axes: int) -> Any:
    return m.reshape(x, shape=(*x.shape[: x.ndim - n_axes], math.prod(x.shape[x.ndim - n_axes :])))


def _with_padding(m: Any, flat: Any, padding: Any) -> Any:
    """Entries, and one more behind them that stands for what no entry fills."""
    fill = m.broadcast(m.reshape(padding, shape=(1,) * flat.ndim), shape=(*flat.shape[:-1], 1))
    return m.concat(flat, fill, axis=flat.ndim - 1)


@lower("MatrixDiagV2", "MatrixDiagV3")
def _from_diagonals(m: Any, event: Any, x: Any, k: Any, rows: Any, columns: Any, padding: Any) -> Any:
    shape = event.outputs[0].shape
    layout = _layout(event, k, *shape[-2:])
    flat = _flat(m, x, 1 if layout.low == layout.high else 2)
    origin = layout.origin()
    places = np.where(origin < 0, flat.shape[-1], origin)
    return m.take(_with_padding(m, flat, padding), places, axis=flat.ndim - 1)


@lower("MatrixDiagPartV2", "MatrixDiagPartV3")
def _diagonals(m: Any, event: Any, x: Any, k: Any, padding: Any) -> Any:
    rows, columns = x.shape[-2:]
    layout = _layout(event, k, rows, columns)
    origin = layout.origin().reshape(-1)
    flat = _flat(m, x, 2)
    places = np.full((layout.high - layout.low + 1) * layout.longest, rows * columns)
    places[origin[origin >= 0]] = np.flatnonzero(origin >= 0)
    parts = m.take(_with_padding(m, flat, padding), places, axis=flat.ndim - 1)
    return m.reshape(parts, shape=event.outputs[0].shape)


@lower("MatrixSetDiagV2", "MatrixSetDiagV3")
def _set_diagonals(m: Any, event: Any, x: Any, diagonals: Any, k: Any) -> Any:
    rows, columns = x.shape[-2:]
    layout = _layout(event, k, rows, columns)
    return _replaced(m, x, diagonals, layout.origin(), 1 if layout.low == layout.high else 2)


@lower("MatrixSetDiag")
def _set_diagonal(m: Any, event: Any, x: Any, diagonal: Any) -> Any:
    rows, columns = x.shape[-2:]
    return _replaced(m, x, diagonal, _Layout(0, 0, rows, columns, True, True).origin(), 1)


def _replaced(m: Any, x: Any, diagonals: Any, origin: Any, n_axes: int) -> Any:
    """`x` with the entries that the diagonals name put in place of its own."""
    old, new = _flat(m, x, 2), _flat(m, diagonals, n_axes)
    own = np.arange(origin.size).reshape(origin.shape)
    places = np.where(origin < 0, own, origin.size + origin)
    return m.take(m.concat(old, new, axis=old.ndim - 1), places, axis=old.ndim - 1)


@lower("MatrixDiag")
def _matrix_diag(m: Any, event: Any, x: Any) -> Any:
    return m.diag(x, rows=x.shape[-1], columns=x.shape[-1])


@lower("MatrixDiagPart")
def _matrix_diag_part(m: Any, event: Any, x: Any) -> Any:
    return m.diag_part(x)


@lower("Diag")
def _diag(m: Any, event: Any, x: Any) -> Any:
    """A tensor of any rank on the diagonal of one of twice the rank."""
    n = math.prod(x.shape)
    return m.reshape(m.diag(m.reshape(x, shape=(n,)), rows=n, columns=n), shape=event.outputs[0].shape)


@lower("DiagPart")
def _diag_part(m: Any, event: Any, x: Any) -> Any:
    n = math.prod(event.outputs[0].shape)
    return m.reshape(m.diag_part(m.reshape(x, shape=(n, n))), shape=event.outputs[0].shape)


@lower("MatrixBandPart")
def _band_part(m: Any, event: Any, x: Any, below: Any, above: Any) -> Any:
    return m.band(x, lower=ints(below)[0], upper=ints(above)[0])
