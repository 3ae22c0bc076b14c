"""Sorting and choosing by size: the decision names places, and the numbers are fetched from them."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.frontends.tensorflow.lower._table import ints, lower


@lower("TopKV2")
def _top_k(m: Any, event: Any, x: Any, k: Any) -> Any:
    places = m.top_k(x, k=ints(k)[0], axis=x.ndim - 1)
    return m.take_along(x, places, axis=x.ndim - 1), places


@lower("NthElement")
def _nth_element(m: Any, event: Any, x: Any, n: Any) -> Any:
    order = m.argsort(x, axis=x.ndim - 1, descending=bool(event.attrs.get("reverse", False)))
    place = m.take(order, np.asarray([ints(n)[0]]), axis=x.ndim - 1)
    return m.reshape(m.take_along(x, place, axis=x.ndim - 1), shape=event.outputs[0].shape)


@lower("LowerBound", "UpperBound")
def _bound(m: Any, event: Any, edges: Any, x: Any) -> Any:
    return m.searchsorted(edges, x, side="left" if event.op == "LowerBound" else "right")
