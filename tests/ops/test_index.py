"""Reading and writing at integer places, entry by entry against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from gradproof.domains.ball import BallDomain
from gradproof.engine.derive import vjp
from gradproof.engine.run import run

from .entries import assert_moves, draw, program, total


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_take_reads_slices_along_any_axis(axis: int) -> None:
    x = draw(3, 4, 3)
    for indices in (np.asarray([2, 0, 0, -1]), np.asarray([[0, 1], [2, 2]]), np.asarray(1)):
        assert_moves("take", np.take(x, indices, axis), x, indices, axis=axis)


def test_take_along_and_its_transpose_are_those_of_numpy() -> None:
    x, indices = draw(3, 4), np.asarray([[3, 0], [1, 1], [-1, 2]])
    assert_moves("take_along", np.take_along_axis(x, indices, 1), x, indices, axis=1)
    expected = np.zeros((3, 5))
    for row, column in np.ndindex(3, 2):
        expected[row, indices[row, column]] += x[row, column]
    assert_moves("scatter_along", expected, x[:, :2], indices, axis=1, size=5)


def test_scatter_add_sums_what_falls_on_one_place() -> None:
    x, indices = draw(4, 2), np.asarray([1, 3, 1, -1])
    expected = np.zeros((4, 2))
    np.add.at(expected, indices, x)
    assert_moves("scatter_add", expected, x, indices, size=4)


def test_gather_and_scatter_by_coordinates_are_transposes() -> None:
    x, indices = draw(3, 4, 2), np.asarray([[2, 0], [0, 3], [2, 0], [-1, -1]])
    assert_moves("gather_nd", x[tuple(indices.T)], x, indices)
    expected = np.zeros((3, 4, 2))
    np.add.at(expected, tuple(indices.T), draw(4, 2))
    assert_moves("scatter_nd", expected, draw(4, 2), indices, shape=(3, 4, 2))


def test_the_last_of_several_updates_stands_and_alone_gets_a_gradient() -> None:
    x, updates, indices = draw(3, 2), draw(4, 2, seed=1), np.asarray([[1], [0], [1], [1]])
    expected = x.copy()
    expected[0], expected[1] = updates[1], updates[3]
    assert_moves("scatter_update", expected, x, indices, updates)
    source = program(lambda m, a, b: total(m, m.scatter_update(a, indices, b)), x, updates)
    result = run(BallDomain(128), source)
    gradients = [result.m.domain.leave(g)[0] for g in vjp(result, [result.m.literal(np.ones(()))])]
    np.testing.assert_array_equal(gradients[0], [[0, 0], [0, 0], [1, 1]])
    np.testing.assert_array_equal(gradients[1], [[0, 0], [1, 1], [0, 0], [1, 1]])


@pytest.mark.parametrize("mode", ["reflect", "symmetric"])
def test_mirror_pad_is_that_of_numpy(mode: str) -> None:
    x, widths = draw(3, 4), ((2, 1), (0, 3))
    assert_moves("mirror_pad", np.pad(x, widths, mode=mode), x, widths=widths, mode=mode)  # type: ignore[call-overload]


def test_repeat_is_that_of_numpy() -> None:
    x = draw(2, 3)
    assert_moves("repeat", np.repeat(x, 3, axis=1), x, repeats=3, axis=1)
