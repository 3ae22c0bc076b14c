"""What a framework returned is taken for what an op means only where it is shown to be that."""

from __future__ import annotations

import numpy as np
import pytest

from gradproof.domains.ieee import Ieee
from gradproof.frontends.assemble import lowering
from gradproof.frontends.assemble.lowering import LARGE_PRODUCT, Lowering
from gradproof.ir.program import Builder


def _matrices() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    n = round(LARGE_PRODUCT ** (1 / 3)) + 1
    return rng.normal(size=(n, n)).astype(np.float32), rng.normal(size=(n, n)).astype(np.float32)


def _product(
    a: np.ndarray, b: np.ndarray, returned: np.ndarray, added: np.ndarray | None = None
) -> np.ndarray:
    m = Lowering(Builder())
    more = None if added is None else m.input(added)
    return np.asarray(m.product(m.input(a), m.input(b), returned, more).value)


def test_a_large_product_that_the_framework_returned_is_not_computed_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    a, b = _matrices()
    returned = a @ b
    monkeypatch.setattr(Ieee, "matmul", lambda *_: pytest.fail("it was computed"))
    assert _product(a, b, returned) is returned


@pytest.mark.parametrize("off", [0.1, np.nan, np.inf])
def test_what_is_not_the_product_is_not_taken_for_it(off: float) -> None:
    a, b = _matrices()
    returned = a @ b
    returned[3, 5] += off * float(np.abs(returned).max())
    np.testing.assert_array_equal(_product(a, b, returned), a @ b)


def test_a_large_product_is_what_is_left_without_what_was_added(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = _matrices()
    product, added = a @ b, a[0]
    monkeypatch.setattr(Ieee, "matmul", lambda *_: pytest.fail("it was computed"))
    made = _product(a, b, product + added, added)
    np.testing.assert_allclose(made, product, atol=1e-6 * float(np.abs(product).max()))


@pytest.mark.parametrize("off", [1e3, np.nan, np.inf])
def test_a_product_that_drowns_in_what_was_added_is_computed(off: float) -> None:
    a, b = _matrices()
    added = np.full(a.shape[1], off * float(np.abs(a @ b).max()), np.float32)
    np.testing.assert_array_equal(_product(a, b, a @ b + added, added), a @ b)


def test_another_order_of_the_factors_is_no_product() -> None:
    a, b = _matrices()
    np.testing.assert_array_equal(_product(a, b, b @ a), a @ b)


def test_a_small_product_is_computed() -> None:
    assert lowering.LARGE_PRODUCT > 1000
    a = np.eye(3, dtype=np.float32)
    returned = a.copy()
    assert _product(a, a, returned) is not returned
