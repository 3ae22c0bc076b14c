"""The value witness: what an op returned is what its meaning gives, on the inputs it had, within its rounding.

A reference is the derivative of the meaning that was given to what ran. If an op of the framework does something
else, because a lowering of ours is wrong or an attribute was not read, its results show it. Nodes that a lowering made
on its way hold numbers of ours, rounded in our order: where a result does not agree with them it is looked at from
further back, step by step, with every rounding on the way allowed for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from gradproof.clock import tick
from gradproof.domains.ball import BallDomain
from gradproof.domains.ball64 import BallDomain64
from gradproof.domains.ieee import Ieee
from gradproof.engine.allowance import SPECIAL, share, smallest, width
from gradproof.engine.refine import entry_count
from gradproof.errors import GradproofError, NotSupported
from gradproof.ir import types
from gradproof.ir.program import Node, Program, ancestors
from gradproof.ir.types import Array
from gradproof.ops import TABLE, Arithmetic

QUICK = 4.0  # roundings that need no closer look
WIDE_BITS = 160
MAX_WIDE = 5_000  # numbers of an op beyond which it is not looked at in more digits than float64 has
OWN_ROUNDINGS = (
    64.0  # by which the sums of two layouts may differ; sums of a million terms in blocks stay below
)
MAX_KEPT = 1_000_000  # numbers of a program up to which balls around them are kept from node to node
MAX_BACK = 400  # nodes of one lowering; what is longer is not looked at
# How many nodes in a row are gone back through, till that explains a result. Most lowerings are short, and the balls of
# long ways are wide and many: from the end of a large network all that ran lies behind, since NumPy gives the same.
STEPS_BACK = (0, 2, 8, MAX_BACK)
# Nothing is computed: a handed-on value, or a number that the user's own execution mode has made of it.
PLAIN = frozenset({"identity", "stop_gradient", "about", "item"})


@dataclass(frozen=True)
class Misread:
    """A node that did not return what it means: what it returned, and what its meaning gives, at one entry."""

    node: Node
    returned: complex
    meant: complex

    def __str__(self) -> str:
        place = f" ({self.node.span})" if self.node.span else ""
        return (
            f"`{self.node.op}`{place} returned {_number(self.returned)}, and what it means here gives "
            f"{_number(self.meant)}: the reference would be the derivative of something else than what ran"
        )


def _number(x: complex) -> str:
    return f"{x:.6g}" if x.imag else f"{x.real:.6g}"


def misread(program: Program) -> Misread | None:
    """The first node on the way to the outputs whose value is not what its meaning gives."""
    reaches = ancestors(program, program.outputs)
    look = _Look(program)
    with _FLOAT64.domain.active():
        for node in program.nodes:
            if node.id in reaches and _can_be_witnessed(program, node):
                tick()
                found = look.at(node)
                if found is not None:
                    return found
    return None


_FLOAT64, _AS_IS = Arithmetic(Ieee("float64")), Arithmetic(Ieee())


def _can_be_witnessed(program: Program, node: Node) -> bool:
    if node.op in PLAIN or node.op not in TABLE or not node.inputs or node.is_discrete:
        return False
    values = [node.value, *(program[id].value for id in node.inputs)]
    return all(value is not None and not isinstance(value, tuple) for value in values)


def _is_product(node: Node) -> bool:
    """Whether an entry is a sum of products of one number of each input, all with the sign plus."""
    op = TABLE.get(node.op)
    return op is not None and op.linear == "each"


def _product(node: Node, factors: list[Array]) -> Array:
    return np.asarray(getattr(_FLOAT64, node.op)(*factors, **node.params))


def _wide(x: Any) -> Array:
    return np.asarray(x, np.complex128 if np.iscomplexobj(x) else np.float64)


@dataclass
class _Look:
    """Looks at the nodes of one program; what was found out about single nodes is kept."""

    program: Program
    own: dict[int, bool] = field(default_factory=dict)
    meant: dict[str, dict[int, Any]] = field(
        default_factory=dict
    )  # by domain: balls around what nodes may return
    left: int = MAX_BACK  # nodes that may be gone back to for the node in hand

    def at(self, node: Node) -> Misread | None:
        if TABLE[node.op].moves_only and self._is_equal(node):
            return None
        values = [self.program[id].value for id in node.inputs]
        returned = _wide(node.value)
        bad = np.isfinite(returned) & ~self._is_quickly_right(node, values, returned)
        if bad.any() and node.op == "add":
            bad = bad & ~self._is_product_and_more(node, returned)
        if not bad.any():
            return None
        for steps in STEPS_BACK:
            inside, outside, meant = self._compared(node, returned, steps)
            bad = bad & ~inside
            if not bad.any():
                return None
        bad = bad & outside
        if not bad.any():
            return None
        place = tuple(np.argwhere(bad)[0])
        return Misread(node, complex(returned[place]), complex(meant[place]))

    def _is_quickly_right(self, node: Node, values: list[Any], returned: Array) -> Array:
        try:
            meant = _wide(getattr(_FLOAT64, node.op)(*map(_FLOAT64.literal, values), **node.params))
        except (GradproofError, ValueError, TypeError, ArithmeticError, np.linalg.LinAlgError):
            return np.zeros(returned.shape, bool)
        if meant.shape != returned.shape:
            return np.zeros(returned.shape, bool)
        unit = max(types.unit_roundoff(node.dtype), types.unit_roundoff("float64"))
        with np.errstate(all="ignore"):
            apart = np.abs(returned - meant)
            right = np.asarray(apart <= QUICK * unit * np.abs(meant))
            if _is_product(node) and not right.all():
                # Where the terms of an entry cancel: what their roundings come to, half of what a closer look allows.
                terms = _product(node, [np.abs(_wide(value)) for value in values])
                right |= apart <= share(node, values) * terms
            return right

    def _is_product_and_more(self, node: Node, returned: Array) -> Array:
        """What a kernel has added to a product before it rounded that: the product in between is a number of ours.

        Again half of what a closer look allows, which would take the whole product in balls.
        """
        for id, other in (node.inputs, node.inputs[::-1]):
            inner = self.program[id]
            if not _is_product(inner) or inner.shape != node.shape or not self._is_own(id):
                continue
            values = [self.program[k].value for k in inner.inputs]
            more, factors = _wide(self.program[other].value), [_wide(value) for value in values]
            with np.errstate(all="ignore"):
                product, sizes = (_product(inner, given) for given in (factors, list(map(np.abs, factors))))
                terms = sizes + np.abs(more)
                return np.asarray(np.abs(returned - product - more) <= share(inner, values) * terms)
        return np.zeros(returned.shape, bool)

    def _compared(self, node: Node, returned: Array, back: int) -> tuple[Array, Array, Array]:
        """Where the result lies within all that rounding can do to the meaning, where surely not, and its middle."""
        for m in self._arithmetics(node):
            known, self.left = self._known(m) if back == MAX_BACK else {}, MAX_BACK
            try:
                with m.domain.active():
                    mid, rad = m.domain.leave(self._meant(m, node, known, back))
            except (GradproofError, ValueError, TypeError, ArithmeticError, AttributeError):
                continue  # the next one may be able to; where none is, there is no witness
            if mid.shape != returned.shape:
                break
            with np.errstate(all="ignore"):
                near = np.abs(returned - mid) <= rad
            known = np.isfinite(rad)
            return near & known, ~near & known, mid
        nowhere = np.zeros(returned.shape, bool)
        return nowhere, nowhere, returned

    def _known(self, m: Arithmetic) -> dict[int, Any]:
        """What the nodes looked at before have gone back to; in a large program nothing of it is kept."""
        return self.meant.setdefault(m.domain.name, {}) if self._is_kept else {}

    @cached_property
    def _is_kept(self) -> bool:
        return entry_count(self.program) <= MAX_KEPT

    def _arithmetics(self, node: Node) -> list[Arithmetic]:
        ids = (node.id, *node.inputs)
        found = []
        if not any(types.is_complex(self.program[id].dtype) for id in ids):
            found.append(Arithmetic(BallDomain64()))
        if sum(int(np.prod(self.program[id].shape)) for id in ids) <= MAX_WIDE:
            found.append(Arithmetic(BallDomain(WIDE_BITS)))
        return found

    def _meant(self, m: Arithmetic, node: Node, known: dict[int, Any], back: int) -> Any:
        """A ball around all that the op may return, for inputs that are computed anew from so many steps back."""
        values = [self.program[id].value for id in node.inputs]
        part, tiny = share(node, values), smallest(node, values)
        xs = [self._widened(m, node, id, part, tiny, known, back) for id in node.inputs]
        y = m.domain.settle(getattr(m, node.op)(*xs, **node.params), node.dtype)
        if TABLE[node.op].moves_only and types.precision_bits(node.dtype) >= max(
            (types.precision_bits(self.program[id].dtype) for id in node.inputs if self._is_number(id)),
            default=0,
        ):
            return y
        mid, _ = m.domain.leave(y)
        room = part if node.op not in SPECIAL else part + types.unit_roundoff(node.dtype)
        return m.about(y, m.literal(room * np.abs(mid) + tiny))

    def _is_number(self, id: int) -> bool:
        return not types.is_discrete(self.program[id].dtype)

    def _widened(
        self, m: Arithmetic, node: Node, id: int, part: float, tiny: float, known: dict[int, Any], back: int
    ) -> Any:
        x = self.program[id].value
        if not self._is_number(id):
            return m.literal(x)
        if back > 0 and self._is_own(id):
            if id not in known:
                if self.left == 0:
                    raise NotSupported("a lowering of too many nodes")
                self.left -= 1
                known[id] = self._meant(m, self.program[id], known, back - 1)
            y = known[id]
            mid, _ = m.domain.leave(y)
            return m.about(y, m.literal(width(node, mid, part, tiny)))
        if not np.isfinite(_wide(x)).all():
            raise NotSupported("an input that is no number")
        return m.about(m.literal(x), m.literal(width(node, x, part, tiny)))

    def _is_own(self, id: int) -> bool:
        """Whether a value may be one of ours: floating point as NumPy does it gives it, at least nearly."""
        if id not in self.own:
            node = self.program[id]
            self.own[id] = _can_be_witnessed(self.program, node) and self._is_ours(node)
        return self.own[id]

    def _is_equal(self, node: Node) -> bool:
        """Whether a value is just what the op gives as NumPy does it; how it would be rounded is not looked at."""
        y = self._by_numpy(node)
        return y is not None and y.shape == node.shape and _are_equal(y, node)

    def _is_ours(self, node: Node) -> bool:
        y = self._by_numpy(node)
        if y is None or y.shape != node.shape:
            return False
        return _are_equal(y, node) or _differ_by_roundings(y, node)

    def _by_numpy(self, node: Node) -> Array | None:
        values = [self.program[id].value for id in node.inputs]
        try:
            with _AS_IS.domain.active():
                y = getattr(_AS_IS, node.op)(*map(_AS_IS.literal, values), **node.params)
                return np.asarray(y).astype(np.asarray(node.value).dtype, copy=False)
        except (GradproofError, ValueError, TypeError, ArithmeticError, np.linalg.LinAlgError):
            return None


def _are_equal(y: Array, node: Node) -> bool:
    return np.array_equal(y, node.value, equal_nan=y.dtype.kind in "fc")


def _differ_by_roundings(y: Array, node: Node) -> bool:
    """Whether two results are as close as two ways of computing the same, measured by the largest entry.

    A sum of many terms comes out otherwise in the last bits for another layout in memory, and a number of ours was
    computed before another output of the same kernel took the place of what it was computed from.
    """
    a, b = _wide(y), _wide(node.value)
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        return False
    size = max(np.abs(a).max(initial=0.0), np.abs(b).max(initial=0.0))
    return bool(np.abs(a - b).max(initial=0.0) <= OWN_ROUNDINGS * types.unit_roundoff(node.dtype) * size)
