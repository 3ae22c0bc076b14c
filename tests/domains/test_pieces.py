"""A large array gives the same entries as a small one, and its time limit is kept before it is done."""

from __future__ import annotations

import operator
import time

import numpy as np
import pytest
from flint import arb

from gradproof.clock import TimeIsOver, time_limit
from gradproof.domains.ball import BallDomain
from gradproof.domains.pieces import PIECE, in_pieces


@pytest.mark.parametrize(
    ("left", "right"),
    [((), (2 * PIECE + 1,)), ((PIECE, 1), (1, 3)), ((3, PIECE), (3, PIECE)), ((0, PIECE), (1,)), ((2,), ())],
)
def test_the_pieces_are_put_together_as_numpy_broadcasts(
    left: tuple[int, ...], right: tuple[int, ...]
) -> None:
    a = np.arange(int(np.prod(left))).reshape(left).astype(object)
    b = np.arange(int(np.prod(right))).reshape(right).astype(object)
    y = in_pieces(operator.sub, a, b)
    assert y.dtype == object
    assert y.shape == np.broadcast_shapes(left, right)
    assert (y == a - b).all()


def test_one_large_op_in_high_precision_ends_with_its_time() -> None:
    domain = BallDomain(4000)
    x = np.full(200_000, arb(1 / 3), dtype=object)  # about ten seconds
    started = time.monotonic()
    with domain.active(), time_limit(0.2, "over"), pytest.raises(TimeIsOver):
        domain.exp(x)
    assert time.monotonic() - started < 3
