"""Calls of PyTorch at complex numbers: each lowering that takes them is met here."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch.nn import functional as F

Call = Callable[..., Any]


def _points(*shapes: tuple[int, ...]) -> tuple[Any, ...]:
    """Random points away from the axes, where functions have their cuts."""
    draw = torch.Generator().manual_seed(5)
    parts = [
        [0.2 + 0.6 * torch.rand(shape, generator=draw, dtype=torch.float64) for shape in shapes] for _ in "ri"
    ]
    signs = [1 - 2 * torch.randint(0, 2, shape, generator=draw) for shape in shapes]
    return tuple(torch.complex(re, sign * im) for re, im, sign in zip(*parts, signs))


X, Y = _points((3, 4), (3, 4))
A, B = _points((3, 3), (3, 3))
V, W = _points((4,), (4,))
CUBE, OTHER = _points((2, 3, 4), (2, 4, 3))
PICTURE, KERNEL = _points((1, 2, 5, 5), (2, 2, 3, 3))
REAL = X.real.clone()
ROWS = torch.tensor([2, 0])
PLACES = torch.tensor([[0, 1, 2, 0], [2, 0, 0, 1]])
MASK = torch.tensor([[True, False, True, True]]).expand(3, 4)


def _second(call: Call) -> Call:
    """The derivative itself as a function: its backward ops are forward ops of the next derivative."""

    def derivative(x: Any) -> Any:
        y = call(x)
        (gradient,) = torch.autograd.grad((y * y.conj()).real.sum(), x, create_graph=True)
        return gradient

    return derivative


def _in_place(x: Any) -> Any:
    y = x.clone()
    first = y[0]
    y[1] = x[0] * 2
    y.mul_(x)
    y.transpose_(0, 1)
    return y * first[:3]


class _Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return 2 * x

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return 2 * gradient


_ENTRYWISE = (
    "abs", "acos", "acosh", "angle", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp", "exp2", "expm1", "log",
    "log10", "log1p", "log2", "neg", "positive", "reciprocal", "rsqrt", "sgn", "sigmoid", "sin", "sinh", "sqrt",
    "square", "tan", "tanh", "conj", "conj_physical", "real", "imag", "view_as_real", "clone", "cumsum", "cumprod",
)  # fmt: skip
_WITH_AXIS = ("cumsum", "cumprod")

SAMPLES: dict[str, tuple[Call, tuple[Any, ...]]] = {
    name: (getattr(torch, name), (X,)) for name in _ENTRYWISE if name not in _WITH_AXIS
}
SAMPLES |= {name: (partial(getattr(torch, name), dim=1), (X,)) for name in _WITH_AXIS}
SAMPLES |= {
    f"second derivative of {name}": (_second(getattr(torch, name)), (X,))
    for name in ("tanh", "sigmoid", "exp", "log", "sqrt", "reciprocal", "sin", "abs", "square", "rsqrt")
}
SAMPLES |= {
    name: (getattr(torch.fft, name), (X,))
    for name in ("fft", "ifft", "fft2", "ifft2", "irfft", "hfft", "fftshift", "ihfft", "rfft")
    if name not in ("ihfft", "rfft")
}
SAMPLES |= {
    "rfft": (torch.fft.rfft, (REAL,)),
    "ihfft": (torch.fft.ihfft, (REAL,)),
    "complex": (torch.complex, (REAL, Y.real.clone())),
    "polar": (torch.polar, (REAL, Y.real.clone())),
    "view_as_complex": (lambda x: torch.view_as_complex(x.reshape(3, 2, 2)), (REAL,)),
    "cast": (lambda x: x.to(torch.float64), (X,)),
    "cast up": (lambda x: x.to(torch.complex128) * Y, (REAL,)),
    "triangular solve": (lambda x, y: torch.linalg.solve_triangular(x, y, upper=True), (A, B)),
    "drawn": (
        lambda x: x * torch.rand_like(x) * 0 + x + torch.empty_like(x).zero_() + torch.randn_like(x) * 0,
        (X,),
    ),
    "add": (lambda x, y: torch.add(x, y, alpha=2 + 1j), (X, Y)),
    "add a number": (lambda x: x + (1 - 2j), (X,)),
    "sub": (lambda x, y: torch.sub(x, y, alpha=3), (X, Y)),
    "rsub": (lambda x: (2 + 1j) - x, (X,)),
    "mul": (torch.mul, (X, Y)),
    "mul with reals": (torch.mul, (X, REAL)),
    "div": (torch.div, (X, Y)),
    "pow": (torch.pow, (X, Y)),
    "pow by a number": (lambda x: x**3, (X,)),
    "pow by a fraction": (lambda x: x**1.5, (X,)),
    "pow of a number": (lambda x: 2.0**x, (X,)),
    "addcmul": (lambda x, y: torch.addcmul(x, x, y, value=2.0), (X, Y)),
    "addcdiv": (lambda x, y: torch.addcdiv(x, x, y, value=2.0), (X, Y)),
    "lerp": (lambda x, y: torch.lerp(x, y, 0.3), (X, Y)),
    "where": (lambda x, y: torch.where(MASK, x, y), (X, Y)),
    "masked_fill": (lambda x: x.masked_fill(MASK, 2j), (X,)),
    "masked_select": (lambda x: x.masked_select(MASK), (X,)),
    "sum": (lambda x: x.sum(1), (X,)),
    "mean": (lambda x: x.mean(0), (X,)),
    "prod": (lambda x: x.prod(1), (X,)),
    "var": (lambda x: x.var(1), (X,)),
    "std": (lambda x: x.std(1), (X,)),
    "var_mean": (lambda x: torch.var_mean(x, 1), (X,)),
    "norm": (lambda x: x.norm(), (X,)),
    "vector_norm": (lambda x: torch.linalg.vector_norm(x, 3, dim=1), (X,)),
    "dist": (torch.dist, (X, Y)),
    "dot": (torch.dot, (V, W)),
    "vdot": (torch.vdot, (V, W)),
    "mm": (torch.mm, (A, B)),
    "mv": (torch.mv, (X, V)),
    "bmm": (torch.bmm, (CUBE, OTHER)),
    "matmul": (lambda x, y: x @ y.mH, (X, Y)),
    "addmm": (lambda x, y: torch.addmm(x, x, y, beta=0.5, alpha=2), (A, B)),
    "addmv": (lambda x, y: torch.addmv(y[0], y, x[0]), (A, B)),
    "addr": (lambda x, y: torch.addr(x @ y.T, x[:, 0], y[:, 1]), (X, Y)),
    "baddbmm": (lambda x, y: torch.baddbmm(x @ y, x, y), (CUBE, OTHER)),
    "einsum": (lambda x, y: torch.einsum("ij,kj->ik", x, y), (X, Y)),
    "conv2d": (F.conv2d, (PICTURE, KERNEL)),
    "inv": (torch.linalg.inv, (A,)),
    "solve": (torch.linalg.solve, (A, B)),
    "det": (torch.linalg.det, (A,)),
    "cholesky": (lambda x: torch.linalg.cholesky(x @ x.mH + torch.eye(3)), (A,)),
    "matrix_exp": (torch.linalg.matrix_exp, (A,)),
    "matrix_power": (lambda x: torch.linalg.matrix_power(x, 3), (A,)),
    "cross": (lambda x, y: torch.linalg.cross(x, y, dim=0), (X, Y)),
    "trace": (torch.trace, (A,)),
    "tril": (torch.tril, (X,)),
    "triu": (torch.triu, (X,)),
    "diag": (torch.diag, (A,)),
    "diag_embed": (torch.diag_embed, (V,)),
    "cat": (lambda x, y: torch.cat([x, y], 1), (X, Y)),
    "stack": (lambda x, y: torch.stack([x, y]), (X, Y)),
    "split": (lambda x: torch.split(x, 2, 1), (X,)),
    "split in parts": (lambda x: torch.split(x, [1, 3], 1), (X,)),
    "unbind": (torch.unbind, (X,)),
    "roll": (lambda x: torch.roll(x, 1, 0), (X,)),
    "flip": (lambda x: torch.flip(x, (0,)), (X,)),
    "repeat": (lambda x: x.repeat(2, 1), (X,)),
    "expand": (lambda x: x.expand(3, 4), (V,)),
    "permute": (lambda x: x.permute(2, 0, 1), (CUBE,)),
    "squeeze": (lambda x: x.unsqueeze(0).squeeze(0).t(), (X,)),
    "reshape": (lambda x: x.t().reshape(2, 6), (X,)),
    "slice": (lambda x: x[1:, ::2], (X,)),
    "diagonal": (lambda x: x.diagonal(1), (A,)),
    "unfold": (lambda x: x.unfold(1, 2, 1), (X,)),
    "as_strided": (lambda x: x.as_strided((2, 2), (4, 1), 1), (X,)),
    "pad": (lambda x: F.pad(x, (1, 2)), (X,)),
    "pad by reflection": (lambda x: F.pad(x, (1, 1), mode="reflect"), (X,)),
    "pad by repetition": (lambda x: F.pad(x, (1, 1), mode="replicate"), (X,)),
    "gather": (lambda x: x.gather(0, PLACES), (X,)),
    "scatter": (lambda x, y: x.scatter(0, PLACES[:1], y[:1]), (X, Y)),
    "scatter a number": (lambda x: x.scatter(0, PLACES[:1], 2j), (X,)),
    "scatter_add": (lambda x, y: x.scatter_add(0, PLACES, y[:2]), (X, Y)),
    "take": (lambda x: x.take(ROWS), (X,)),
    "put": (lambda x, y: x.put(ROWS, y, accumulate=True), (X, V[:2].clone())),
    "index": (lambda x: x[ROWS, 1:], (X,)),
    "index_select": (lambda x: x.index_select(0, ROWS), (X,)),
    "index_add": (lambda x, y: x.index_add(0, ROWS, y[:2]), (X, Y)),
    "index_copy": (lambda x, y: x.index_copy(0, ROWS, y[:2]), (X, Y)),
    "index_fill": (lambda x: x.index_fill(0, ROWS, 1j), (X,)),
    "index_put": (lambda x, y: x.index_put((ROWS,), y, accumulate=True), (X, V)),
    "in place": (_in_place, (X,)),
    "a function of the user's": (_Doubled.apply, (X,)),
    "copies": (lambda x, y: x.clone().copy_(y) * x, (X, Y)),
    "fill": (lambda x, y: torch.fill(x, y[0]) * x, (V, W)),
    "full_like": (lambda x: x * torch.full_like(x, 2j) + torch.ones_like(x) + torch.zeros_like(x), (X,)),
    "new": (lambda x: x * x.new_ones(4) + x.new_zeros(4), (X,)),
    "detach": (lambda x: x * Y.detach() + x.detach() * 0 + x - Y, (X,)),
    "hypothenuse": (lambda x: (x.real.square() + x.imag.square()).sqrt(), (X,)),
}  # fmt: skip
