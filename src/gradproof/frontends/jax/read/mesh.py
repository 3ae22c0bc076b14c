"""The devices of a mesh, and arrays that are cut up among them and put together again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from jax import lax

from gradproof.frontends.jax.read.where import Where
from gradproof.frontends.record.model import Value

if TYPE_CHECKING:
    from gradproof.frontends.jax.read.interpret import JaxprInterpreter

Copies = tuple[Value, ...]  # one for each device


@dataclass(frozen=True)
class Devices:
    """The devices along the axes of a mesh that a function names; `is_typed` where types say who shares what."""

    names: tuple[str, ...]
    shape: tuple[int, ...]
    is_typed: bool

    @cached_property
    def coordinates(self) -> list[tuple[int, ...]]:
        return list(product(*map(range, self.shape)))

    def along(self, axes: Sequence[str], place: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(place[self.names.index(axis)] for axis in axes)

    def groups(self, axes: Sequence[str]) -> list[list[int]]:
        """The devices that differ along some axes only, in the order of these."""
        rest = [axis for axis in self.names if axis not in axes]
        found: dict[tuple[int, ...], list[int]] = {}
        for k in sorted(range(len(self.coordinates)), key=lambda k: self.along(axes, self.coordinates[k])):
            found.setdefault(self.along(rest, self.coordinates[k]), []).append(k)
        return list(found.values())

    def own(self, aval: Any) -> list[tuple[int, ...]]:
        """For each device what tells it from those that share a value with it."""
        varying = aval.mat.varying if self.is_typed and hasattr(aval, "mat") else self.names
        return [self.along([axis for axis in self.names if axis in varying], one) for one in self.coordinates]


def _axes_of(spec: Any) -> list[tuple[str, ...]]:
    """For each dimension the axes of the mesh that it is cut along."""
    return [() if one is None else one if isinstance(one, tuple) else (one,) for one in spec]


def cut_up(run: JaxprInterpreter, x: Value, spec: Any, devices: Devices, where: Where) -> Copies:
    axes = _axes_of(spec)
    known: dict[tuple[tuple[int, int], ...], Value] = {}

    def part(place: tuple[int, ...]) -> Value:
        shape = x.shape or ()
        bounds = [(0, n) for n in shape]
        for dimension, names in enumerate(axes):
            sizes = [devices.shape[devices.names.index(name)] for name in names]
            length = shape[dimension] // math.prod(sizes)
            k = int(np.ravel_multi_index(devices.along(names, place), sizes)) if names else 0
            bounds[dimension] = (k * length, (k + 1) * length)
        key = tuple(bounds)
        if key not in known:
            begin, end = (tuple(one[side] for one in bounds) for side in (0, 1))
            attrs = {"start_indices": begin, "limit_indices": end, "strides": None}
            is_whole = end == shape and not any(begin)
            known[key] = x if is_whole else run.execute(lax.slice_p, attrs, [x], None, where)[0]
        return known[key]

    return tuple(map(part, devices.coordinates))


def put_together(run: JaxprInterpreter, copies: Copies, spec: Any, devices: Devices, where: Where) -> Value:
    parts = dict(zip(devices.coordinates, copies))
    for dimension, names in enumerate(_axes_of(spec)):
        for name in reversed(names):
            k, joined = devices.names.index(name), {}
            for place in [place for place in parts if place[k] == 0]:
                row = [parts[(*place[:k], i, *place[k + 1 :])] for i in range(devices.shape[k])]
                attrs = {"dimension": dimension}
                joined[place] = run.execute(lax.concatenate_p, attrs, row, None, where)[0]
            parts = joined
    return parts[(0,) * len(devices.names)]
