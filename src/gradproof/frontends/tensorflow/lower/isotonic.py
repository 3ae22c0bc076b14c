"""Isotonic regression: the falling sequence that is nearest to the numbers given, row by row."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.frontends.tensorflow.lower._table import lower
from gradproof.ir.types import Array

CLEAR = 2.0**10  # units in the last place between what is compared; nearer than this the blocks may be others


@lower("IsotonicRegression")
def _isotonic(m: Any, event: Any, x: Any) -> Any:
    """(result, blocks). Neighbours that would rise share one number, the mean of their block.

    Which belong together is a fact of the run, unless two of the means that decide it are as good as equal: then the
    slopes may differ from side to side, and nothing is said here.
    """
    n = x.shape[-1]
    segments = np.asarray(event.outputs[1].array).reshape(-1, n)
    values, gap = np.asarray(x.value, np.float64).reshape(-1, n), _gap(x)
    if not all(_is_clear(row, segment, gap) for row, segment in zip(values, segments)):
        raise NotImplementedError("blocks that are about to change")
    block = (segments + n * np.arange(len(values))[:, None]).reshape(-1)
    counts = np.bincount(block, minlength=values.size)
    sums = m.scatter_add(m.reshape(x, shape=(values.size,)), block, size=values.size)
    means = m.div(sums, m.literal(np.maximum(counts, 1).astype(np.float64)))
    return m.reshape(m.take(means, block, axis=0), shape=x.shape), m.constant(event.outputs[1].array)


def _gap(x: Any) -> float:
    dtype = np.asarray(x.value).dtype
    eps = float(np.finfo(dtype).eps) if dtype.kind == "f" and dtype.itemsize >= 4 else 2.0**-8
    return CLEAR * eps * float(np.abs(np.asarray(x.value, np.float64)).max(initial=0.0))


def _is_clear(row: Array, segment: Array, gap: float) -> bool:
    """Whether the means fall from block to block, and every beginning of a block lies below the block's mean."""
    cuts = np.flatnonzero(np.diff(segment)) + 1
    blocks = np.split(row, cuts)
    means = np.array([block.mean() for block in blocks if len(block)])
    falls = bool((-np.diff(means) > gap).all())
    starts = (np.cumsum(b)[:-1] / np.arange(1, len(b)) - b.mean() for b in blocks if len(b) > 1)
    return falls and all(bool((start < -gap).all()) for start in starts)
