"""What compilers replace ops by that are equal on paper: for one node, what it would be worth under each rewriting.

A rewriting looks at an op and at the ops its inputs come from, past those that only move numbers. Its value is
computed in the dtype of the node, each op of it rounded, so that a rewriting can be told by its bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from gradproof.ir import types
from gradproof.ir.program import Node, Program
from gradproof.ir.types import Array

MOST_FACTORS = 64  # of a power that is written as products
MOST_EXACT = 4096  # entries whose sums of products are done in fractions, which is slow

Found = tuple[str, str, Any]  # kind, sentence, value


@dataclass(frozen=True, eq=False)
class _MadeValue:
    """A value of the program, with the op that made it: entries moved to another shape still count as that op."""

    program: Program
    node: Node
    depth: int = 4  # how many ops deep it is looked at: what is run op by op sees no more than one

    @property
    def value(self) -> Array:
        return np.asarray(self.node.value)

    @property
    def op(self) -> str:
        return self.maker.op if self.depth else ""

    @property
    def maker(self) -> Node:
        node = self.node
        while node.op in ("identity", "broadcast", "reshape", "stop_gradient") or (
            node.op == "sum" and not node.params["axes"]
        ):
            node = self.program[node.inputs[0]]
        return node

    def part(self, k: int) -> _MadeValue:
        return _MadeValue(self.program, self.program[self.maker.inputs[k]], max(self.depth - 1, 0))


def rewritings(program: Program, node: Node, is_alone: bool = False) -> Iterator[Found]:
    """Each rewriting that fits the node, with the value it would have; those that cannot be computed are left out.

    If it is alone, only those of the op itself, without the ops that its inputs come from.
    """
    term = _MadeValue(program, node, 1) if is_alone else _MadeValue(program, node)
    if not types.is_real(node.dtype):
        return
    for make in _RULES.get(node.op, ()):
        try:
            with np.errstate(all="ignore"):
                yield from make(term)
        except (ValueError, TypeError, IndexError, AttributeError, OverflowError):
            continue


def _division(term: _MadeValue) -> Iterator[Found]:
    a, b = term.part(0), term.part(1)
    yield "rewriting", "`a / b` was rewritten as `a * (1 / b)`", a.value * _inverse(b.value)
    if a.op == "div":
        x, y = a.part(0).value, a.part(1).value
        product = y * b.value
        over = _happens(product, (y, b.value))
        yield "rewriting", f"`a / b / c` was rewritten as `a / (b * c)`{over}", x / product
    if b.op == "div":
        yield (
            "rewriting",
            "`a / (b / c)` was rewritten as `a * c / b`",
            a.value * b.part(1).value / b.part(0).value,
        )
    if a.op == "mul":
        for k in (0, 1):
            x, y = a.part(k).value, a.part(1 - k).value
            yield "rewriting", "`a * b / c` was rewritten as `a * (b / c)`", x * (y / b.value)
    if b.op == "sqrt":
        root = (1.0 / np.sqrt(b.part(0).value.astype(np.float64))).astype(b.value.dtype)
        yield "rewriting", "`a / sqrt(b)` was rewritten as `a * rsqrt(b)`", a.value * root
    if a.op == b.op == "exp":
        away = a.part(0).value - b.part(0).value
        yield "rewriting", "`exp(a) / exp(b)` was rewritten as `exp(a - b)`", np.exp(away)
    if b.op == "exp":
        yield "rewriting", "`a / exp(b)` was rewritten as `a * exp(-b)`", a.value * np.exp(-b.part(0).value)


def _inverse(x: Array) -> Array:
    return np.asarray(x.dtype.type(1) / x)


def _product(term: _MadeValue) -> Iterator[Found]:
    for k in (0, 1):
        a, b = term.part(k), term.part(1 - k)
        if a.op == "div":
            x, y = a.part(0).value, a.part(1).value
            if _same(a.part(1), b):
                yield "rewriting", "`a / b * b` was rewritten as `a`", _shaped(x, term)
            if a.part(1).op == b.op == "exp":
                away = b.part(0).value - a.part(1).part(0).value
                text = "`a / exp(b) * exp(c)` was rewritten as `a * exp(c - b)`"
                yield "rewriting", text, x * np.exp(away)
            yield "rewriting", "`a / b * c` was rewritten as `a * c / b`", x * b.value / y
            yield "rewriting", "`a / b * c` was rewritten as `a * (c / b)`", x * (b.value / y)
        if a.op == "reciprocal" and _same(a.part(0), b):
            yield "rewriting", "`1 / b * b` was rewritten as `1`", np.ones(term.node.shape, b.value.dtype)
        if a.op == "mul":
            for j in (0, 1):
                if a.part(1 - j).op == "reciprocal" and _same(a.part(1 - j).part(0), b):
                    yield (
                        "rewriting",
                        "`a * (1 / b) * b` was rewritten as `a`",
                        _shaped(a.part(j).value, term),
                    )
                x, y = a.part(j).value, a.part(1 - j).value
                product = y * b.value
                over = _happens(product, (y, b.value))
                yield "rewriting", f"`a * b * c` was rewritten as `a * (b * c)`{over}", x * product
        if a.op == "exp" and b.op == "exp":
            total = a.part(0).value + b.part(0).value
            yield "rewriting", "`exp(a) * exp(b)` was rewritten as `exp(a + b)`", np.exp(total)


def _happens(product: Array, factors: tuple[Array, ...]) -> str:
    """What becomes of a product that the rewriting brings in: factors that are in range, and a product that is not."""
    if not all(bool(np.isfinite(x).all()) for x in factors):
        return ""
    if not bool(np.isfinite(product).all()):
        return f", and `b * c` overflows {types.dtype_name(product)}"
    if bool(((product == 0) & (factors[0] != 0) & (factors[1] != 0)).any()):
        return f", and `b * c` underflows {types.dtype_name(product)}"
    return ""


def _inverse_pair(inner: str, text: str) -> Callable[[_MadeValue], Iterator[Found]]:
    def make(term: _MadeValue) -> Iterator[Found]:
        if term.part(0).op == inner:
            yield "rewriting", text, _shaped(term.part(0).part(0).value, term)

    return make


def _difference(term: _MadeValue) -> Iterator[Found]:
    """`(x + c) - c`, and sums of a product, which may be one fused operation."""
    a, b = term.part(0), term.part(1)
    if a.op == "add":
        for k in (0, 1):
            if _same(a.part(1 - k), b):
                yield "rewriting", "`(x + c) - c` was rewritten as `x`", _shaped(a.part(k).value, term)
            yield (
                "rewriting",
                "`(x + a) - b` was rewritten as `x + (a - b)`",
                a.part(k).value + (a.part(1 - k).value - b.value),
            )
    if a.op == "sub":
        yield (
            "rewriting",
            "`(x - a) - b` was rewritten as `x - (a + b)`",
            a.part(0).value - (a.part(1).value + b.value),
        )
    yield from _fused(term, -1)


def _addition(term: _MadeValue) -> Iterator[Found]:
    for k in (0, 1):
        a, b = term.part(k), term.part(1 - k)
        if a.op == "sub":
            if _same(a.part(1), b):
                yield "rewriting", "`(x - c) + c` was rewritten as `x`", _shaped(a.part(0).value, term)
            yield (
                "rewriting",
                "`(x - a) + b` was rewritten as `x + (b - a)`",
                a.part(0).value + (b.value - a.part(1).value),
            )
        if a.op == "add":
            for j in (0, 1):
                yield (
                    "rewriting",
                    "`(a + b) + c` was rewritten as `a + (b + c)`",
                    a.part(j).value + (a.part(1 - j).value + b.value),
                )
    yield from _fused(term, 1)


def _fused(term: _MadeValue, sign: int) -> Iterator[Found]:
    """`a * b + c` rounded once: the product is not rounded before it is added."""
    text = (
        "`a * b` and the sum are one fused multiply-add, which rounds once: the product is not rounded before"
    )
    for k in (0, 1):
        product, rest, turned = term.part(k), term.part(1 - k), 1
        while product.op == "neg":
            product, turned = product.part(0), -turned
        if product.op not in ("mul", "square", "div") and not _is_scaled(product):
            continue
        factors = [product.part(j).value for j in range(len(product.maker.inputs))]
        factors = factors * 2 if len(factors) == 1 else factors
        said = text
        if product.op == "div":
            factors[1] = _inverse(factors[1])
            said = f"`a / b` was rewritten as `a * (1 / b)`; {text}"
        own, others = (1, sign) if k == 0 else (sign, 1)
        yield "fused-multiply-add", said, _rounded_once(factors, turned * own, rest.value, others, term.node)


def _is_scaled(term: _MadeValue) -> bool:
    """Whether it is an array times a number, as derivatives of a product write it."""
    inputs = [term.part(k).value for k in range(len(term.maker.inputs))] if term.op == "einsum" else []
    return len(inputs) == 2 and () in (inputs[0].shape, inputs[1].shape)


def _rounded_once(factors: list[Array], own: int, rest: Array, others: int, node: Node) -> Array:
    shape, dtype = node.shape, types.numpy_dtype(node.dtype)
    a, b, c = (np.broadcast_to(x, shape) for x in (*factors, rest))
    if types.precision_bits(node.dtype) <= 24:
        wide = own * a.astype(np.float64) * b.astype(np.float64) + others * c.astype(np.float64)
        return np.asarray(wide).astype(dtype)
    if a.size > MOST_EXACT:
        raise ValueError("too many entries for fractions")
    entries = [
        float(own * Fraction(float(x)) * Fraction(float(y)) + others * Fraction(float(z)))
        for x, y, z in zip(a.flat, b.flat, c.flat)
    ]
    return np.asarray(entries, np.float64).reshape(shape)


def _whole_power(term: _MadeValue) -> Iterator[Found]:
    x, n = term.part(0).value, int(term.node.params["exponent"])
    if n < 0:
        yield "rewriting", f"`x ** {n}` was computed as `1 / x ** {-n}`", x.dtype.type(1) / _powered(x, -n)
        yield "rewriting", f"`x ** {n}` was computed as `(1 / x) ** {-n}`", _powered(x.dtype.type(1) / x, -n)


def _power(term: _MadeValue) -> Iterator[Found]:
    """A whole exponent: products, from the left or of squares."""
    x, exponent = term.part(0).value, term.part(1).value
    n = int(exponent.flat[0])
    if n < 2 or n > MOST_FACTORS or not bool(np.all(exponent == n)):
        return
    text = f"`x ** {n}` was rewritten as products of `x`"
    yield "rewriting", text, _powered(x, n)
    yield "rewriting", text, _by_squares(x, n)


def _by_squares(x: Array, n: int) -> Array:
    half = x if n < 4 else _by_squares(x, n // 2)
    return half * half * x if n % 2 else half * half


def _powered(x: Array, n: int) -> Array:
    y = x
    for _ in range(n - 1):
        y = y * x
    return y


def _root(term: _MadeValue) -> Iterator[Found]:
    x = term.part(0)
    if x.op == "square" or (x.op == "mul" and x.maker.inputs[0] == x.maker.inputs[1]):
        yield "rewriting", "`sqrt(x * x)` was rewritten as `abs(x)`", _shaped(np.abs(x.part(0).value), term)


def _same(one: _MadeValue, other: _MadeValue) -> bool:
    """The same node, or two constants of one value."""
    return one.maker.id == other.maker.id or (
        one.op == other.op == "constant"
        and np.array_equal(np.asarray(one.maker.value), np.asarray(other.maker.value))
    )


def _shaped(value: Array, term: _MadeValue) -> Array:
    if value.size == int(np.prod(term.node.shape)):
        return value.reshape(term.node.shape)
    return np.broadcast_to(value, term.node.shape)


_RULES: dict[str, tuple[Callable[[_MadeValue], Iterator[Found]], ...]] = {
    "div": (_division,),
    "mul": (_product,),
    "sub": (_difference,),
    "add": (_addition,),
    "log": (_inverse_pair("exp", "`log(exp(x))` was rewritten as `x`"),),
    "exp": (_inverse_pair("log", "`exp(log(x))` was rewritten as `x`"),),
    "integer_power": (_whole_power,),
    "power": (_power,),
    "sqrt": (_root,),
}
