"""Shared by the frontends: what a framework's op means, written as ops of the program.

A lowering is a function of an arithmetic `m` and the op's inputs, in the style of the derivative rules. Run in
a `Lowering` it appends nodes; the last one then gets the value the framework really returned.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np

from gradproof.engine.trace import Traced, Tracer
from gradproof.ir import types
from gradproof.ir.kernel import Kernel
from gradproof.ir.program import OPAQUE, Builder, Phase
from gradproof.ir.span import Span
from gradproof.ops import TABLE

LARGE_PRODUCT = 1 << 20  # multiplications from which on a product is shown and not computed
_NEAR = 8.0  # square roots of the rounding, of the largest entry: as far as the order of a sum can take it


class Lowering(Tracer):
    """An arithmetic that appends nodes at the user's line, and knows what the framework returned."""

    def __init__(self, builder: Builder) -> None:
        super().__init__(builder, phase="forward")
        self._constants: set[int] = set()

    def constant(self, x: Any, like: Any = None) -> Traced:
        made = super().constant(x, like)
        self._constants.add(made.id)
        return made

    def is_constant(self, x: Traced) -> bool:
        """Numbers that nothing of the program was computed into."""
        return x.id in self._constants

    def place(self, span: Span | None, phase: Phase, scope: int | None) -> None:
        self.span, self.phase, self.scope = span, phase, scope

    def input(self, value: Any, name: str | None = None) -> Traced:
        value = np.asarray(value)
        return Traced(self, self.builder.input(value, name, self.span), value)

    def opaque(self, name: str, arguments: list[Traced], value: Any, kernel: Kernel | None = None) -> Traced:
        """A node without a meaning: its value is what was recorded, its derivative at best measured."""
        value = np.asarray(value)
        ids = [argument.id for argument in arguments]
        place: dict[str, Any] = {"span": self.span, "phase": self.phase, "scope": self.scope}
        id = self.builder.add(OPAQUE + name, *ids, value=value, kernel=kernel, **place)
        return Traced(self, id, value)

    def product(self, a: Traced, b: Traced, returned: Any, added: Traced | None = None) -> Traced:
        """A product of matrices. A large one is not computed again where what the framework returned is shown to be it.

        Two matrices that differ by more than rounding have different products with an arbitrary vector. Where
        something was added to the product, it is what is left without that.
        """
        is_large = returned is not None and np.size(a.value) * b.shape[-1] >= LARGE_PRODUCT
        if is_large and added is not None:
            returned = _without(returned, added.value)
        is_shown = is_large and returned is not None and _is_product(a.value, b.value, returned)
        made: Traced = self.record("matmul", [a, b], returned, {}) if is_shown else self.matmul(a, b)
        return made

    def settle_value(self, result: Traced, value: Any, since: int, same: bool = True) -> Traced:
        """`result` with the value the framework returned.

        If the lowering made no node of its own (it returned one of its inputs), nothing is replaced: that node
        has its own recorded value. `since` is the first id the lowering could have made. With `same`, entries that
        are only moved must be the ones that were there; not so where another execution mode computed them.
        """
        value = np.asarray(value)
        if tuple(result.shape) != value.shape:
            raise ValueError(f"the lowering gives shape {result.shape}, the framework returned {value.shape}")
        is_shown = types.is_one_place(result.value, value)
        if same and not is_shown and self._only_moved(since) and not _are_equal(result.value, value):
            # No rounding can explain it: what ran is not what the lowering says, so it must not be judged by it.
            raise ValueError("the framework returned other entries than the ones this op moves")
        dtype = types.dtype_name(value)
        if types.dtype_name(result.value) != dtype and not types.is_complex(dtype):
            result = self.cast(result, dtype=dtype)
        if result.id < since:
            return result
        place = len(self.builder.nodes) - 1
        while self.builder.nodes[place].id != result.id:
            place -= 1
        # Complex numbers are not cast: NumPy computes wider ones than the framework, which is no rounding of its own.
        self.builder.nodes[place] = replace(self.builder.nodes[place], value=value, dtype=dtype)
        return Traced(self, result.id, value)

    def _only_moved(self, since: int) -> bool:
        """Whether the nodes made since then move entries and compute nothing."""
        made = list(itertools.takewhile(lambda node: node.id >= since, reversed(self.builder.nodes)))
        return bool(made) and all(
            node.op == "constant" or (node.op in TABLE and TABLE[node.op].moves_only) for node in made
        )


def _without(total: Any, added: Any) -> Any:
    """The other part of a sum; None where the subtraction would leave fewer digits of it than there were."""
    if total.dtype != added.dtype or added.ndim > total.ndim:
        return None
    with np.errstate(all="ignore"):
        rest = total - added
        is_kept = rest.shape == total.shape and _largest(added) <= _largest(rest)
    return rest if is_kept else None


def _largest(array: Any) -> Any:
    return max(array.max(initial=0.0), -array.min(initial=0.0))


def _is_product(a: Any, b: Any, product: Any) -> bool:
    if a.ndim < 2 or b.ndim < 2 or not (a.dtype == b.dtype == product.dtype) or a.dtype.kind != "f":
        return False
    if product.shape != (*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1]):
        return False
    rng = np.random.default_rng(b.shape[-1])
    vector = (rng.uniform(0.5, 1.0, b.shape[-1]) * rng.choice([-1.0, 1.0], b.shape[-1])).astype(a.dtype)
    with np.errstate(all="ignore"):
        apart = np.abs(product @ vector - (a @ (b @ vector)[..., None])[..., 0]).max(initial=0.0)
        largest = _largest(product)
    near = _NEAR * np.sqrt(types.unit_roundoff(types.dtype_name(product)))
    return bool(np.isfinite(largest) and apart <= near * largest)


def _are_equal(one: Any, other: Any) -> bool:
    """Entry by entry, NaN being equal to NaN; that is asked only if need be, since it takes four times as long."""
    return np.array_equal(one, other) or (
        other.dtype.kind in "fc" and np.array_equal(one, other, equal_nan=True)
    )
