"""Every family of primitives has its exact meaning: what JAX computes with it is proven right."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.custom_derivatives import linear_call
from jax_runs import judged

A = jnp.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])
B = jnp.array([1.0, 2.0, 3.0])
X = jnp.asarray(np.random.default_rng(1).normal(size=(2, 4, 4, 2)), jnp.float32)
K = jnp.asarray(np.random.default_rng(2).normal(size=(3, 3, 2, 4)), jnp.float32)
C = jnp.arange(9.0).reshape(3, 3) / 64
TURN = jnp.array([[0.0, -1.0, 0.25], [1.0, 0.0, 0.5], [0.0, 0.25, 1.0]])
VECTORS = {"compute_left_eigenvectors": False, "enable_eigvec_derivs": True}
NHWC = ("NHWC", "HWIO", "NHWC")


def conv(x, k, strides=(1, 1), padding="SAME", **options):
    return jnp.sum(
        jax.lax.conv_general_dilated(x, k, strides, padding, dimension_numbers=NHWC, **options) ** 2
    )


def pool(x, start, op, padding="VALID"):
    return jnp.sum(jax.lax.reduce_window(x, start, op, (1, 2, 2, 1), (1, 2, 1, 1), padding) ** 3)


ON_MATRIX = {
    "cholesky": lambda a: jnp.sum(jnp.linalg.cholesky(a) ** 3),
    "solve": lambda a: jnp.sum(jnp.linalg.solve(a, B) ** 2),
    "solve, right": lambda a: jnp.sum(jnp.linalg.solve(A + 1, a) ** 2),
    "inverse": lambda a: jnp.sum(jnp.linalg.inv(a) ** 2),
    "eigh": lambda a: jnp.sum(jnp.linalg.eigh(a)[0] ** 3) + jnp.linalg.eigh(a)[1][0, 0],
    "eig": lambda a: jnp.sum(jnp.abs(jnp.linalg.eigvals(a + C)) ** 3),
    "eig, in pairs": lambda a: jnp.sum(jnp.abs(jnp.linalg.eigvals(a @ TURN) - 0.5)),
    "eig, vectors": lambda a: jnp.sum(jnp.abs(jax.lax.linalg.eig(a @ TURN, **VECTORS)[1] @ (B + 1j)) ** 3),
    "eig, many": lambda a: jnp.sum(jnp.abs(jnp.linalg.eigvals(jnp.stack([a @ TURN, a + C])) - 1j)),
    "approx_top_k": lambda a: jnp.sum(jax.lax.approx_max_k((a + C).ravel(), 3)[0] ** 2 * B),
    "linear_call": lambda a: jnp.sum(linear_call(lambda r, x: x @ r, lambda r, t: t @ r.T, A, a**2) ** 2),
    "svd": lambda a: jnp.sum(jnp.linalg.svd(a)[1] ** 3) + jnp.linalg.svd(a)[0][0, 0],
    "singular values": lambda a: jnp.sum(jnp.linalg.svd(a, compute_uv=False) ** 3),
    "qr": lambda a: jnp.sum(jnp.linalg.qr(a)[1] ** 3),
    "slogdet": lambda a: jnp.linalg.slogdet(a)[1],
    "det": jnp.linalg.det,
    "triangular": lambda a: jnp.sum(jax.scipy.linalg.solve_triangular(a, B) ** 2),
    "triangular, transposed": lambda a: jnp.sum(
        jax.scipy.linalg.solve_triangular(a, B, trans=1, lower=True) ** 2
    ),
    "lu": lambda a: jnp.sum(jax.scipy.linalg.lu(a)[2] ** 2),
    "fft": lambda a: jnp.sum(jnp.abs(jnp.fft.fft2(a)) ** 2 * A),
    "rfft": lambda a: jnp.sum(jnp.abs(jnp.fft.rfft(a)) ** 2 * B[:2]),
    "irfft": lambda a: jnp.sum(jnp.fft.irfft(a * (1 + 1j)) ** 3),
    "tridiagonal": lambda a: jnp.sum(
        jax.lax.linalg.tridiagonal_solve(B / 9, a[0] + 3, B / 8, B[:, None]) ** 2
    ),
    "sort": lambda a: jnp.sum(jnp.sort((a + C).ravel()) ** 2 * jnp.arange(9.0)),
    "top_k": lambda a: jnp.sum(jax.lax.top_k((a + C).ravel(), 3)[0] ** 2 * B),
    "cumprod": lambda a: jnp.sum(jnp.cumprod(a[0]) ** 2),
    "cummax": lambda a: jnp.sum(jax.lax.cummax(a[1]) ** 2),
    "cumlogsumexp": lambda a: jnp.sum(jax.lax.cumlogsumexp(a[1]) ** 2),
    "pad": lambda a: jnp.sum(jax.lax.pad(a, 0.5, ((1, 0, 1), (-1, 2, 0))) ** 2),
    "dynamic slices": lambda a: jnp.sum(jax.lax.dynamic_update_slice(a * 2, a[:1, :2] ** 2, (5, 1)) ** 2),
    "scatter": lambda a: jnp.sum(a.at[jnp.array([0, 2]), 1].multiply(a[0, 0], unique_indices=True) ** 2),
    "scatter max": lambda a: jnp.sum(a.at[0].max(a[1]) ** 2),
    "einsum": lambda a: jnp.einsum("ij,jk,ki->", a, A, a),
    "integer powers": lambda a: jnp.sum(a**3 / a**-2),
    "remainder": lambda a: jnp.sum(a % 0.7),
    "steps": lambda a: jnp.sum(
        a * (jnp.round(a * 1.3) + jnp.floor(a * 1.1) + jnp.ceil(a * 0.7) + jnp.sign(a))
    ),
    "special": lambda a: jnp.sum(
        jax.scipy.special.gammaln(a) * jax.scipy.special.digamma(a) * jax.lax.erf(a)
    ),
    "bessel": lambda a: jnp.sum(jax.scipy.special.i0e(a) * jax.scipy.special.i1(a)),
    "incomplete": lambda a: jnp.sum(
        jax.scipy.special.gammainc(2.0, a) * jax.scipy.special.betainc(2.0, 3.0, a / 9)
    ),
    "norms": lambda a: jnp.linalg.norm(a) * jnp.linalg.norm(a[0]) + jnp.var(a) + jnp.std(a[1]),
    "softmax": lambda a: jnp.sum(jax.nn.softmax(a) ** 2 + jax.nn.log_softmax(a, axis=0)),
    "activations": lambda a: jnp.sum(
        jax.nn.gelu(a) * jax.nn.silu(a) + jax.nn.elu(-a) * jax.nn.leaky_relu(-a)
    ),
    "associative scan": lambda a: jnp.sum(jax.lax.associative_scan(jnp.multiply, a)),
    "logsumexp": lambda a: jax.nn.logsumexp(a) + jnp.sum(jnp.logaddexp(a, 2.0)),
    "median": lambda a: jnp.median((a + C).ravel()) * jnp.percentile(a + C, 30.0),
    "interp": lambda a: jnp.sum(jnp.interp(a / 5, B, B**2)),
    "interp, knots": lambda a: jnp.sum(jnp.interp(A / 3, B, a[0] ** 2)),
    "least squares": lambda a: jnp.sum(jnp.linalg.lstsq(a, B)[0]),
    "one triangle": lambda a: jnp.sum(jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(a), B)),
    "whole steps": lambda a: jnp.sum(a * (a // 0.7)),
    "zeta": lambda a: jnp.sum(jax.scipy.special.zeta(a + 1.5, 2.0)),
    "product of a row": lambda a: jnp.sum(jnp.prod(a, axis=1) ** 2),
}
AT_EDGES = {
    "a knot": (lambda x: jnp.interp(x, B, B**2), 2.0, "undefined", ["kink"]),
    "the last knot": (lambda x: jnp.interp(x, B, B**2), 3.0, "undefined", ["kink"]),
    "a corner": (lambda x: jnp.hypot(x, 0.0), 0.0, "undefined", ["singular-point"]),
    "equal numbers": (lambda x: jnp.std(x * jnp.ones(3)), 1.0, "nonfinite", ["singular-point"]),
    "a dropped slope": (lambda x: jax.scipy.special.spence(x), 1.0, "wrong", ["framework-rule"]),
    "a sign that turns": (lambda x: jnp.sign(x + 0.25j).real, 1.0, "wrong", ["framework-rule"]),
    "the slope of |x| inside": (lambda x: jax.scipy.special.i0(x), 0.0, "wrong", ["framework-rule"]),
}
ON_IMAGES = {
    "conv by data": lambda x: conv(x, K, (2, 1)),
    "conv by kernel": lambda x: conv(X, K * x[0, 0, 0, 0], padding="VALID"),
    "conv, dilated": lambda x: conv(x, K, (1, 1), ((1, 2), (0, 1)), rhs_dilation=(2, 1), lhs_dilation=(1, 2)),
    "conv, grouped": lambda x: conv(x, K[:, :, :1], feature_group_count=2),
    "max pool": lambda x: pool(x, -jnp.inf, jax.lax.max),
    "min pool": lambda x: pool(x, jnp.inf, jax.lax.min, "SAME"),
    "sum pool": lambda x: pool(x, 0.0, jax.lax.add, "SAME"),
    "batch norm": lambda x: jnp.sum(jax.nn.standardize(x, axis=(0, 1, 2)) ** 3),
}


def folded(x, y):
    """Not a sum, a product or an extreme: JAX takes the step as it is written."""
    return x + y + x * y


GROUPS = jnp.array([1, 0, 2])
ON_OWN_STEPS = {
    "reduce": lambda a: jnp.sum(jax.lax.reduce(a, 0.0, folded, (1,)) ** 2),
    "reduce, all": lambda a: jax.lax.reduce(a / 4, 0.0, folded, (0, 1)),
    "ragged_dot": lambda a: jnp.sum(jax.lax.ragged_dot(a, jnp.stack([A, A.T @ A, A + 1]), GROUPS) ** 2),
    "ragged_dot, right": lambda a: jnp.sum(jax.lax.ragged_dot(A, jnp.stack([a, a * a, a + 1]), GROUPS) ** 2),
    "gamma": lambda a: jnp.sum(jax.random.gamma(jax.random.key(3), a) ** 2),
    "loggamma": lambda a: jnp.sum(jax.random.loggamma(jax.random.key(3), a)),
    "dirichlet": lambda a: jnp.sum(jax.random.dirichlet(jax.random.key(3), a[0]) ** 2),
}


@pytest.mark.parametrize("name", ON_OWN_STEPS)
def test_primitives_that_are_written_out(name):
    function = ON_OWN_STEPS[name]
    reports = judged(lambda: (jax.grad(function)(A), jax.jit(jax.grad(function))(A)))
    assert [(one.verdict.value, one.reason) for one in reports] == [("correct", None)] * 2
    assert {one.oracle for one in reports} <= {"ball", "limit"}


def test_windows_with_a_step_of_their_own_which_jax_takes_forward_only():
    def function(a):
        return jax.lax.reduce_window(a, 0.0, folded, (2, 2), (1, 2), ((0, 1), (1, 0)), (1, 2), (1, 2))

    reports = judged(
        lambda: (jax.jvp(function, (A,), (A,)), jax.jit(lambda a: jax.jvp(function, (a,), (B * a,)))(A))
    )
    assert {(one.verdict.value, one.oracle, one.reason) for one in reports} == {("correct", "ball", None)}


@pytest.mark.parametrize("name", ON_MATRIX)
def test_functions_of_a_matrix(name):
    (report,) = judged(lambda: jax.grad(ON_MATRIX[name])(A))
    assert (report.verdict.value, report.reason) == ("correct", None)
    assert report.oracle in ("ball", "limit")


@pytest.mark.parametrize("name", AT_EDGES)
def test_edges(name):
    function, x, verdict, kinds = AT_EDGES[name]
    (report,) = judged(lambda: jax.grad(function)(jnp.float32(x)))
    assert (report.verdict.value, [one.kind for one in report.diagnostics]) == (verdict, kinds)


@pytest.mark.parametrize("name", ON_IMAGES)
def test_functions_of_images(name):
    (report,) = judged(lambda: jax.grad(ON_IMAGES[name])(X))
    assert (report.verdict.value, report.reason) == ("correct", None)
    assert report.oracle in ("ball", "limit")


def test_kernels_of_convolutions():
    for options in ({}, {"feature_group_count": 2}):
        kernel = K[:, :, :1] if options else K
        (report,) = judged(lambda k=kernel, o=options: jax.jit(jax.grad(lambda k: conv(X, k, **o)))(k))
        assert report.verdict.value == "correct"


def test_a_primitive_of_a_library_is_what_its_function_computes():
    from jax.extend.core import Primitive
    from jax.interpreters import ad, mlir

    def impl(x, y, *, power):
        return jnp.where(x > y, x, y) ** power

    own = Primitive("larger_power")
    own.def_impl(impl)
    own.def_abstract_eval(lambda x, y, *, power: x)
    mlir.register_lowering(own, mlir.lower_fun(impl, multiple_results=False))
    ad.primitive_jvps[own] = lambda primals, tangents, *, power: jax.jvp(
        lambda x, y: impl(x, y, power=power), primals, tuple(map(ad.instantiate_zeros, tangents))
    )

    def function(a):
        return jnp.sum(own.bind(a[0], a[1], power=3))

    reports = judged(lambda: (jax.grad(function)(A), jax.jit(jax.grad(function))(A)))
    assert [(one.verdict.value, one.oracle, one.reason) for one in reports] == [("correct", "ball", None)] * 2
