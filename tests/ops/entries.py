"""Calls one op in all three domains and compares it, entry by entry, with NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.domains.ball import BallDomain
from gradproof.domains.ball64 import BallDomain64
from gradproof.domains.ieee import Ieee
from gradproof.engine.derive import derive, jacobian
from gradproof.engine.run import run
from gradproof.engine.trace import Traced, Tracer
from gradproof.ir.program import Builder, Program
from gradproof.ops import Arithmetic

DOMAINS = (Ieee(), BallDomain64(), BallDomain(256))

ROUNDING = 1e-12  # what NumPy and float64 balls may lose in sums and products of a few numbers


def draw(*shape: int, seed: int = 0) -> np.ndarray[Any, Any]:
    """Numbers of few bits, so that moving and adding them is exact."""
    return np.random.default_rng(seed).integers(-64, 65, shape) / 16.0


def entered(m: Arithmetic, x: Any) -> Any:
    return m.literal(np.asarray(x))


def assert_moves(name: str, expected: Any, *xs: Any, **params: Any) -> None:
    """The op gives exactly NumPy's entries in every domain."""
    for domain in DOMAINS:
        m = Arithmetic(domain)
        with domain.active():
            mid, rad = domain.leave(getattr(m, name)(*(entered(m, x) for x in xs), **params))
        np.testing.assert_array_equal(mid, np.asarray(expected, np.float64), err_msg=domain.name)
        assert (rad <= ROUNDING * (1.0 + np.abs(mid))).all()


def assert_near(name: str, expected: Any, *xs: Any, **params: Any) -> None:
    """The op gives NumPy's entries up to the rounding of NumPy."""
    for domain in DOMAINS:
        m = Arithmetic(domain)
        with domain.active():
            mid, rad = domain.leave(getattr(m, name)(*(entered(m, x) for x in xs), **params))
        np.testing.assert_allclose(mid, expected, rtol=ROUNDING, atol=ROUNDING, err_msg=domain.name)
        assert (rad <= ROUNDING * (1.0 + np.abs(mid))).all()


def decided(name: str, *xs: Any, **params: Any) -> np.ndarray[Any, Any]:
    """The decision of an op, which all domains must agree on."""
    found = []
    for domain in DOMAINS:
        m = Arithmetic(domain)
        with domain.active():
            found.append(getattr(m, name)(*(entered(m, x) for x in xs), **params))
    assert all(np.array_equal(found[0], other) for other in found)
    return np.asarray(found[0])


def program(function: Any, *xs: Any) -> Program:
    """The program of a function written with the ops, recorded in floating point at `xs`."""
    builder = Builder()
    tracer = Tracer(builder, phase="forward")
    arguments = [Traced(tracer, builder.input(np.asarray(x)), np.asarray(x)) for x in xs]
    return builder.build([function(tracer, *arguments).id])


def total(m: Any, x: Any) -> Any:
    return m.sum(x, axes=tuple(range(x.ndim)))


def hessian(function: Any, x: Any) -> np.ndarray[Any, Any]:
    """Second derivatives of a scalar function of one array: the Jacobian of its gradient program."""
    first = derive(program(function, x)).program
    result = run(BallDomain(256), first)
    mid, rad = result.m.domain.leave(jacobian(result)[0])
    assert (rad <= ROUNDING * (1.0 + np.abs(mid))).all()
    return mid
