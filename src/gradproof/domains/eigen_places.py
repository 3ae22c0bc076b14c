"""Which eigenvalue of a matrix is which, and which multiple of its vector was picked: facts of a run, as integers."""

from __future__ import annotations

from typing import Any

import numpy as np

BITS = 50  # of where a value is: float64's, as far as integers hold them


def places_of(values: np.ndarray[Any, Any], vectors: np.ndarray[Any, Any]) -> tuple[Any, Any]:
    """What tells these values and vectors from all others that the matrix might have been given."""
    n = vectors.shape[-1]
    rows = np.argmax(np.abs(vectors), axis=-2)[..., None, :]
    component = np.take_along_axis(vectors, rows, axis=-2)[..., 0, :]
    finite = np.where(np.isfinite(values), values, 0).astype(np.complex128)
    exponents = np.frexp(np.abs(finite))[1] - BITS
    parts = [np.rint(np.ldexp(part, -exponents)) for part in (finite.real, finite.imag)]
    signs = np.where(component.real < 0, -1, 1)
    places = np.stack([signs, *parts, exponents], axis=-2).astype(np.int64)
    return np.arange(n)[:, None] == rows, places


def values_near(places: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The values that the places tell of."""
    real, imaginary, exponents = np.moveaxis(places[..., 1:, :], -2, 0)
    parts = (np.ldexp(part.astype(float), exponents) for part in (real, imaginary))
    return np.asarray(next(parts) + 1j * next(parts))


def nearest(found: Any, wanted: Any) -> list[int]:
    """For each of the wanted numbers another one of those that were found, the closest pairs first."""
    apart = np.abs(np.subtract.outer(np.asarray(wanted), np.asarray(found)))
    order = [0] * len(apart)
    for flat in np.argsort(apart, axis=None, kind="stable"):
        row, column = np.unravel_index(flat, apart.shape)
        if apart[row, column] < np.inf:
            order[int(row)] = int(column)
            apart[row, :] = apart[:, column] = np.inf
    return order
