"""A framework as one more number domain: what it has a function for it computes itself, the rest by definition.

The ops of a program are carried over to a framework one by one. Where it has no function for an op, the op's own
definition is used, which is written in terms of other ops; what only moves entries becomes a gather.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from gradproof.domains.ball_elementary import CONSTANTS
from gradproof.errors import GradproofError
from gradproof.ir.program import Node
from gradproof.ir.types import Array
from gradproof.ops import Arithmetic

# Ops in which a whole number takes the dtype of the tensor it meets; in others it is a place or a count.
_ARITHMETIC = frozenset({"add", "sub", "mul", "div", "power"})


class NoFunction(Exception):
    """A framework has no way to compute an op; the message is its name."""


class Emitted:
    """The domain of a framework's own tensors.

    `module` is the framework, `kernels` its functions by the name of the op, each called with the module, `constant`
    makes a tensor of an array, in the dtype of another tensor if one is given.
    """

    def __init__(
        self,
        name: str,
        module: Any,
        kernels: Mapping[str, Callable[..., Any]],
        constant: Callable[[Array, Any], Any],
    ) -> None:
        self.name, self.module, self.kernels, self.constant = name, module, kernels, constant

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in self.kernels:
            raise AttributeError(name)
        return partial(self._run, name)

    def _run(self, name: str, *xs: Any, **params: Any) -> Any:
        return self.kernels[name](self.module, *self._alike(xs, name in _ARITHMETIC), **params)

    def _alike(self, xs: Sequence[Any], is_arithmetic: bool = False) -> list[Any]:
        """Plain numbers as tensors, in the dtype of the first that is one already."""
        like = next((x for x in xs if not _is_plain(x)), None)
        return [self._tensor(np.asarray(x), like, is_arithmetic) if _is_plain(x) else x for x in xs]

    def _tensor(self, x: Array, like: Any, is_arithmetic: bool) -> Any:
        takes = x.dtype.kind in "fc" or (is_arithmetic and x.dtype.kind in "iu")
        return self.constant(x, like if takes else None)

    def enter(self, array: Array) -> Any:
        """A number of an op's definition stays plain until it meets a tensor, whose dtype it takes."""
        return np.asarray(array)

    def lift(self, function: Callable[..., Array], *xs: Any) -> Any:
        """A function that only moves entries says where each comes from when it is asked to move their places."""
        # A plain number is an entry like the others here, though a framework may keep it one of Python's elsewhere.
        tensors = self._alike([np.reshape(x, -1) if _is_plain(x) else x for x in xs])
        places, start = [], 0
        for x in xs:
            shape = tuple(int(n) for n in np.shape(x))
            places.append(np.arange(start, start := start + math.prod(shape)).reshape(shape))
        moved = function(*places)
        m = Arithmetic(self)
        flat = [m.reshape(x, shape=(part.size,)) for x, part in zip(tensors, places)]
        all_entries = flat[0] if len(flat) == 1 else m.concat(*flat, axis=0)
        taken = m.take(all_entries, self.constant(moved.reshape(-1), None), axis=0)
        return m.reshape(taken, shape=moved.shape)


def _is_plain(x: Any) -> bool:
    return isinstance(x, (int, float, np.ndarray, np.generic))


def emitted(domain: Emitted, node: Node, args: Sequence[Any]) -> Any:
    """What the framework makes of one node."""
    try:
        compute = getattr(Arithmetic(domain), node.op)
        return compute(*args, **node.params)
    except (AttributeError, GradproofError) as error:
        raise NoFunction(node.op) from error


def named(paths: Mapping[str, str]) -> dict[str, Callable[..., Any]]:
    """Functions by their path below the module."""
    return {name: partial(_at, path.split(".")) for name, path in paths.items()}


def _at(path: Sequence[str], module: Any, *args: Any) -> Any:
    function = module
    for part in path:
        function = getattr(function, part)
    return function(*args)


def of_order(paths: Mapping[int, str]) -> Callable[..., Any]:
    """A function that a framework has for some whole orders only, by their paths."""

    def apply(module: Any, x: Any, order: int) -> Any:
        if order not in paths:
            raise NoFunction(f"a function of order {order}")
        return _at(paths[order].split("."), module, x)

    return apply


def times(module: Any, x: Any, constant: str) -> Any:
    """A multiple by a constant that has a name: as near as float64 has it."""
    del module
    return x * float(CONSTANTS[constant]())


def slices(begin: Any, end: Any, stride: Any) -> tuple[slice, ...]:
    """With a negative stride an end of -1 includes the first entry; Python would count it from the back."""
    strides = stride or (1,) * len(begin)
    return tuple(slice(b, None if e < 0 else e, s) for b, e, s in zip(begin, end, strides))


def summed_axes(shape: Sequence[int], onto: Sequence[int]) -> tuple[int, ...]:
    """The axes along which an array is summed for it to have a shape that would broadcast to its own."""
    lead = len(shape) - len(onto)
    return (*range(lead), *(lead + k for k, n in enumerate(onto) if n == 1 and shape[lead + k] != 1))
