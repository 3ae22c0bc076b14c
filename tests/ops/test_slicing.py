"""Slices, padding, diagonals and bands, entry by entry against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from gradproof.domains.ieee import Ieee
from gradproof.ops import Arithmetic

from .entries import assert_moves, draw


@pytest.mark.parametrize(
    ("begin", "end", "stride"),
    [(0, 5, 1), (1, 5, 2), (4, -1, -1), (3, 0, -2), (4, -1, -3), (2, 2, 1), (0, 5, 7), (3, 1, 1)],
)
def test_a_strided_slice_takes_what_range_counts(begin: int, end: int, stride: int) -> None:
    x = draw(5, 3)
    expected = x[list(range(begin, end, stride))]
    assert_moves("strided_slice", expected, x, begin=(begin, 0), end=(end, 3), stride=(stride, 1))


def test_a_slice_beyond_the_array_is_refused() -> None:
    with pytest.raises(ValueError, match="reaches outside an axis of length 5"):
        Arithmetic(Ieee()).strided_slice(draw(5), begin=(2,), end=(7,))


def test_embed_puts_entries_where_a_slice_would_take_them() -> None:
    x = draw(3)
    expected = np.zeros(8)
    expected[[6, 4, 2]] = x
    assert_moves("embed", expected, x, begin=(6,), stride=(-2,), shape=(8,))


def test_one_number_without_axes_is_sliced_and_put_back_as_it_is() -> None:
    x = draw(1)[0]
    assert_moves("strided_slice", x, x, begin=(), end=())
    assert_moves("embed", x, x, begin=(), stride=(), shape=())


def test_pad_surrounds_with_zero_or_with_a_value() -> None:
    x, widths = draw(2, 3), ((1, 2), (0, 3))
    assert_moves("pad", np.pad(x, widths), x, widths=widths)
    assert_moves("pad", np.pad(x, widths, constant_values=-0.5), x, np.asarray(-0.5), widths=widths)


@pytest.mark.parametrize("offset", [-3, -2, -1, 0, 1, 2, 4])
def test_diagonals_are_those_of_numpy(offset: int) -> None:
    x = draw(2, 3, 4)
    assert_moves("diag_part", np.diagonal(x, offset, -2, -1), x, offset=offset)


@pytest.mark.parametrize("offset", [-2, 0, 1])
def test_diag_builds_the_matrix_whose_diagonal_it_is(offset: int) -> None:
    x = draw(3)
    size = 3 + abs(offset)
    assert_moves("diag", np.diag(x, offset), x, rows=size, columns=size, offset=offset)


def test_a_band_keeps_triangles_and_diagonals() -> None:
    x = draw(2, 4, 3)
    assert_moves("band", np.tril(x), x, lower=-1, upper=0)
    assert_moves("band", np.triu(x), x, lower=0, upper=-1)
    assert_moves("band", np.triu(np.tril(x, 1), -1), x, lower=1, upper=1)
