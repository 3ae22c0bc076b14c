"""Our own steps between what JAX returned and what was asked for."""

from __future__ import annotations

from typing import Any

from gradproof.frontends.jax.lower._table import lower


def moved_axis(m: Any, x: Any, source: int, place: int) -> Any:
    """`x` with one axis moved to another place; the others keep their order."""
    order = [axis for axis in range(x.ndim) if axis != source]
    order.insert(place, source)
    return m.transpose(x, order=tuple(order)) if source != place else m.identity(x)


@lower("gradproof.rows")
def _rows(m: Any, event: Any, x: Any) -> Any:
    """Some rows of what a batched pullback returned."""
    axis, begin, end = (event.attrs[name] for name in ("axis", "begin", "end"))
    if axis is None:
        shape = (end - begin, *x.shape)
        return m.reshape(
            m.broadcast(m.reshape(x, shape=(1, *x.shape)), shape=shape), shape=event.outputs[0].shape
        )
    x = moved_axis(m, x, axis, 0)
    lead = (0,) * (x.ndim - 1)
    rows = m.strided_slice(x, begin=(begin, *lead), end=(end, *x.shape[1:]))
    return m.reshape(rows, shape=event.outputs[0].shape)


@lower("gradproof.line_up")
def _line_up(m: Any, event: Any, x: Any) -> Any:
    """A batch moved to the axis where its source has it."""
    source, result = event.attrs["source"], event.attrs["result"]
    if not source:
        return m.identity(x)
    if result:
        return moved_axis(m, x, result[0], source[0])
    shape = list(x.shape)
    shape.insert(source[0], 1)
    return m.broadcast(m.reshape(x, shape=tuple(shape)), shape=event.outputs[0].shape)


@lower("gradproof.columns")
def _columns(m: Any, event: Any, x: Any) -> Any:
    """Some columns of what forward mode returned for all unit vectors at once."""
    axis, begin, end = (event.attrs[name] for name in ("axis", "begin", "end"))
    if axis is None:
        wide = m.broadcast(m.reshape(x, shape=(*x.shape, 1)), shape=(*x.shape, end - begin))
        return m.reshape(wide, shape=event.outputs[0].shape)
    x = moved_axis(m, x, axis, x.ndim - 1)
    lead = tuple(x.shape[:-1])
    columns = m.strided_slice(x, begin=(*(0,) * len(lead), begin), end=(*lead, end))
    return m.reshape(columns, shape=event.outputs[0].shape)
