"""What counts as equal before a tie is settled: numbers whose balls overlap, in chains."""

from __future__ import annotations

import numpy as np

from gradproof.engine import ties


def test_a_line_without_overlaps_is_told_from_one_with_them() -> None:
    """Balls of small integers touch, repeat and hold one another: chains that join no two different balls."""
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(500):
        mid = rng.integers(0, 30, rng.integers(1, 6)).astype(float)
        rad = rng.choice([0.0, 0.0, 1.0, 4.0], mid.shape)
        apart = [
            ((a, r) == (b, s) and r == 0.0) or abs(a - b) > r + s
            for i, (a, r) in enumerate(zip(mid, rad))
            for b, s in list(zip(mid, rad))[:i]
        ]
        said = ties._stand_apart(mid, rad, 0)
        assert said == all(apart)
        assert not said or (mid[ties._lowest(mid, rad, 0)] == mid).all()
        seen.add((said, len(set(zip(mid, rad))) < len(mid)))
    assert len(seen) == 4  # with and without repeats


def test_lines_are_looked_at_one_by_one() -> None:
    lines = np.array([[1.0, 2.0], [1.5, 1.5]])
    assert ties._stand_apart(lines, np.zeros((2, 2)), 1)
    assert not ties._stand_apart(lines, np.full((2, 2), 0.25), 0)
    assert not ties._stand_apart(lines, np.full((2, 2), np.inf), 1)
    assert not ties._stand_apart(np.full((1, 2), np.nan), np.zeros((1, 2)), 1)
