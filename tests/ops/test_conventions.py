"""Layouts, signs and conjugates are those of the frameworks: values and gradients equal PyTorch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradproof.domains.ball import BallDomain
from gradproof.engine.derive import gradient
from gradproof.engine.trace import Traced, Tracer
from gradproof.ir.program import Builder, Program
from gradproof.ops.eigen import anchors_of
from gradproof.ops.factorise import hermitian_part
from gradproof.ops.pooling import max_pool

torch = pytest.importorskip("torch")
functional = torch.nn.functional

RNG = np.random.default_rng(11)
SQUARE, TALL = RNG.normal(size=(4, 4)), RNG.normal(size=(5, 3))
POSITIVE = SQUARE @ SQUARE.T + np.eye(4)
COMPLEX = RNG.normal(size=(3, 4)) + 1j * RNG.normal(size=(3, 4))
IMAGES = RNG.normal(size=(2, 4, 9, 8))
GROUPED, TRANSPOSED = RNG.normal(size=(6, 2, 3, 2)), RNG.normal(size=(4, 3, 3, 2))
SIGNS = np.sign(np.diagonal(np.linalg.qr(TALL)[1])).astype(np.int64)[None]
EIGEN_ANCHORS = anchors_of(torch.linalg.eigh(torch.tensor(POSITIVE))[1].numpy())
SVD_ANCHORS = anchors_of(torch.linalg.svd(torch.tensor(TALL), full_matrices=False)[2].numpy().T)


def _grouped(m: Any, x: Any, k: Any) -> Any:
    geometry = {"strides": (2, 1), "dilation": (2, 1), "padding": ((2, 2), (1, 1))}
    return m.convolution(x, m.transpose(k, order=(2, 3, 1, 0)), groups=2, **geometry)


def _transposed(m: Any, x: Any, k: Any) -> Any:
    geometry = {"strides": (2, 2), "padding": ((1, 1), (1, 1))}
    return m.convolution_transposed(x, m.transpose(k, order=(2, 3, 1, 0)), size=(17, 14), **geometry)


POOL = {"window": (3, 2), "strides": (2, 2), "padding": ((1, 1), (1, 1))}

CASES: dict[str, tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...]]] = {
    "cholesky": (lambda m, a: m.cholesky(hermitian_part(m, a)), torch.linalg.cholesky, (POSITIVE,)),
    "solve": (lambda m, a, b: m.solve(a, b), torch.linalg.solve, (SQUARE, SQUARE[:, :2])),
    "det": (lambda m, a: m.det(a), torch.linalg.det, (SQUARE,)),
    "q": (lambda m, a: m.qr(a, SIGNS)[0], lambda a: torch.linalg.qr(a)[0], (TALL,)),
    "r": (lambda m, a: m.qr(a, SIGNS)[1], lambda a: torch.linalg.qr(a)[1], (TALL,)),
    "eigenvectors": (
        lambda m, a: m.eigh(hermitian_part(m, a), EIGEN_ANCHORS)[1],
        lambda a: torch.linalg.eigh(a)[1],
        (POSITIVE,),
    ),
    "left singular vectors": (
        lambda m, a: m.svd(a, SVD_ANCHORS)[1],
        lambda a: torch.linalg.svd(a, full_matrices=False)[0],
        (TALL,),
    ),
    "pinv": (lambda m, a: m.pinv(a), torch.linalg.pinv, (TALL,)),
    "matrix_exp": (lambda m, a: m.matrix_exp(a), torch.linalg.matrix_exp, (SQUARE,)),
    "fft2": (lambda m, x: m.fft(x, axes=(0, 1)), torch.fft.fft2, (COMPLEX,)),
    "ifft": (lambda m, x: m.ifft(x, axes=(1,)), torch.fft.ifft, (COMPLEX,)),
    "rfft": (lambda m, x: m.rfft(x, axis=1), torch.fft.rfft, (TALL,)),
    "irfft, even": (lambda m, x: m.irfft(x, axis=1, length=6), lambda x: torch.fft.irfft(x, n=6), (COMPLEX,)),
    "irfft, odd": (lambda m, x: m.irfft(x, axis=1, length=7), lambda x: torch.fft.irfft(x, n=7), (COMPLEX,)),
    "grouped convolution": (
        _grouped,
        lambda x, k: functional.conv2d(x, k, stride=(2, 1), dilation=(2, 1), padding=(2, 1), groups=2),
        (IMAGES, GROUPED),
    ),
    "transposed convolution": (
        _transposed,
        lambda x, k: functional.conv_transpose2d(x, k, stride=2, padding=1),
        (IMAGES, TRANSPOSED),
    ),
    "max_pool": (
        lambda m, x: max_pool(m, x, **POOL),
        lambda x: functional.max_pool2d(x, (3, 2), stride=2, padding=1),
        (IMAGES,),
    ),
    "average_pool": (
        lambda m, x: m.average_pool(x, count_padding=True, **POOL),
        lambda x: functional.avg_pool2d(x, (3, 2), stride=2, padding=1),
        (IMAGES,),
    ),
}


def _weights(y: Any) -> Any:
    rng = np.random.default_rng(5)
    w = rng.normal(size=y.shape)
    return w + 1j * rng.normal(size=y.shape) if np.iscomplexobj(y) else w


def _program(function: Callable[..., Any], xs: tuple[Any, ...]) -> tuple[Program, Any]:
    """The real part of a weighted sum of all results, and the results."""
    builder = Builder()
    m = Tracer(builder, phase="forward")
    y = function(m, *(Traced(m, builder.input(x), x) for x in xs))
    weighted = m.mul(y, _weights(y.value))
    total = m.sum(weighted, axes=tuple(range(weighted.ndim)))
    return builder.build([(m.real(total) if np.iscomplexobj(y.value) else total).id]), y.value


@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients_equal_pytorch(name: str) -> None:
    ours, theirs, xs = CASES[name]
    program, value = _program(ours, xs)
    tensors = [torch.tensor(x, requires_grad=True) for x in xs]
    result = theirs(*tensors)
    np.testing.assert_allclose(value, result.detach().numpy(), rtol=1e-9, atol=1e-9)
    total = (result * torch.tensor(_weights(value))).sum()
    expected = torch.autograd.grad(total.real if total.is_complex() else total, tensors)
    domain = BallDomain(128)
    for found, other in zip(gradient(domain, program), expected, strict=True):
        mid, rad = domain.leave(found)
        assert (rad < 1e-12).all()
        np.testing.assert_allclose(mid, other.numpy(), rtol=1e-9, atol=1e-9)
