"""What is known about each dtype agrees with NumPy."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from gradproof.errors import InvalidInput
from gradproof.ir import types


@pytest.mark.parametrize("name", types.REAL_BITS)
def test_precision_and_smallest_numbers_are_those_of_the_dtype(name: str) -> None:
    info = ml_dtypes.finfo(types.numpy_dtype(name))
    assert types.unit_roundoff(name) == float(info.eps) / 2.0
    assert types.SMALLEST[name] == float(info.smallest_subnormal)


@pytest.mark.parametrize("name", [*types.REAL_BITS, *types.COMPLEX_BITS, *sorted(types.DISCRETE)])
def test_names_and_dtypes_belong_together(name: str) -> None:
    assert types.dtype_name(np.zeros(1, types.numpy_dtype(name))) == name


def test_kinds_exclude_each_other() -> None:
    for name in [*types.REAL_BITS, *types.COMPLEX_BITS, *types.DISCRETE]:
        assert types.is_real(name) + types.is_complex(name) + types.is_discrete(name) == 1


def test_digits_are_those_people_quote() -> None:
    assert round(types.digits_possible("float32"), 1) == 7.2
    assert round(types.digits_possible("float64")) == 16


def test_unknown_dtypes_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"longdouble|float128|float96"):
        types.dtype_name(np.zeros(1, np.longdouble))
