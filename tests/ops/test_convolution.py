"""Convolutions and pooling against plain loops over windows."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from gradproof.domains.ieee import Ieee
from gradproof.errors import InvalidProgram
from gradproof.ops import TABLE, Arithmetic, convolution
from gradproof.ops.pooling import max_pool

from .test_linalg import arithmetics, assert_encloses, draw

CASES: list[Any] = [
    ((2, 3, 7), (3, 3, 4), {}),
    ((1, 1, 9), (3, 1, 2), {"strides": (2,), "padding": ((1, 1),)}),
    ((2, 2, 5, 6), (2, 3, 2, 3), {"strides": (2, 1), "padding": ((0, 1), (1, 1))}),
    ((1, 2, 7, 7), (3, 2, 2, 2), {"dilation": (2, 3)}),
    ((1, 2, 3, 4), (2, 2, 2, 3), {"input_dilation": (2, 3), "padding": ((1, 2), (-1, 0))}),
    ((2, 4, 5, 5), (2, 2, 2, 6), {"groups": 2}),
    ((1, 3, 4, 4), (2, 2, 1, 6), {"groups": 3}),
    ((1, 2, 3, 4, 3), (2, 2, 2, 2, 2), {"padding": ((1, 0), (0, 0), (0, 1)), "strides": (1, 2, 1)}),
    ((0, 2, 4), (2, 2, 3), {}),
]


def looped(x: Any, k: Any, groups: int = 1, **params: Any) -> Any:
    """The definition: pad and dilate the data, then sum products window by window."""
    dims = k.ndim - 2
    ones = (1,) * dims
    strides, dilation = params.get("strides", ones), params.get("dilation", ones)
    spread = params.get("input_dilation", ones)
    x = _surrounded(x, spread, params.get("padding", ((0, 0),) * dims))
    counts = [(n - (w - 1) * d - 1) // s + 1 for n, w, d, s in zip(x.shape[2:], k.shape, dilation, strides)]
    y = np.zeros((x.shape[0], k.shape[-1], *counts))
    per_group = k.shape[-1] // groups
    for filter_ in range(k.shape[-1]):
        first = (filter_ // per_group) * k.shape[-2]
        for place in np.ndindex(*counts):
            for inner in np.ndindex(*k.shape[:-2]):
                at = tuple(p * s + i * d for p, s, i, d in zip(place, strides, inner, dilation))
                for channel in range(k.shape[-2]):
                    y[(slice(None), filter_, *place)] += (
                        x[(slice(None), first + channel, *at)] * k[(*inner, channel, filter_)]
                    )
    return y


def _surrounded(x: Any, spread: Any, padding: Any) -> Any:
    wide = np.zeros((*x.shape[:2], *((n - 1) * s + 1 for n, s in zip(x.shape[2:], spread))))
    wide[(..., *(slice(None, None, s) for s in spread))] = x
    wide = np.pad(wide, ((0, 0), (0, 0), *((max(a, 0), max(b, 0)) for a, b in padding)))
    return wide[(..., *(slice(-min(a, 0), n + min(b, 0)) for n, (a, b) in zip(wide.shape[2:], padding)))]


@pytest.mark.parametrize("m", arithmetics())
@pytest.mark.parametrize(("x_shape", "k_shape", "params"), CASES)
def test_convolution_sums_products_over_windows(m: Any, x_shape: Any, k_shape: Any, params: Any) -> None:
    x, k = draw(x_shape, k_shape)
    with m.domain.active():
        found = m.convolution(m.literal(x), m.literal(k), **params)
    assert_encloses(m, found, looped(x, k, **params))


@pytest.mark.parametrize(("x_shape", "k_shape", "params"), CASES)
def test_the_three_convolutions_are_one_sum_of_products(x_shape: Any, k_shape: Any, params: Any) -> None:
    """<conv(x, k), y> = <x, transposed(y, k)> = <k, kernel(x, y)>, exactly, as all entries are dyadic."""
    m = Arithmetic(Ieee())
    x, k = draw(x_shape, k_shape)
    z = m.convolution(x, k, **params)
    (y,) = draw(z.shape, seed=5)
    total = np.vdot(z, y)
    back = m.convolution_transposed(y, k, size=x_shape[2:], **params)
    assert back.shape == x.shape
    assert np.vdot(back, x) == total
    kernel = m.convolution_kernel(x, y, window=k_shape[:-2], **params)
    assert kernel.shape == k.shape
    assert np.vdot(kernel, k) == total


@pytest.mark.parametrize("m", arithmetics())
@pytest.mark.parametrize(("x_shape", "k_shape", "params"), CASES)
def test_a_batch_in_pieces_gives_the_same(
    m: Any, x_shape: Any, k_shape: Any, params: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, k = draw(x_shape, k_shape)
    plain = Arithmetic(Ieee())
    y = plain.convolution(x, k, **params)
    back = plain.convolution_transposed(y, k, size=x_shape[2:], **params)
    kernel = plain.convolution_kernel(x, y, window=k_shape[:-2], **params)
    monkeypatch.setattr(convolution, "MOST_GATHERED", 1)
    with m.domain.active():
        data, outcome, weights = (m.literal(one) for one in (x, y, k))
        found = (
            m.convolution(data, weights, **params),
            m.convolution_transposed(outcome, weights, size=x_shape[2:], **params),
            m.convolution_kernel(data, outcome, window=k_shape[:-2], **params),
        )
    for one, expected in zip(found, (y, back, kernel)):
        assert_encloses(m, one, expected)


def test_data_that_do_not_fit_the_kernel_are_refused() -> None:
    x, k = draw((1, 3, 5), (2, 2, 4))
    with pytest.raises(InvalidProgram, match="do not fit a kernel of shape"):
        Arithmetic(Ieee()).convolution(x, k)


@pytest.mark.parametrize("m", arithmetics())
@pytest.mark.parametrize("count_padding", [False, True])
def test_average_pooling_counts_padding_or_not(m: Any, count_padding: bool) -> None:
    (x,) = draw((2, 3, 5, 4))
    geometry = {"window": (3, 2), "strides": (2, 2), "padding": ((1, 1), (0, 2))}
    with m.domain.active():
        found = m.average_pool(m.literal(x), count_padding=count_padding, **geometry)
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (0, 2)), constant_values=0.0 if count_padding else np.nan)
    expected = np.zeros((2, 3, 3, 3))
    for i, j in itertools.product(range(3), range(3)):
        window = padded[:, :, 2 * i : 2 * i + 3, 2 * j : 2 * j + 2].reshape(2, 3, 6)
        known = np.where(np.isnan(window), 0.0, window)
        expected[:, :, i, j] = known.sum(-1) / np.maximum((~np.isnan(window)).sum(-1), 1)
    assert_encloses(m, found, expected)


def test_what_lies_outside_the_data_can_be_chosen() -> None:
    m = Arithmetic(Ieee())
    found = m.patches(np.array([1.0, 2.0, 3.0]), np.asarray(-9.0), window=(2,), padding=((1, 1),))
    np.testing.assert_array_equal(found, [[-9, 1], [1, 2], [2, 3], [3, -9]])


@pytest.mark.parametrize("m", arithmetics())
def test_max_pooling_takes_the_largest_datum_and_never_padding(m: Any) -> None:
    (x,) = draw((2, 3, 5, 4))
    x = x - 100.0  # all below zero: padding of zeros would win
    with m.domain.active():
        found = max_pool(m, m.literal(x), window=(3, 2), strides=(2, 2), padding=((1, 1), (0, 2)))
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (0, 2)), constant_values=-np.inf)
    expected = np.zeros((2, 3, 3, 2))
    for i, j in itertools.product(range(3), range(2)):
        expected[:, :, i, j] = padded[:, :, 2 * i : 2 * i + 3, 2 * j : 2 * j + 2].max(axis=(-2, -1))
    found = m.domain.lift(lambda v: v[..., :2], found)  # the third column of windows is padding alone
    assert_encloses(m, found, expected)


def test_the_margin_of_max_pooling_is_the_lead_over_the_second() -> None:
    m = Arithmetic(Ieee())
    x = np.array([[3.0, 1.0, 1.0, 4.0, 2.0]])
    geometry = {"window": (2,), "strides": (2,), "padding": ((0, 1),)}
    y = m.window_argmax(x, **geometry)
    np.testing.assert_array_equal(y, [[0, 3, 4]])
    margin = TABLE["window_argmax"].margin
    assert margin is not None
    np.testing.assert_array_equal(margin(m, y, x, **geometry), [[2.0, 3.0, 2.0**1000]])
    np.testing.assert_array_equal(margin(m, np.array([[1, 2, 4]]), x, **geometry), [[-2.0, -3.0, 2.0**1000]])


def test_a_tie_in_a_window_goes_to_the_entry_that_rises_fastest() -> None:
    decide_near = TABLE["window_argmax"].decide_near
    assert decide_near is not None
    x, rises = np.array([2.0, 2.0, 1.0, 2.0]), np.array([0.0, 1.0, 5.0, 1.0])
    found = decide_near(np.array([0, 1, 3]), (x,), (rises,), window=(2,))
    np.testing.assert_array_equal(found, [1, 1, 3])
    found = decide_near(np.array([0]), (x,), (np.zeros(4),), window=(4,))
    np.testing.assert_array_equal(found, [0])
