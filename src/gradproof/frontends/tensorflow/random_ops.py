"""The numbers that random ops drew inside a function, where no output shows them.

Such an op has a generator of its own that lives as long as the function does. With a seed its numbers
follow from how often the function has run: a copy of just these ops, run as often, draws the same ones.
Without a seed they cannot be known, unless the function returned them or what was made of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from tensorflow.python.eager import context
from tensorflow.python.framework import ops as tf_ops

from gradproof.frontends.tensorflow.interpret import ancestors, is_random
from gradproof.frontends.tensorflow.patches import Patch, wrap
from gradproof.frontends.tensorflow.rerun import Clone, clone
from gradproof.frontends.tensorflow.values import Unknown

MAX_REPLAYS = 10_000  # at some 50 microseconds each the wait stays below a second
AGREEMENT = 1e-2  # other numbers give another result altogether; rounding in another mode does not


@dataclass(eq=False)
class _Shadow:
    """A copy of the seeded random ops of one function, and how often it has run."""

    symbols: list[Any]
    copy: Clone
    executions: int = 0
    latest: dict[int, Any] = field(default_factory=dict)


class RandomOps:
    """How often each function has run since its generators began, and the shadows that repeat them."""

    def __init__(self) -> None:
        self._born = tf_ops.uid()
        self._executions: dict[bytes, int] = {}
        self._shadows: dict[bytes, _Shadow | None] = {}

    def patches(self) -> list[Patch]:
        return [wrap(context.Context, "_set_global_seed", self._set_seed)]

    def _set_seed(self, original: Any, *args: Any) -> Any:
        """A new global seed makes TensorFlow forget the state of every generator."""
        self._executions.clear()
        self._shadows.clear()
        return original(*args)

    def count(self, function: Any) -> None:
        name = function.name
        self._executions[name] = self._executions.get(name, 0) + 1

    def drawn(self, function: Any, args: Sequence[Any], xla: bool) -> Mapping[int, Any]:
        """What the random ops of a function drew in its latest run, by the tensors of its graph."""
        name = function.name
        if name not in self._shadows:
            self._shadows[name] = None if xla else self._shadow_of(function.graph)
        shadow = self._shadows[name]
        if shadow is None or self._executions.get(name, 0) - shadow.executions > MAX_REPLAYS:
            return {}
        while shadow.executions < self._executions.get(name, 0):
            values = shadow.copy.run(args)
            shadow.latest = {symbol._id: value for symbol, value in zip(shadow.symbols, values)}
            shadow.executions += 1
        return shadow.latest

    def _shadow_of(self, graph: Any) -> _Shadow | None:
        """A shadow, if the ops depend on their seeds alone and the function is no older than this count."""
        operations = graph.get_operations()
        seeded = [
            one for one in operations if is_random(one) and (one.get_attr("seed") or one.get_attr("seed2"))
        ]
        inputs = {symbol.op.name for symbol in graph.inputs}
        needed = ancestors([symbol for one in seeded for symbol in one.inputs], ())
        first = next((out for one in operations for out in one.outputs), None)
        if not seeded or needed & inputs or first is None or first._id < self._born:
            return None
        symbols = [out for one in seeded for out in one.outputs]
        return _Shadow(symbols, clone(graph, symbols, (), xla=False))


def agree(interpreted: Sequence[Any], real: Sequence[Any]) -> bool:
    """Whether a repetition gave what the user's run gave: the proof that the same numbers were drawn."""
    for mine, theirs in zip(interpreted, real):
        if isinstance(mine, Unknown) or mine is None or not theirs.dtype.is_floating:
            continue
        ours, true = np.asarray(mine._numpy_internal(), float), np.asarray(theirs._numpy_internal(), float)
        scale = np.abs(true).max(initial=0.0)
        if not np.allclose(ours, true, rtol=AGREEMENT, atol=AGREEMENT * scale, equal_nan=True):
            return False
    return True
