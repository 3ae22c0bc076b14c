"""Einstein sums, matrix products and solutions, entry by entry against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradproof.domains.ball import BallDomain
from gradproof.domains.ball64 import BallDomain64
from gradproof.domains.ieee import Ieee
from gradproof.errors import InvalidProgram
from gradproof.ops import Arithmetic

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
