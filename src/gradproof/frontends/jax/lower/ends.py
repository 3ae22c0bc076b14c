"""Our own steps between what JAX returned and what was asked for."""

from __future__ import annotations

from typing import Any

from gradproof.frontends.jax.lower._table import lower


@lower("gradproof.arranged")
def _arranged(m: Any, event: Any, x: Any) -> Any:
    """The axes of what JAX returned in the order of what was asked for."""
    how = event.attrs["how"]
    if how.cut is not None:
        lead, rest = tuple(x.shape[: how.cut.axis]), tuple(x.shape[how.cut.axis + 1 :])
        begin = (*(0 for _ in lead), how.cut.begin, *(0 for _ in rest))
        x = m.strided_slice(x, begin=begin, end=(*lead, how.cut.end, *rest))
        x = m.reshape(x, shape=(*lead, *how.cut.shape, *rest))
    return m.broadcast(m.reshape(m.transpose(x, order=how.order), shape=how.wide), shape=how.shape)
