"""Einstein sums, matrix products and solutions, entry by entry against NumPy."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy import linalg

from gradproof.domains.ball import BallDomain
from gradproof.domains.ball64 import BallDomain64
from gradproof.domains.ieee import Ieee
from gradproof.domains.matrix_root import _in_right_half_plane, prove_root
from gradproof.engine import derive
from gradproof.engine.run import run
from gradproof.errors import InvalidProgram
from gradproof.ir.program import Builder
from gradproof.ops import TABLE, Arithmetic, Sample

from . import test_contract as contract

EQUATIONS = [
    ("ij,jk->ik", [(2, 3), (3, 4)]),
    ("ij,jk->ki", [(2, 3), (3, 4)]),
    ("bij,bjk->bik", [(5, 2, 3), (5, 3, 4)]),
    ("...ij,...jk->...ik", [(5, 2, 3), (3, 4)]),
    ("...ij,...jk->...ik", [(1, 2, 3), (5, 3, 4)]),
    ("i...,i...->...", [(3, 2), (3, 2)]),
    ("ii", [(3, 3)]),
    ("iij->ji", [(3, 3, 2)]),
    ("ijk->", [(2, 3, 2)]),
    ("i,j,k->kij", [(2,), (3,), (2,)]),
    ("ij,jk,kl,l->i", [(2, 3), (3, 4), (4, 2), (2,)]),
    ("ab,cb->ac", [(2, 0), (3, 0)]),
    ("ijij->ij", [(2, 3, 2, 3)]),
    ("ba", [(2, 3)]),
]


def arithmetics() -> list[Any]:
    return [
        pytest.param(Arithmetic(domain), id=domain.name)
        for domain in (Ieee(), BallDomain64(), BallDomain(128))
    ]


def draw(*shapes: tuple[int, ...], seed: int = 0) -> list[np.ndarray[Any, Any]]:
    rng = np.random.default_rng(seed)
    return [rng.integers(-64, 65, shape) / 16.0 for shape in shapes]


def assert_encloses(m: Any, found: Any, expected: Any, tolerance: float = 1e-12) -> None:
    """NumPy's rounded value lies as near to the midpoint as radius and rounding explain."""
    mid, rad = m.domain.leave(found)
    expected = np.asarray(expected)
    assert mid.shape == expected.shape
    scale = np.max(np.abs(expected), initial=1.0)
    assert (rad <= tolerance * scale).all()
    np.testing.assert_allclose(mid, expected, rtol=0, atol=tolerance * scale)


@pytest.mark.parametrize("m", arithmetics())
@pytest.mark.parametrize(("equation", "shapes"), EQUATIONS)
def test_einsum_equals_numpy(m: Any, equation: str, shapes: list[tuple[int, ...]]) -> None:
    xs = draw(*shapes)
    with m.domain.active():
        found = m.einsum(*(m.literal(x) for x in xs), equation=equation)
    assert_encloses(m, found, np.einsum(equation, *xs))


@pytest.mark.parametrize(
    ("equation", "shapes", "message"),
    [
        ("ij,jk->ik", [(2, 3)], "names 2 operands, but 1 came"),
        ("ij->ji", [(2, 3, 4)], "does not fit an operand of shape"),
        ("ij->ik", [(2, 3)], "has an index that no operand has"),
        ("ij,jk->ik", [(2, 3), (4, 5)], "stands for lengths 3 and 4"),
    ],
)
def test_einsum_refuses_an_equation_that_does_not_fit(
    equation: str, shapes: list[tuple[int, ...]], message: str
) -> None:
    m = Arithmetic(Ieee())
    with pytest.raises(InvalidProgram, match=message):
        m.einsum(*draw(*shapes), equation=equation)


def regular(*shape: int, seed: int = 0, is_complex: bool = False) -> np.ndarray[Any, Any]:
    """Square matrices that are far from singular."""
    (a,) = draw(shape, seed=seed)
    if is_complex:
        a = a + 1j * draw(shape, seed=seed + 1)[0]
    return a + 8.0 * np.eye(shape[-1])


def positive(*shape: int, seed: int = 0, is_complex: bool = False) -> np.ndarray[Any, Any]:
    a = regular(*shape, seed=seed, is_complex=is_complex)
    return a @ np.conj(np.swapaxes(a, -1, -2))


def _adjugate(a: Any) -> Any:
    return np.linalg.det(a)[..., None, None] * np.linalg.inv(a)


def _solve_lower(a: Any, b: Any) -> Any:
    return np.linalg.solve(np.tril(a), b)


FUNCTIONS: list[tuple[str, Any, list[Any], dict[str, Any]]] = [
    ("matmul", np.matmul, [regular(3, 2, 2), regular(2, 2)], {}),
    ("solve", np.linalg.solve, [regular(3, 4, 4), draw((4, 2))[0]], {}),
    ("triangular_solve", _solve_lower, [regular(3, 4, 4), draw((4, 2))[0]], {}),
    ("inverse", np.linalg.inv, [regular(2, 3, 5, 5)], {}),
    ("det", np.linalg.det, [regular(2, 4, 4)], {}),
    ("det", np.linalg.det, [np.zeros((0, 0))], {}),
    ("log_abs_det", lambda a: np.linalg.slogdet(a)[1], [-regular(2, 5, 5)], {}),
    ("adjugate", _adjugate, [regular(2, 4, 4)], {}),
    ("cholesky", np.linalg.cholesky, [positive(2, 4, 4)], {}),
    ("inverse", np.linalg.inv, [np.zeros((0, 3, 3))], {}),
    ("lstsq", lambda a, b: np.linalg.lstsq(a, b)[0], [draw((6, 3))[0], draw((6, 2))[0]], {}),
    ("lstsq", lambda a, b: np.linalg.lstsq(a, b)[0], [draw((3, 6))[0], draw((3, 2))[0]], {}),
    ("pinv", np.linalg.pinv, [draw((2, 5, 3))[0]], {}),
    ("pinv", np.linalg.pinv, [draw((2, 3, 5))[0]], {}),
    ("sylvester", linalg.solve_sylvester, [regular(4, 4), regular(2, 2), draw((4, 2))[0]], {}),
    ("matrix_sqrt", linalg.sqrtm, [positive(5, 5)], {}),
    ("matrix_sqrt", linalg.sqrtm, [np.array([[5.0, 4.0], [-4.0, 5.0]])], {}),
    ("matrix_exp", linalg.expm, [regular(4, 4) / 8.0], {}),
]
COMPLEX = [
    ("matmul", np.matmul, [regular(3, 2, 2, is_complex=True), regular(2, 2)], {}),
    ("solve", np.linalg.solve, [regular(4, 4, is_complex=True), draw((4, 2))[0] * 1j], {}),
    ("triangular_solve", _solve_lower, [regular(4, 4, is_complex=True), draw((4, 2))[0] + 0j], {}),
    ("inverse", np.linalg.inv, [regular(2, 3, 3, is_complex=True)], {}),
    ("det", np.linalg.det, [regular(3, 3, is_complex=True)], {}),
    ("adjugate", _adjugate, [regular(3, 3, is_complex=True)], {}),
    ("cholesky", np.linalg.cholesky, [positive(3, 3, is_complex=True)], {}),
    ("pinv", np.linalg.pinv, [draw((4, 2))[0] + 1j * draw((4, 2), seed=1)[0]], {}),
    ("lstsq", lambda a, b: np.linalg.lstsq(a, b)[0], [draw((2, 4))[0] * 1j + 1.0, draw((2, 2))[0] + 0j], {}),
    ("matrix_sqrt", linalg.sqrtm, [regular(3, 3, is_complex=True)], {}),
    ("matrix_exp", linalg.expm, [regular(3, 3, is_complex=True) / 8.0], {}),
]


@pytest.mark.parametrize("m", arithmetics())
@pytest.mark.parametrize(("name", "expected", "xs", "params"), FUNCTIONS)
def test_matrix_function_equals_numpy(m: Any, name: str, expected: Any, xs: Any, params: Any) -> None:
    with m.domain.active():
        found = getattr(m, name)(*(m.literal(x) for x in xs), **params)
    assert_encloses(m, found, expected(*xs), tolerance=1e-11)


@pytest.mark.parametrize(("name", "expected", "xs", "params"), COMPLEX)
def test_complex_matrix_function_equals_numpy(name: str, expected: Any, xs: Any, params: Any) -> None:
    m = Arithmetic(BallDomain(128))
    with m.domain.active():
        found = getattr(m, name)(*(m.literal(x) for x in xs), **params)
    assert_encloses(m, found, expected(*xs), tolerance=1e-11)


def _nested(x: Any) -> Any:
    return tuple(map(_nested, x)) if np.ndim(x) else x.item()


@pytest.mark.parametrize(("name", "expected", "xs", "params"), COMPLEX)
def test_complex_derivatives_obey_the_contract(name: str, expected: Any, xs: Any, params: Any) -> None:
    sample = Sample(tuple(_nested(x) for x in xs), params)
    contract.test_forward_mode_equals_a_high_precision_difference(TABLE[name], sample)
    contract.test_reverse_mode_is_the_transpose_of_forward_mode(TABLE[name], sample)


@pytest.mark.parametrize("rank", [0, 1, 2])
def test_det_of_a_singular_matrix_has_its_second_derivatives(rank: int) -> None:
    """By two entries in different rows and columns they are the remaining entry, up to sign; else zero."""
    x = np.diag([3.0, 2.0, 1.0][:rank] + [0.0] * (3 - rank)) @ draw((3, 3))[0]
    builder = Builder()
    source = builder.input(x)
    program = derive.derive(builder.build([builder.add("det", source, value=0.0)])).program
    result = run(BallDomain(128), program)
    (second,) = derive.jacobian(result)
    expected = np.zeros((3, 3, 3, 3))
    for rows, columns in itertools.product(itertools.permutations(range(3)), repeat=2):
        sign = np.linalg.det(np.eye(3)[list(rows)]) * np.linalg.det(np.eye(3)[list(columns)])
        (i, k, p), (j, n, q) = rows, columns
        expected[i, j, k, n] = np.round(sign) * x[p, q]
    assert_encloses(result.m, second, expected)


def test_a_matrix_that_cannot_be_inverted_is_unknown_and_not_an_error() -> None:
    for m in (Arithmetic(BallDomain(128)), Arithmetic(BallDomain64())):
        with m.domain.active():
            _, rad = m.domain.leave(m.inverse(m.literal(np.ones((2, 2)))))
        assert np.isinf(rad).all()
    stack = np.stack([np.ones((2, 2)), np.eye(2)])
    found = Arithmetic(Ieee()).inverse(stack)
    assert np.isnan(found[0]).all()
    np.testing.assert_array_equal(found[1], np.eye(2))


@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (3, 5)])
def test_qr_has_the_signs_it_is_told(shape: tuple[int, int]) -> None:
    (a,) = draw(shape)
    q, r = np.linalg.qr(a)
    signs = np.sign(np.diagonal(r)).astype(np.int64)[None]
    for m in (Arithmetic(BallDomain(128)), Arithmetic(BallDomain64()), Arithmetic(Ieee())):
        with m.domain.active():
            found = m.qr(m.literal(a), signs)
            flipped = m.qr(m.literal(a), -signs)
        for part, minus, expected in zip(found, flipped, (q, r)):
            assert_encloses(m, part, expected)
            assert_encloses(m, minus, -expected)


@pytest.mark.parametrize("a", [np.diag([1.0, -1.0]), np.zeros((2, 2)), np.array([[0.0, 1.0], [0.0, 0.0]])])
def test_a_matrix_without_a_principal_root_has_none(a: Any) -> None:
    m = Arithmetic(BallDomain(128))
    with m.domain.active():
        _, rad = m.domain.leave(m.matrix_sqrt(m.literal(a)))
    assert np.isinf(rad).all()


def test_a_start_at_another_root_proves_nothing() -> None:
    domain = BallDomain(128)
    with domain.active():
        a = domain.enter(np.diag([1.0, 4.0]))
        _, rad = domain.leave(prove_root(a, domain.enter(np.diag([1.0, 2.0]))))
        assert (rad < 1e-30).all()
        _, rad = domain.leave(prove_root(a, domain.enter(np.diag([1.0, -2.0]))))
        assert np.isinf(rad).all()


def test_a_root_that_is_not_the_principal_one_is_refused() -> None:
    """diag(1, -2) squared is diag(1, 4), but its second eigenvalue is in the left half-plane."""
    domain = BallDomain(128)
    with domain.active():
        assert _in_right_half_plane(domain.enter(np.diag([1.0, 2.0])))
        assert not _in_right_half_plane(domain.enter(np.diag([1.0, -2.0])))
        assert not _in_right_half_plane(domain.enter(np.array([[-1.0, 3.0], [-3.0, -1.0]])))
