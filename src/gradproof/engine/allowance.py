"""How far what an op returned may lie from its exact meaning: the roundings that floating point is entitled to.

An op that computes with `k` roundings returns the exact result for inputs that are off by at most `k` roundings each,
itself rounded `k` times: so its inputs are widened by that much, the exact meaning is taken of all of them at once, and
the result must lie in what comes out. That holds whatever the condition of the op.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradproof.ir import types
from gradproof.ir.program import Node
from gradproof.ir.types import Array
from gradproof.ops import TABLE

# Libraries promise elementary functions to a few units in the last place, of their arguments' reduction too.
ELEMENTARY = 16
# Series and fits of special functions are right to half of their digits; another function would not be.
SPECIAL = frozenset({
    "bessel_i", "bessel_i_scaled", "bessel_j", "bessel_k", "bessel_k_scaled", "bessel_y", "lgamma", "gamma", "digamma",
    "polygamma", "lbeta", "igamma", "igammac", "gamma_density", "igamma_da", "betainc", "beta_density", "betainc_da",
    "betainc_db", "zeta", "zeta_ds", "erfinv", "erfcinv", "ndtri", "log_ndtr", "dawson", "expint", "exp1", "erfcx",
    "fresnel_sin", "fresnel_cos", "sin_integral", "cos_integral", "spence", "hyp0f1", "hyp1f1", "hyp2f1",
})  # fmt: skip
# Factorisations and what is built on them are stable as a whole: off by roundings of the largest entry, not of each.
WHOLE = frozenset({
    "solve", "triangular_solve", "inverse", "det", "log_abs_det", "adjugate", "cholesky", "lstsq", "pinv", "sylvester",
    "matrix_sqrt", "matrix_exp", "fft", "ifft", "rfft", "rfft_transposed", "irfft",
})  # fmt: skip


def share(node: Node, values: Sequence[Any]) -> float:
    """The relative error that every input, and the result, of an op may have."""
    dtypes = [node.dtype, *(types.dtype_name(x) for x in values)]
    unit = max(types.unit_roundoff(dtype) for dtype in dtypes if not types.is_discrete(dtype))
    if node.op in SPECIAL:
        return float(np.sqrt(unit))
    return min(0.5, (ELEMENTARY + _terms(node, values)) * unit)


def _terms(node: Node, values: Sequence[Any]) -> float:
    """How many numbers are added up into one entry of the result, at most, in whatever order."""
    if TABLE[node.op].slopes is not None or TABLE[node.op].moves_only:
        return 0
    sizes = [int(np.size(x)) for x in values]
    if node.op == "matmul":
        return float(np.shape(values[0])[-1])
    if node.op in ("sum", "mean", "sum_to"):
        return sizes[0] / max(1, int(np.prod(node.shape)))
    if node.op in ("convolution", "convolution_transposed"):
        return float(sizes[1])
    return float(max(sizes, default=0))


def smallest(node: Node, values: Sequence[Any]) -> float:
    """What results and inputs may lose at the lower end of a dtype, where devices flush to zero."""
    dtypes = [node.dtype, *(types.dtype_name(x) for x in values)]
    real = [_LEAST.get(dtype, dtype) for dtype in dtypes if not types.is_discrete(dtype)]
    least = max(float(np.finfo(np.float32 if name == "bfloat16" else name).tiny) for name in real)
    return least * (1.0 + _terms(node, values))


_LEAST = {"complex64": "float32", "complex128": "float64"}


def width(node: Node, x: Array, share: float, tiny: float) -> Array:
    """By how much an input is widened: roundings of each entry, or of the largest; zero is exact."""
    size = np.abs(np.asarray(x, np.complex128 if np.iscomplexobj(x) else np.float64))
    if node.op in WHOLE:
        return np.full(size.shape, share * float(np.max(size, initial=0.0)))
    return np.asarray(share * size + np.where((size > 0.0) & (size < tiny), tiny, 0.0))
