"""A decision that exact arithmetic takes otherwise matters where the gradients of both branches are known to differ."""

from __future__ import annotations

import numpy as np
import pytest

from gradproof.diagnosis.flips import OtherBranches, flips
from gradproof.domains.ball import BallDomain
from gradproof.engine.margins import margins
from gradproof.engine.refine import Enclosure
from gradproof.engine.run import run
from gradproof.ops import Arithmetic
from gradproof.options import Options
from tests.small import program_of

LARGE = 2.0**54  # 1 is lost beside it in float64


def _flipped(other):
    """Exact arithmetic decides for `other(m, x)`, and rounding for 5 x."""

    def function(m, x):
        is_large = m.greater((x + LARGE) - LARGE, m.literal(np.asarray(0.5)))
        return m.select(is_large, other(m, x), m.mul(m.literal(np.asarray(5.0)), x))

    program = program_of(function, 1.0)
    return run(Arithmetic(BallDomain(128)), program)


def _matter(proven, own):
    (source,) = proven.program.inputs
    found = flips(OtherBranches(proven, (source,)), margins(proven), source, own, Options())
    assert [flip.is_flipped for flip in found] == [True]
    return found[0].matters


KNOWN = Enclosure(np.asarray(5.0), np.asarray(0.0))
UNKNOWN = Enclosure(np.asarray(5.0), np.asarray(80.0))


@pytest.mark.parametrize(("slope", "matters"), [(3.0, True), (5.0, False)])
def test_two_gradients_that_are_known_are_compared(slope, matters):
    proven = _flipped(lambda m, x: m.mul(m.literal(np.asarray(slope)), x))
    assert _matter(proven, KNOWN) is matters


@pytest.mark.parametrize(("own", "matters"), [(KNOWN, True), (UNKNOWN, False)])
def test_of_two_that_are_not_nobody_can_tell(own, matters):
    proven = _flipped(lambda m, x: m.log(x - x))
    assert _matter(proven, own) is matters
