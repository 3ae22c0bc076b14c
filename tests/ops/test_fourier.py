"""Fourier transforms, entry by entry against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradproof.domains.ball import BallDomain
from gradproof.domains.ball64 import BallDomain64
from gradproof.domains.ieee import Ieee
from gradproof.errors import NotSupported
from gradproof.ops import Arithmetic

from .test_linalg import assert_encloses, draw

ARITHMETICS = [pytest.param(Arithmetic(domain), id=domain.name) for domain in (Ieee(), BallDomain(128))]


def complex_numbers(*shape: int) -> Any:
    real, imaginary = draw(shape, shape)
    return real + 1j * imaginary


@pytest.mark.parametrize("m", ARITHMETICS)
@pytest.mark.parametrize(
    ("shape", "axes"),
    [((7,), (0,)), ((3, 8), (1,)), ((3, 4, 5), (0, 2)), ((2, 3, 4), (0, 1, 2)), ((1,), (0,))],
)
def test_transforms_equal_numpy(m: Any, shape: Any, axes: Any) -> None:
    x = complex_numbers(*shape)
    with m.domain.active():
        forwards, backwards = m.fft(m.literal(x), axes=axes), m.ifft(m.literal(x), axes=axes)
    assert_encloses(m, forwards, np.fft.fftn(x, axes=axes))
    assert_encloses(m, backwards, np.fft.ifftn(x, axes=axes))


@pytest.mark.parametrize("m", ARITHMETICS)
@pytest.mark.parametrize("length", [1, 2, 5, 8])
@pytest.mark.parametrize("axis", [0, -1])
def test_real_transforms_equal_numpy(m: Any, length: int, axis: int) -> None:
    shape = (length, 3) if axis == 0 else (3, length)
    (x,) = draw(shape)
    half = complex_numbers(*np.fft.rfft(x, axis=axis).shape)
    with m.domain.active():
        forwards = m.rfft(m.literal(x), axis=axis)
        backwards = m.irfft(m.literal(half), axis=axis, length=length)
    assert_encloses(m, forwards, np.fft.rfft(x, axis=axis))
    assert_encloses(m, backwards, np.fft.irfft(half, n=length, axis=axis))


def test_real_balls_leave_transforms_to_the_next_rung() -> None:
    m = Arithmetic(BallDomain64())
    with pytest.raises(NotSupported, match="float64 balls cannot evaluate `fft`"):
        m.rfft(m.literal(np.ones(4)), axis=0)
