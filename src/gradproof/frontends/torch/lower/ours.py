"""Events of ours: views of memory that was changed, leaves that were moved, results that are handed on."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradproof.frontends.torch.lower._table import lower


def _flat(m: Any, x: Any) -> Any:
    return m.reshape(x, shape=(math.prod(x.shape),))


@lower("gradproof.Gather")
def _gather(m: Any, e: Any, x: Any) -> Any:
    return m.take(_flat(m, x), np.asarray(e.attrs["places"]), axis=0)


@lower("gradproof.Write")
def _write(m: Any, e: Any, x: Any, part: Any) -> Any:
    places = np.asarray(e.attrs["places"]).reshape(-1, 1)
    return m.reshape(m.scatter_update(_flat(m, x), places, _flat(m, part)), shape=x.shape)


@lower("gradproof.Moved")
def _moved(m: Any, e: Any, x: Any) -> Any:
    """A leaf whose numbers were replaced is the leaf and what was added to it."""
    now = np.asarray(e.outputs[0].array)
    if now.dtype.kind in "biu" or np.array_equal(now, x.value, equal_nan=True):
        return m.identity(x)
    wide = np.complex128 if np.iscomplexobj(now) else np.float64
    return m.add(x, m.constant(now.astype(wide) - x.value.astype(wide)))


@lower("gradproof.PassOn")
def _pass_on(m: Any, e: Any, x: Any) -> Any:
    return m.identity(x)
