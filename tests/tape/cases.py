"""NumPy and SciPy functions as users write them, each with a point where it is smooth."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

V = np.array([0.3, 1.7, -0.6, 2.2])
P = np.array([0.4, 1.3, 2.1, 0.9])
U = np.array([0.31, 0.55, 0.12, 0.8])
M = np.array([[0.5, -1.2, 2.0], [1.5, 0.7, -0.4]])
S = np.array([[2.0, 0.3, -0.5], [0.4, 1.5, 0.2], [-0.1, 0.6, 3.0]])
Z = np.array([[1.0, 0.25], [-0.5, 2.0], [0.75, -1.5]])
W = np.array([0.7, -0.2, 1.1, 0.4])

UNARY_ANYWHERE = (
    np.negative,
    np.positive,
    np.exp,
    np.exp2,
    np.expm1,
    np.sin,
    np.cos,
    np.tan,
    np.arctan,
    np.sinh,
    np.cosh,
    np.tanh,
    np.arcsinh,
    np.square,
    np.reciprocal,
    np.cbrt,
    np.absolute,
    np.fabs,
    np.deg2rad,
    np.rad2deg,
    np.sinc,
    np.i0,
    np.conjugate,
    np.real,
    np.nan_to_num,
    np.copy,
    special.expit,
    special.log_expit,
    special.erf,
    special.erfc,
    special.erfcx,
    special.ndtr,
    special.log_ndtr,
    special.dawsn,
    special.i0,
    special.i1,
    special.j0,
    special.j1,
    special.i0e,
    special.i1e,
    special.cosm1,
    special.exprel,
)
UNARY_POSITIVE = (
    np.log,
    np.log2,
    np.log10,
    np.log1p,
    np.sqrt,
    special.gamma,
    special.gammaln,
    special.psi,
    special.entr,
    special.k0,
    special.k1,
    special.k0e,
    special.k1e,
    special.y0,
    special.y1,
    special.expi,
    special.exp1,
    special.spence,
    special.rgamma,
)
UNARY_INSIDE = (
    np.arcsin,
    np.arccos,
    np.arctanh,
    special.logit,
    special.ndtri,
    special.erfinv,
    special.erfcinv,
)
REDUCTIONS = (
    np.sum,
    np.mean,
    np.prod,
    np.max,
    np.min,
    np.var,
    np.std,
    np.ptp,
    np.median,
    np.nansum,
    np.nanmean,
    np.nanmax,
    np.nanmin,
    np.average,
    np.linalg.norm,
)

Case = tuple[str, Callable[..., Any], tuple[Any, ...]]


def _named(prefix: str, functions: Any, point: Any) -> list[Case]:
    return [(f"{prefix}{function.__name__}", function, (point,)) for function in functions]


def _case(name: str, function: Callable[..., Any], *points: Any) -> Case:
    return name, function, points


def _assign(x: Any, index: Any, value: Any) -> Any:
    y = x * 1.0
    y[index] = value(x)
    return y


def _in_place(x: Any) -> Any:
    y = x * 2.0
    y += x**2
    y *= 3.0
    y -= 1.0
    return y / 2.0


def _through_a_view(x: Any) -> Any:
    y = x * 1.0
    row = y[1:3]
    row[0] = x[0] * x[1]
    y[2] = x[3] ** 2
    return y * row.sum()


def _scatter(x: Any) -> Any:
    y = np.zeros_like(x)
    np.add.at(y, [0, 2, 2, 1], x)
    return y * y


def _loop(x: Any) -> Any:
    total = 0.0
    for k, entry in enumerate(x):
        total = total + entry ** (k + 1) if entry > 0 else total - entry
    return total


def _newton(x: Any) -> Any:
    y = x
    while abs(y * y - x) > 1e-12:
        y = (y + x / y) / 2
    return y


OPERATORS = [
    _case("add", operator.add, V, W),
    _case("sub", operator.sub, V, W),
    _case("mul", operator.mul, V, W),
    _case("div", operator.truediv, V, P),
    _case("scalar", lambda x: 2 - 3 / (x + 5) * 0.1, V),
    _case("power", lambda x, e: x**e, P, W),
    _case("square", lambda x: x**2, V),
    _case("cube", lambda x: x**3.0, V),
    _case("inverse power", lambda x: x**-2, V),
    _case("root", lambda x: x**0.5, P),
    _case("base", lambda x: 2.0**x, V),
    _case("mod", lambda x: x % 1.0, V),
    _case("floordiv", lambda x: x * (x // 0.7), V),
    _case("broadcast", operator.mul, M, np.array([[2.0], [0.5]])),
    _case("divmod", lambda x: divmod(x, 0.4)[1], V),
    _case("matmul", operator.matmul, M, S),
    _case("vector", operator.matmul, S, np.array([1.0, 2.0, 3.0])),
    _case("row", lambda a, b: a @ b, np.array([1.0, -2.0, 0.5]), S),
    _case("inner", lambda a, b: a @ b, V, W),
    _case("abs", abs, V),
    _case("stack of products", lambda a, b: a @ b, np.stack([M, 2 * M]), Z),
    _case("mixed", lambda x: (x > 0) * x + 1, V),
]

BINARY = [
    _case("arctan2", np.arctan2, V, P),
    _case("hypot", np.hypot, V, W),
    _case("logaddexp", np.logaddexp, V, W),
    _case("logaddexp2", np.logaddexp2, V, W),
    _case("maximum", np.maximum, V, W),
    _case("minimum", np.minimum, V, W),
    _case("fmax", np.fmax, V, W),
    _case("fmin", np.fmin, V, W),
    _case("fmod", lambda x: np.fmod(x, 0.7), V),
    _case("copysign", lambda a: np.copysign(a, W), V),
    _case("heaviside", lambda x: x * np.heaviside(x, 0.5), V),
    _case("float_power", np.float_power, P, W),
    _case("ldexp", lambda x: np.ldexp(x, 3), V),
    _case("modf", lambda x: np.modf(x)[0], V),
    _case("remainder", lambda a, b: np.remainder(a, b), np.array([5.3, -2.2]), np.array([1.7, 0.9])),
    _case("xlogy", special.xlogy, P, U),
    _case("xlog1py", special.xlog1py, P, U),
    _case("betaln", special.betaln, P, U),
    _case("beta", special.beta, P, U),
    _case("betainc", lambda x: special.betainc(1.3, 2.1, x), U),
    _case("gammainc", lambda x: special.gammainc(1.3, x), P),
    _case("gammaincc", lambda x: special.gammaincc(2.5, x), P),
    _case("rel_entr", special.rel_entr, P, U),
    _case("kl_div", special.kl_div, P, U),
    _case("huber", lambda x: special.huber(1.0, x), V),
    _case("pseudo_huber", lambda x: special.pseudo_huber(1.0, x), V),
    _case("jv", lambda x: special.jv(2, x), P),
    _case("iv", lambda x: special.iv(3, x), P),
    _case("zeta", lambda q: special.zeta(2.5, q), P),
    _case("fresnel", lambda x: special.fresnel(x)[0] * special.fresnel(x)[1], P),
]

DECISIONS = [
    _case("where", lambda x: np.where(x > 0, x**2, -x), V),
    _case("clip", lambda x: np.clip(x, -0.5, 1.0), V),
    _case("clip method", lambda x: x.clip(min=0.1), V),
    _case("sign", lambda x: x * np.sign(x), V),
    _case("round", lambda x: x * np.round(x), V),
    _case("decimals", lambda x: x * np.round(x, 1), np.array([0.33, 1.78])),
    _case("floor", lambda x: x - np.floor(x), V),
    _case("ceil", lambda x: x * np.ceil(x), V),
    _case("trunc", lambda x: x * np.trunc(x), V),
    _case("rint", lambda x: x * np.rint(x), V),
    _case("relu by mask", lambda x: x * (x > 0), V),
    _case("mask", lambda x: x[x > 0] ** 2, V),
    _case("two masks", lambda x: x[(x > 0) & (x < 2)], V),
    _case("not", lambda x: x[~(x > 0)] * 3, V),
    _case("select", lambda x: np.select([x < 0, x < 1], [x**2, x], 3 * x), V),
    _case("argmax", lambda x: x[np.argmax(x)] ** 2, V),
    _case("sort", lambda x: np.sort(x) * np.arange(1.0, 5.0), V),
    _case("argsort", lambda x: x[np.argsort(x)] * np.arange(4.0), V),
    _case("take_along", lambda x: np.take_along_axis(x, np.argsort(x, axis=1), axis=1)[:, 0], M),
    _case("cummax", lambda x: np.maximum.accumulate(x) * x, V),
    _case("quantile", lambda x: np.quantile(x, 0.3), V),
    _case("percentile", lambda x: np.percentile(x, [20, 60]), V),
    _case("interp", lambda x: np.interp(x, [-1.0, 0.5, 1.5, 3.0], [1.0, -1.0, 2.0, 0.0]), V),
    _case("interp values", lambda f: np.interp([0.2, 0.9], [0, 0.3, 0.6, 1.0], f), V),
    _case("searchsorted", lambda x: x * np.searchsorted([0.0, 1.0, 2.0], x), V),
    _case("compress", lambda x: np.compress(x > 0, x) ** 2, V),
    _case("extract", lambda x: np.extract(x > 0, x) ** 2, V),
    _case("choose", lambda x: np.choose([0, 1, 0, 1], [x, x**2]), V),
    _case(
        "where over out",
        lambda x: np.multiply(x, x, out=np.zeros_like(x), where=np.array([True, False, True, True])),
        V,
    ),
]

AXES = [
    _case(f"{function.__name__} {options}", lambda x, f=function, o=options: f(x, **o), M)
    for function in (np.sum, np.mean, np.prod, np.max, np.min, np.var, np.std, np.median)
    for options in ({"axis": 0}, {"axis": 1, "keepdims": True}, {"axis": (0, 1)}, {"axis": -1})
]
SCANS = [
    _case("cumsum", np.cumsum, M),
    _case("cumsum axis", lambda x: np.cumsum(x, axis=1) ** 2, M),
    _case("cumprod", lambda x: np.cumprod(x, axis=0), M),
    _case("diff", np.diff, V),
    _case("second diff", lambda x: np.diff(x, 2), V),
    _case("trapezoid", lambda x: np.trapezoid(x**2, dx=0.1), V),
    _case("trapezoid over points", lambda x: np.trapezoid(np.sin(x), x), P),
    _case("gradient", lambda x: np.gradient(x**2), V),
    _case("ediff1d", np.ediff1d, V),
    _case("add.reduce", lambda x: np.add.reduce(x, axis=1), M),
    _case("multiply.accumulate", lambda x: np.multiply.accumulate(x), V),
    _case("logaddexp.reduce", lambda x: np.logaddexp.reduce(x), V),
    _case("sum where", lambda x: np.sum(x, where=x > 0), V),
    _case("sum initial", lambda x: np.sum(x * x, initial=2.0), V),
    _case("mean where", lambda x: np.mean(x, where=[True, False, True, True]), V),
    _case("weights", lambda x: np.average(x, weights=[1.0, 2, 3, 4]), V),
    _case("weights too", lambda x, w: np.average(x, weights=w), V, P),
    _case("var ddof", lambda x: np.var(x, ddof=1), V),
    _case("norm 1", lambda x: np.linalg.norm(x, 1), V),
    _case("norm inf", lambda x: np.linalg.norm(x, np.inf), V),
    _case("norm 3", lambda x: np.linalg.norm(x, 3), V),
    _case("norm rows", lambda x: np.linalg.norm(x, axis=1), M),
]
SHAPES = [
    _case("reshape", lambda x: x.reshape(3, 2) ** 2, M),
    _case("reshape -1", lambda x: np.reshape(x, -1) * np.arange(6.0), M),
    _case("reshape F", lambda x: np.reshape(x, (3, 2), order="F")[0] ** 2, M),
    _case("ravel", lambda x: x.ravel()[1:] ** 2, M),
    _case("flatten", lambda x: x.flatten()[::2], M),
    _case("T", lambda x: x.T @ x, M),
    _case("transpose", lambda x: x.transpose(1, 0)[0], M),
    _case("swapaxes", lambda x: np.swapaxes(x, 0, 1)[1], M),
    _case("moveaxis", lambda x: np.moveaxis(x[None], 0, -1)[..., 0], M),
    _case("squeeze", lambda x: np.squeeze(x[None]), M),
    _case("expand_dims", lambda x: np.expand_dims(x, 1) * x, V),
    _case("concatenate", lambda x, y: np.concatenate([x, y * 2, x]), V, W),
    _case("stack", lambda x, y: np.stack([x, x * y], axis=1)[0], V, W),
    _case("hstack", lambda x, y: np.hstack([x, y]) ** 2, V, W),
    _case("vstack", lambda x, y: np.vstack([x, y])[1], V, W),
    _case("column_stack", lambda x, y: np.column_stack([x, y])[2], V, W),
    _case("split", lambda x: np.split(x, 2)[1] ** 2, V),
    _case("array_split", lambda x: np.array_split(x, 3)[0], V),
    _case("tile", lambda x: np.tile(x, 2) * np.arange(8.0), V),
    _case("repeat", lambda x: np.repeat(x, 2) * np.arange(8.0), V),
    _case("roll", lambda x: np.roll(x, 1) * x, V),
    _case("flip", lambda x: np.flip(x) * np.arange(4.0), V),
    _case("rot90", lambda x: np.rot90(x)[0], M),
    _case("pad", lambda x: np.pad(x, 1)[1:-1] ** 2, V),
    _case("pad edge", lambda x: np.pad(x, 2, mode="edge") ** 2, V),
    _case("broadcast_to", lambda x: np.broadcast_to(x, (3, 4)) ** 2, V),
    _case("meshgrid", lambda x, y: operator.mul(*np.meshgrid(x, y)), V, P),
    _case("tril", lambda x: np.tril(x) ** 2, S),
    _case("triu", lambda x: np.triu(x, 1) ** 2, S),
    _case("diag", np.diag, S),
    _case("diag matrix", lambda x: np.diag(x) @ np.ones(4), V),
    _case("trace", np.trace, S),
    _case("block", lambda x: np.block([[x, x], [x, x]])[2], np.array([[1.0, 2.0], [3.0, 4.0]])),
    _case("append", lambda x: np.append(x, x**2), V),
    _case("delete", lambda x: np.delete(x, 1) ** 2, V),
    _case("unstack", lambda x: np.unstack(x)[1] ** 2, M),
    _case("atleast_2d", lambda x: np.atleast_2d(x) ** 2, V),
    _case("dstack", lambda x: np.dstack([x, x**2]), V),
    _case("astype", lambda x: x.astype(np.float64) ** 2, V),
]
INDICES = [
    _case("item", lambda x: x[1] ** 2, V),
    _case("negative", lambda x: x[-1] * x[0], V),
    _case("slice", lambda x: x[1:3] ** 2, V),
    _case("stride", lambda x: x[::-2] ** 2, V),
    _case("rows", lambda x: x[1, :2] ** 2, M),
    _case("ellipsis", lambda x: x[..., 1] ** 2, M),
    _case("newaxis", lambda x: x[:, None] * x[None, :], V),
    _case("places", lambda x: x[[0, 2, 2]] ** 2, V),
    _case("pairs", lambda x: x[[0, 1], [2, 0]] ** 2, M),
    _case("take", lambda x: np.take(x, [2, 0, 0], axis=1) ** 2, M),
    _case("assign", lambda x: _assign(x, 1, lambda x: x[0] ** 2) ** 2, V),
    _case("assign slice", lambda x: _assign(x, slice(0, 2), lambda x: x[2:] * 3) ** 2, V),
    _case("assign mask", lambda x: _assign(x, np.array([True, False, False, True]), lambda x: 0.5) ** 2, V),
    _case("assign own mask", lambda x: _assign(x, x < 0, lambda x: 0.0) ** 2, V),
    _case("assign places", lambda x: _assign(x, [3, 1], lambda x: x[:2]) ** 2, V),
    _case("in place", _in_place, V),
    _case("through a view", _through_a_view, V),
    _case("add.at", _scatter, V),
    _case("loop", _loop, V),
    _case("empty slice", lambda x: np.sum(x[4:]) + x[0], V),
    _case("newton", _newton, np.array(2.3)),
    _case("sum of list", lambda x: sum([x[k] ** k for k in range(4)]), V),
    _case("zeros_like", lambda x: _assign(np.zeros_like(x), 2, lambda _: x[1]) * x, V),
]
LINEAR = [
    _case("dot", np.dot, M, S),
    _case("dot vectors", np.dot, V, W),
    _case("dot stack", lambda a, b: np.dot(a, b), np.stack([M, M]), S),
    _case("inner product", np.inner, M, S),
    _case("outer", np.outer, V, W),
    _case("tensordot", lambda a, b: np.tensordot(a, b, axes=([1], [0])), M, S),
    _case("vdot", np.vdot, V, W),
    _case("kron", np.kron, M, np.array([[1.0, 2.0]])),
    _case("cross", np.cross, M, M[::-1] * 2),
    _case("einsum", lambda a, b: np.einsum("ij,kj->ik", a, b), M, S),
    _case("einsum trace", lambda a: np.einsum("ii", a), S),
    _case("multiply.outer", lambda a, b: np.multiply.outer(a, b), V, W),
    _case("solve", np.linalg.solve, S, np.array([1.0, 2.0, 3.0])),
    _case("solve matrix", np.linalg.solve, S, Z),
    _case("inv", np.linalg.inv, S),
    _case("det", np.linalg.det, S),
    _case("slogdet", lambda a: np.linalg.slogdet(a)[1], S),
    _case("cholesky", lambda a: np.linalg.cholesky(a @ a.T), S),
    _case("qr", lambda a: np.linalg.qr(a)[1], S),
    _case("q", lambda a: np.linalg.qr(a)[0][0], Z),
    _case("eigvalsh", lambda a: np.linalg.eigvalsh(a + a.T), S),
    _case("eigh vectors", lambda a: np.linalg.eigh(a + a.T)[1][0], S),
    _case("svd values", lambda a: np.linalg.svd(a, compute_uv=False), Z),
    _case("svd", lambda a: np.linalg.svd(a, full_matrices=False)[0][0], Z),
    _case("cond", np.linalg.cond, S),
    _case("pinv", np.linalg.pinv, Z),
    _case("lstsq", lambda a: np.linalg.lstsq(a, [1.0, 2.0, 0.5], rcond=None)[0], Z),
    _case("matrix_power", lambda a: np.linalg.matrix_power(a, 3), S),
    _case("multi_dot", lambda a, b: np.linalg.multi_dot([a, b, a.T]), M, S),
    _case("frobenius", lambda a: np.linalg.norm(a), S),
]
FOURIER = [
    _case("fft", lambda x: np.abs(np.fft.fft(x)) ** 2, V),
    _case("rfft", lambda x: np.abs(np.fft.rfft(x, n=6)), V),
    _case("irfft", lambda x: np.fft.irfft(x + 0j, n=7), V),
    _case("ifft", lambda x: np.real(np.fft.ifft(x) * np.array([1, 2j, 3, -1j])), V),
    _case("fft2", lambda x: np.imag(np.fft.fft2(x)) ** 2, M),
    _case("fft ortho", lambda x: np.abs(np.fft.fft(x, norm="ortho")), V),
    _case("fftshift", lambda x: np.fft.fftshift(x) * np.arange(4.0), V),
    _case("angle", lambda x: np.angle(x[0] + 1j * x[1]), V),
    _case("complex product", lambda x: np.real((x + 1j) * (x - 2j)), V),
    _case("modulus", lambda x: np.abs(x + 2j), V),
    _case("rfft forward", lambda x: np.abs(np.fft.rfft(x, norm="forward")), V),
    _case("hfft", lambda x: np.fft.hfft(x + 0j, n=6), V),
]

COMPOSED = [
    _case("convolve", np.convolve, V, W[:3]),
    _case("convolve same", lambda a, b: np.convolve(a, b, mode="same"), W[:2], V),
    _case("convolve valid", lambda a, b: np.convolve(a, b, "valid"), V, W[:2]),
    _case("correlate", np.correlate, V, W[:3]),
    _case("correlate full", lambda a, b: np.correlate(a, b, "full"), V, W[:3]),
    _case("cov", np.cov, M),
    _case("cov of two", np.cov, V, W),
    _case("cov of columns", lambda x: np.cov(x, rowvar=False, bias=True), Z),
    _case("corrcoef", np.corrcoef, M),
    _case("polyval", np.polyval, V, W),
    _case("vander", lambda x: np.vander(x, 3), V),
    _case("linspace", lambda a, b: np.linspace(a, b, 5), np.array(0.5), np.array(2.0)),
    _case("nanprod", lambda x: np.nanprod(np.where([True, False, True, True], x, np.nan)), V),
    _case("nanvar", lambda x: np.nanvar(np.where([True, False, True, True], x, np.nan)), V),
    _case("nanstd", lambda x: np.nanstd(x, axis=1, ddof=1), M),
    _case("cumulative_sum", lambda x: np.cumulative_sum(x) ** 2, V),
    _case("cumulative_prod", lambda x: np.cumulative_prod(x, axis=1), M),
    _case("vector_norm", lambda x: np.linalg.vector_norm(x, axis=1), M),
    _case("matvec", np.matvec, M, np.array([1.0, -2.0, 0.5])),
    _case("vecmat", np.vecmat, np.array([1.0, -2.0]), M),
    _case("rfft2", lambda x: np.abs(np.fft.rfft2(x)), M),
    _case("betaincc", lambda x: special.betaincc(1.3, 2.1, x), U),
    _case("exp10", special.exp10, V),
    _case("boxcox", lambda x: special.boxcox(x, 0.7), P),
    _case("chdtr", lambda x: special.chdtr(3.0, x), P),
    _case("chdtrc", lambda x: special.chdtrc(3.0, x), P),
]

CASES: list[Case] = [
    *COMPOSED,
    *_named("", UNARY_ANYWHERE, V),
    *_named("", UNARY_POSITIVE, P),
    *_named("", UNARY_INSIDE, U),
    _case("arccosh", np.arccosh, P + 1.0),
    *_named("whole ", REDUCTIONS, V),
    *OPERATORS,
    *BINARY,
    *DECISIONS,
    *AXES,
    *SCANS,
    *SHAPES,
    *INDICES,
    *LINEAR,
    *FOURIER,
]
