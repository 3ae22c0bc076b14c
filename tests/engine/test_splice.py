"""The derivative of a piece of a program in the place of a node that claims to be it."""

from __future__ import annotations

import numpy as np

from gradproof.domains.ieee import Ieee
from gradproof.engine.derive import gradient
from gradproof.engine.run import run
from gradproof.engine.splice import Replacement, spliced
from gradproof.engine.trace import Traced, Tracer
from gradproof.ir.program import Builder, Program


def _program(early: bool = False) -> tuple[Program, Replacement]:
    """sin(x), an upstream gradient, a frozen slope, and x times it; `early` uses the slope before the sine is known."""
    builder = Builder()
    m = Tracer(builder, phase="forward")
    x = Traced(m, builder.input(np.array(0.7), "x"), np.array(0.7))
    slope = m.constant(np.cos(0.7))
    used = m.mul(slope, x) if early else None
    y = m.sin(x)
    upstream = m.constant(np.array(1.0))
    target = used or m.mul(slope, x)
    program = builder.build([target.id])
    forward = Program(tuple(n for n in program.nodes if n.id in (x.id, y.id)), (x.id,), (y.id,))
    return program, Replacement(forward, ((y.id, upstream.id),), {slope.id: x.id})


def test_what_comes_after_uses_the_derivative_and_can_be_differentiated_again() -> None:
    program, replacement = _program()
    new = spliced(program, [replacement])
    assert new.inputs == program.inputs
    np.testing.assert_allclose(run(Ieee(), new).outputs()[0], 0.7 * np.cos(0.7))
    np.testing.assert_allclose(gradient(Ieee(), new)[0], np.cos(0.7) - 0.7 * np.sin(0.7))


def test_what_is_used_before_the_derivative_can_be_known_is_left_as_it_is() -> None:
    program, replacement = _program(early=True)
    np.testing.assert_allclose(gradient(Ieee(), spliced(program, [replacement]))[0], np.cos(0.7))
