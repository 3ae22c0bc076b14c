"""Decisions about order: which entry is largest, in which order they come, between which two a number lies.

The results are places; `take_along` fetches the numbers, so max, min, sort, top-k and median are a decision
and a gather.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.ops._margin import least, least_of, midpoint, without_self
from gradproof.ops._op import Sample, op

_MATRIX = ((1.0, 2.0, -7.0, 2.0), (0.5, 4.0, 3.0, -1.0))


def _signed(x: Any, descending: bool) -> Any:
    return -x if descending else x


def _arg_extreme(name: str, largest: bool) -> None:
    """The place of the first largest (or smallest) entry along an axis."""

    def forward(m: Any, x: Any, axis: int) -> Any:
        return np.asarray((np.argmax if largest else np.argmin)(midpoint(m, x), axis=axis), np.int64)

    def margin(m: Any, y: Any, x: Any, axis: int, alike: Any = None) -> Any:
        places = np.expand_dims(y, axis)
        winner = m.take_along(x, places, axis=axis)
        lead = m.sub(winner, x) if largest else m.sub(x, winner)
        own = np.zeros(x.shape, bool)
        np.put_along_axis(own, places, True, axis)
        if alike is not None:
            own |= alike == np.take_along_axis(alike, places, axis)
        return least(m, without_self(m, lead, own), axis)

    def decide_near(y: Any, xs: Any, xs_dot: Any, axis: int) -> Any:
        x, x_dot = _signed(xs[0], not largest), _signed(xs_dot[0], not largest)
        first = x == np.max(x, axis=axis, keepdims=True)
        fastest = np.max(np.where(first, x_dot, -np.inf), axis=axis, keepdims=True)
        first &= x_dot == fastest
        stays = np.take_along_axis(first, np.expand_dims(y, axis), axis).squeeze(axis)
        return np.where(stays, y, np.argmax(first, axis=axis))

    samples = (Sample((_MATRIX,), {"axis": 1}), Sample((_MATRIX,), {"axis": 0}))
    op(
        name,
        forward=forward,
        margin=margin,
        decide_near=decide_near,
        compares="line",
        knows_alike=True,
        samples=samples,
    )


_arg_extreme("argmax", largest=True)
_arg_extreme("argmin", largest=False)


def _order(x: Any, axis: int, descending: bool) -> Any:
    # Equal entries keep their order also in descending sorts.
    x = x.astype(np.int64) if x.dtype.kind in "bu" else x
    return np.argsort(_signed(x, descending), axis=axis, kind="stable")


def _neighbour_margin(m: Any, in_order: Any, axis: int, descending: bool) -> Any:
    """For each entry of a sorted axis, the smaller of the distances to the one before and the one after."""
    n = in_order.shape[axis]
    places = np.arange(n)
    after = m.take(in_order, np.minimum(places + 1, n - 1), axis=axis)
    before = m.take(in_order, np.maximum(places - 1, 0), axis=axis)
    gap_after, gap_before = m.sub(after, in_order), m.sub(in_order, before)
    if descending:
        gap_after, gap_before = m.neg(gap_after), m.neg(gap_before)
    along = [1] * in_order.ndim
    along[axis] = n
    gap_after = without_self(m, gap_after, (places == n - 1).reshape(along))
    return least_of(m, gap_after, without_self(m, gap_before, (places == 0).reshape(along)))


def _argsort_margin(m: Any, y: Any, x: Any, axis: int, descending: bool = False) -> Any:
    return _neighbour_margin(m, m.take_along(x, y, axis=axis), axis, descending)


def _order_near(rank: Any, x: Any, x_dot: Any, axis: int, descending: bool) -> Any:
    """The order by value, then by tangent; what both leave equal stays in the order of `rank`."""
    return np.lexsort((rank, _signed(x_dot, descending), _signed(x, descending)), axis=axis)


def _argsort_near(y: Any, xs: Any, xs_dot: Any, axis: int, descending: bool = False) -> Any:
    rank = np.argsort(y, axis=axis)
    return _order_near(rank, xs[0], xs_dot[0], axis, descending)


op(
    "argsort",
    forward=lambda m, x, axis, descending=False: _order(midpoint(m, x), axis, descending),
    margin=_argsort_margin,
    decide_near=_argsort_near,
    compares="line",
    samples=(Sample((_MATRIX,), {"axis": 1}), Sample((_MATRIX,), {"axis": 0, "descending": True})),
)


def _first_k(x: Any, k: int, axis: int) -> Any:
    return np.take(x, np.arange(k), axis=axis)


def _top_k_margin(m: Any, y: Any, x: Any, k: int, axis: int) -> Any:
    """Among the chosen as in a sort; the last of them also against all that were not chosen."""
    chosen = m.take_along(x, y, axis=axis)
    inner = _neighbour_margin(m, chosen, axis, descending=True)
    taken = np.zeros(x.shape, bool)
    np.put_along_axis(taken, y, True, axis)
    last = m.take(chosen, np.asarray([k - 1]), axis=axis)
    cut = least(m, without_self(m, m.sub(last, x), taken), axis)
    cut = m.broadcast(m.reshape(cut, shape=tuple(last.shape)), shape=tuple(chosen.shape))
    along = [1] * x.ndim
    along[axis] = k
    return least_of(m, inner, without_self(m, cut, (np.arange(k) < k - 1).reshape(along)))


def _top_k_near(y: Any, xs: Any, xs_dot: Any, k: int, axis: int) -> Any:
    length = xs[0].shape[axis]
    along = [1] * xs[0].ndim
    along[axis] = length
    # Those not chosen come after the chosen ones, in their own order.
    rank = np.array(np.broadcast_to(np.arange(k, k + length).reshape(along), xs[0].shape))
    along[axis] = k
    np.put_along_axis(rank, y, np.broadcast_to(np.arange(k).reshape(along), y.shape), axis)
    return _first_k(_order_near(rank, xs[0], xs_dot[0], axis, descending=True), k, axis)


op(
    "top_k",  # places of the k largest, the largest first
    forward=lambda m, x, k, axis: _first_k(_order(midpoint(m, x), axis, descending=True), k, axis),
    margin=_top_k_margin,
    decide_near=_top_k_near,
    compares="line",
    samples=(Sample((_MATRIX,), {"k": 2, "axis": 1}), Sample((_MATRIX,), {"k": 1, "axis": 0})),
)


def _facing(edges: Any, x: Any) -> tuple[Any, Any]:
    """Edges and numbers in shapes that broadcast to (..., number, edge); one row of edges serves all."""
    if edges.ndim == 1:
        return edges, x.reshape(*x.shape, 1)
    return edges.reshape(*edges.shape[:-1], 1, edges.shape[-1]), x.reshape(*x.shape, 1)


def _searchsorted(m: Any, edges: Any, x: Any, side: str = "left") -> Any:
    """How many edges lie before each number: below it, with side "right" also equal to it."""
    edge, number = _facing(midpoint(m, edges), midpoint(m, x))
    return np.sum(edge < number if side == "left" else edge <= number, axis=-1, dtype=np.int64)


def _searchsorted_margin(m: Any, y: Any, edges: Any, x: Any, side: str = "left") -> Any:
    shapes = [part.shape for part in _facing(np.empty(edges.shape), np.empty(x.shape))]
    lead = m.sub(m.reshape(x, shape=shapes[1]), m.reshape(edges, shape=shapes[0]))
    passed = np.arange(edges.shape[-1]) < np.asarray(y)[..., None]
    if not edges.shape[-1]:
        return m.add(m.zeros(np.shape(y)), 1)
    return least(m, m.select(passed, lead, m.neg(lead)), axis=-1)


def _searchsorted_near(y: Any, xs: Any, xs_dot: Any, side: str = "left") -> Any:
    edge, number = _facing(xs[0], xs[1])
    edge_dot, number_dot = _facing(xs_dot[0], xs_dot[1])
    passes = edge_dot < number_dot if side == "left" else edge_dot <= number_dot
    return np.sum((edge < number) | ((edge == number) & passes), axis=-1, dtype=np.int64)


op(
    "searchsorted",
    forward=_searchsorted,
    margin=_searchsorted_margin,
    decide_near=_searchsorted_near,
    compares="all",
    samples=(
        Sample(((-1.0, 0.5, 2.0), (0.25, 0.5, 9.0))),
        Sample((((-1.0, 0.5), (0.0, 3.0)), ((0.25,), (3.0,))), {"side": "right"}),
    ),
)
