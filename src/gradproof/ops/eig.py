"""Eigenvalues of matrices that need not be symmetric, with their vectors.

In which order a library returns them is a fact of the run, and so is the multiple of a vector that it picks: it has
length 1, and its largest component is a real number, of either sign. Both are inputs: `chosen` is true at that
component of every vector, `places`, integers of shape (..., 4, n), are its sign and about where the value is.

The derivatives divide by differences of values: where two coincide there is none.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.domains.eigen_places import places_of
from gradproof.ops._op import COMPLEX, Sample, op
from gradproof.ops.eigen import off_diagonal_quotient
from gradproof.ops.linalg import adjoint
from gradproof.ops.reduce import kept


def _pullback(m: Any, i: int, gy: Any, y: Any, a: Any, chosen: Any, places: Any) -> Any:
    """A change of a vector along itself is undone by its length, and by its component that stays real."""
    (values, vectors), (g_values, g_vectors) = y, gy
    n = values.shape[-1]

    def of_columns(x: Any) -> Any:
        axes = (x.ndim - 2,)
        return m.reshape(m.sum(x, axes=axes), shape=kept(x.shape, axes))

    along = of_columns(m.mul(m.conj(g_vectors), vectors))
    component = m.real(of_columns(m.select(chosen, vectors, m.zeros(()))))
    turned = m.select(chosen, m.div(m.imag(along), component), m.zeros(()))
    g_vectors = m.sub(g_vectors, m.mul(m.complex(m.real(along), m.zeros(tuple(along.shape))), vectors))
    g_vectors = m.add(g_vectors, m.complex(m.zeros(tuple(turned.shape)), turned))
    inner = off_diagonal_quotient(m, m.matmul(adjoint(m, vectors), g_vectors), m.conj(values))
    inner = m.add(inner, m.diag(g_values, rows=n, columns=n))
    return m.solve(adjoint(m, vectors), m.matmul(inner, adjoint(m, vectors)))


def _sample(matrix: Any) -> Sample:
    matrix = np.asarray(matrix, complex)
    return Sample((matrix, *places_of(*np.linalg.eig(matrix))))


_SQUARE = ((4.0, 1.0, -0.5), (0.5, 3.0, 1.0), (-1.0, 0.25, 2.0))
_TURNING = ((0.5, -2.0), (1.0, 0.25))
_STACK = (((2.0, 7.0), (0.5, 3.0j)), ((1.0, -0.25j), (0.25, -1.5)))

# (values, vectors), in the order of the places.
op(
    "eig",
    pullback=_pullback,
    n_outputs=2,
    samples=(_sample(_SQUARE), _sample(_TURNING), _sample(_STACK)),
    kinds=COMPLEX,
)
