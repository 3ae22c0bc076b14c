"""What devices tell each other, each as a function of what all of them have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import jax.numpy as jnp


def _sum(params: Any, parts: Sequence[Any]) -> Any:
    return reduce(jnp.add, parts)


def _gathered(params: Any, parts: Sequence[Any]) -> Any:
    axis = params["all_gather_dimension"]
    return jnp.concatenate(parts, axis) if params["tiled"] else jnp.stack(parts, axis)


def _sent(params: Any, parts: Sequence[Any]) -> list[Any]:
    sources = {end: begin for begin, end in params["perm"]}
    return [parts[sources[k]] if k in sources else jnp.zeros_like(parts[k]) for k in range(len(parts))]


def _exchanged(params: Any, parts: Sequence[Any]) -> list[Any]:
    """Every device gets its share of what each of the others has, and puts them in a row."""
    split, along = params["split_axis"], params["concat_axis"]
    shares = [jnp.split(part, len(parts), split) for part in parts]
    return [jnp.concatenate([share[k] for share in shares], along) for k in range(len(parts))]


def _scattered(params: Any, parts: Sequence[Any]) -> list[Any]:
    axis = params["scatter_dimension"]
    shares = jnp.split(reduce(jnp.add, parts), len(parts), axis)
    return shares if params["tiled"] else [jnp.squeeze(share, axis) for share in shares]


TOLD: dict[str, Callable[[Any, Sequence[Any]], Any]] = {
    "psum": _sum,
    "psum_invariant": _sum,
    "pvary": lambda params, parts: list(parts),
    "pmax": lambda params, parts: reduce(jnp.maximum, parts),
    "pmin": lambda params, parts: reduce(jnp.minimum, parts),
    "all_gather": _gathered,
    "all_gather_invariant": _gathered,
    "ppermute": _sent,
    "all_to_all": _exchanged,
    "reduce_scatter": _scattered,
    "axis_index": lambda params, parts: [jnp.int32(k) for k in range(len(parts))],
}
"""What devices tell each other, by the name of the primitive: one result for all, or a list with one for each."""
