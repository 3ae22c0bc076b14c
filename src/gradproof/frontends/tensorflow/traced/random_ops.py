"""The numbers that random ops drew inside a function, where no output shows them.

Such an op has a generator of its own that lives as long as the function does. With a seed its numbers follow from
how often it has drawn, and how many each time: a copy of the op, run as often, draws the same ones. How many it
drew in runs that nobody looked at is a guess, which has to be confirmed by what the function returned and left in
its variables. Without a seed the numbers cannot be known, unless the function returned them or what was made of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from tensorflow.python.eager import context
from tensorflow.python.framework import ops as tf_ops
from tensorflow.python.framework.func_graph import FuncGraph
from tensorflow.python.ops import array_ops

from gradproof.frontends.record.patches import Patch, wrap
from gradproof.frontends.tensorflow.traced.repeatable import has_seed, is_random
from gradproof.frontends.tensorflow.traced.rerun import Clone, clone
from gradproof.frontends.tensorflow.values import UnknownTensor

MAX_REPLAYS = 10_000  # at some 50 microseconds each the wait stays below a second
AGREEMENT = 1e-2  # other numbers give another result altogether; rounding in another mode does not

# An op by its name and the calls that led to it: each call of a function has generators of its own.
Place: TypeAlias = tuple[int | str, ...]


@dataclass(eq=False)
class _Generator:
    """A copy of one random op, how often it has drawn, and how often it does so in one run of its function."""

    copy: Clone
    n_drawn: int = 0
    per_run: int = 1
    latest: Sequence[Any] = ()

    def draw(self, inputs: Sequence[Any]) -> list[Any]:
        self.n_drawn += 1
        self.latest = inputs
        return self.copy.run(inputs)


@dataclass(eq=False)
class Draws:
    """The random ops of one run of a function: `n_before` runs have been before it."""

    generators: dict[Place, _Generator]
    n_before: int
    n_drawn: dict[Place, int] = field(default_factory=dict)

    def draw(self, place: Place, operation: Any, inputs: Sequence[Any]) -> list[Any] | None:
        """What an op drew, None where that cannot be repeated."""
        if not has_seed(operation):
            return None
        generator = self.generators.get(place)
        if generator is None:
            generator = self.generators[place] = _Generator(_alone(operation))
        before = self.n_before * generator.per_run + self.n_drawn.get(place, 0)
        if not generator.n_drawn <= before <= generator.n_drawn + MAX_REPLAYS:
            return None
        unseen = generator.latest or inputs
        while generator.n_drawn < before:
            generator.draw(unseen)
        self.n_drawn[place] = self.n_drawn.get(place, 0) + 1
        return generator.draw(inputs)

    def close(self) -> None:
        """At the end of the run: the next ones are taken to draw as often."""
        for place, n in self.n_drawn.items():
            self.generators[place].per_run = n


class RandomOps:
    """How often each function has run since its generators began, and copies of these."""

    def __init__(self) -> None:
        self._born = tf_ops.uid()
        self._executions: dict[bytes, int] = {}
        self._generators: dict[bytes, dict[Place, _Generator]] = {}
        self._repeatable: dict[bytes, bool] = {}

    def patches(self) -> list[Patch]:
        return [wrap(context.Context, "_set_global_seed", self._set_seed)]

    def _set_seed(self, original: Any, *args: Any) -> Any:
        """A new global seed makes TensorFlow forget the state of every generator."""
        self._executions.clear()
        self._generators.clear()
        return original(*args)

    def count(self, function: Any) -> None:
        name = function.name
        self._executions[name] = self._executions.get(name, 0) + 1

    def draws(self, function: Any, graphs: Callable[[], Sequence[Any]]) -> Draws | None:
        """For the latest run of a function, if it has ops that depend on their seeds alone and is no older than we."""
        name = function.name
        if name not in self._repeatable:
            self._repeatable[name] = self._has_seeded(graphs())
        if not self._repeatable[name]:
            return None
        return Draws(self._generators.setdefault(name, {}), self._executions.get(name, 1) - 1)

    def _has_seeded(self, graphs: Sequence[Any]) -> bool:
        operations = [one for graph in graphs for one in graph.get_operations()]
        first = min((out._id for one in operations for out in one.outputs), default=0)
        return first >= self._born and any(is_random(one) and has_seed(one) for one in operations)


def _alone(operation: Any) -> Clone:
    """A function of one op."""
    graph = FuncGraph("gradproof_random")
    with graph.as_default():
        graph.inputs = [array_ops.placeholder(one.dtype) for one in operation.inputs]
        copy = graph._create_op_internal(
            operation.type,
            graph.inputs,
            [out.dtype for out in operation.outputs],
            attrs={attr.name: operation.node_def.attr[attr.name] for attr in operation.op_def.attr},
        )
    return clone(graph, copy.outputs, (), xla=False)


def agree(interpreted: Sequence[Any], real: Sequence[Any]) -> bool:
    """Whether a repetition gave what the user's run gave: the proof that the same numbers were drawn."""
    for mine, theirs in zip(interpreted, real):
        if isinstance(mine, UnknownTensor) or mine is None or not theirs.dtype.is_floating:
            continue
        ours, true = np.asarray(mine._numpy_internal(), float), np.asarray(theirs._numpy_internal(), float)
        scale = np.abs(true).max(initial=0.0)
        if not np.allclose(ours, true, rtol=AGREEMENT, atol=AGREEMENT * scale, equal_nan=True):
            return False
    return True
