"""Arithmetic that this machine does not have, emulated: the op at which it parts is named, and whose rounding it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradproof.domains.ieee import Ieee
from gradproof.engine.run import run
from gradproof.frontends.check.request import Request
from gradproof.frontends.select import frontend_for
from gradproof.modes.parting import partings

_WEIGHTS = np.random.default_rng(3).normal(size=(24, 24)).astype(np.float32)
_X = np.random.default_rng(4).normal(size=(24,)).astype(np.float32)
_TINY = float(np.finfo(np.float32).tiny)


class Tf32(Ieee):
    """A matrix unit that drops all but 11 bits of what it multiplies."""

    def matmul(self, a: Any, b: Any) -> Any:
        return super().matmul(_kept(a, 13), _kept(b, 13))


class Bfloat16(Ieee):
    def matmul(self, a: Any, b: Any) -> Any:
        return super().matmul(_kept(a, 16), _kept(b, 16))


class Half(Ieee):
    """A product under autocast: inputs and result in bfloat16."""

    def matmul(self, a: Any, b: Any) -> Any:
        return _kept(super().matmul(_kept(a, 16), _kept(b, 16)), 16)


class Flushing(Ieee):
    """Results below the smallest normal number are zero."""

    def mul(self, a: Any, b: Any) -> Any:
        y = np.multiply(a, b)
        return np.where(np.abs(y) < _TINY, np.zeros_like(y), y)


class Turned(Ieee):
    """Products are added from the other end, which is an order and no rounding of the inputs."""

    def matmul(self, a: Any, b: Any) -> Any:
        return np.asarray(
            [np.float32(sum((x * y for x, y in zip(row[::-1], b[::-1])), np.float32(0))) for row in a]
        )


class Backwards(Ieee):
    """Sums are taken from the other end, one by one."""

    def sum(self, x: Any, axes: Any) -> Any:
        total = np.float32(0)
        for one in np.asarray(x).ravel()[::-1]:
            total = np.float32(total + one)
        return np.asarray(total)


def _kept(x: Any, dropped: int) -> Any:
    """Rounded to the nearest float32 whose last `dropped` bits are zero, ties to even."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    half = np.uint32((1 << (dropped - 1)) - 1) + ((bits >> np.uint32(dropped)) & np.uint32(1))
    return ((bits + half) & np.uint32(0xFFFFFFFF ^ ((1 << dropped) - 1))).view(np.float32)


EMULATED = {
    "a product on TF32": (Tf32(), lambda x: np.sum((_WEIGHTS @ x) ** 2), _X, "matmul", "narrow-inputs", "TF32, 11"),
    "a product on bfloat16": (
        Bfloat16(), lambda x: np.sum((_WEIGHTS @ x) ** 2), _X, "matmul", "narrow-inputs", "bfloat16, 8",
    ),
    "a product under autocast": (
        Half(), lambda x: np.sum((_WEIGHTS @ x) ** 2), _X, "matmul", "narrow-inputs", "was computed in bfloat16, 8",
    ),
    "a product from the other end": (
        Turned(), lambda x: np.sum((_WEIGHTS @ x) ** 2), _X, "matmul", "sum-order", "added in another order",
    ),
    "a product that is flushed": (
        Flushing(), lambda x: np.sum(np.log(x * x)), np.float32([8.9e-20, 2.0]), "mul", "subnormal", "flushes",
    ),
    "a sum from the other end": (
        Backwards(), lambda x: np.log(np.sum(x * x)), _X, "sum", "sum-order", "24 numbers are added in another order",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", EMULATED)
def test_the_op_and_whose_rounding_it_is_are_named(name: str) -> None:
    domain, function, x, op, kind, text = EMULATED[name]
    (capture,) = frontend_for((x,), {}).check(Request(function, (x,))).captures
    program, (source,) = capture.gradient_program, capture.sources
    assert program is not None and source.recorded is not None
    bare = program.with_outputs([node.id for node in program.nodes])
    single, other = run(Ieee(), bare).values, run(domain, bare).values
    found = partings(program, single, other, source.recorded, (0,))
    assert (op, kind) in [(one.op, one.whose.kind) for one in found]
    assert any(text in one.whose.text for one in found)
