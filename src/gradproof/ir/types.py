"""The dtypes a program may name, and what kind of number each one holds."""

from __future__ import annotations

from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

from gradproof.errors import InvalidInput

Array = np.ndarray[Any, Any]
"""An array of any dtype and shape."""

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)

# Name -> number of significant bits. The digits a dtype can hold follow from it.
REAL_BITS = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}
COMPLEX_BITS = {"complex64": 24, "complex128": 53}
# The smallest number above zero: what is less than it apart, no array of the dtype can tell apart.
SMALLEST = {
    "float16": 2.0**-24, "bfloat16": 2.0**-133, "float32": 2.0**-149, "float64": 2.0**-1074,
    "complex64": 2.0**-149, "complex128": 2.0**-1074,
}  # fmt: skip
DISCRETE = frozenset({"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"})
TUPLE = "tuple"  # the type of a node with several results; `item` nodes take them apart


def is_real(dtype: str) -> bool:
    return dtype in REAL_BITS


def is_complex(dtype: str) -> bool:
    return dtype in COMPLEX_BITS


def is_discrete(dtype: str) -> bool:
    """Booleans and integers: exact in every domain, and where all decisions live."""
    return dtype in DISCRETE


def is_discrete_array(x: Any) -> bool:
    """Booleans and integers are plain NumPy arrays in every domain; everything else is a number of the domain."""
    return isinstance(x, np.ndarray) and x.dtype.kind in "biu"


def precision_bits(dtype: str) -> int:
    return REAL_BITS.get(dtype) or COMPLEX_BITS[dtype]


def digits_possible(dtype: str) -> float:
    """Decimal digits that a number of this dtype can carry: 7.2 for float32, 16 for float64."""
    return float(precision_bits(dtype) * np.log10(2.0))


def unit_roundoff(dtype: str) -> float:
    return float(2.0 ** -precision_bits(dtype))


def dtype_name(value: Any) -> str:
    """The program's name for the dtype of an array; unknown dtypes are refused by name."""
    return _name_of(value.dtype)


@cache
def _name_of(given: Any) -> str:
    dtype = BFLOAT16 if str(given) == "bfloat16" else np.dtype(given)
    name = "bfloat16" if dtype == BFLOAT16 else dtype.name
    if name in REAL_BITS or name in COMPLEX_BITS or name in DISCRETE:
        return name
    raise InvalidInput(
        f"arrays of dtype {name} have no exact meaning here; known are the floats of 16 to 64 bits, "
        "complex64, complex128, integers and booleans"
    )


def numpy_dtype(name: str) -> np.dtype[Any]:
    return BFLOAT16 if name == "bfloat16" else np.dtype(name)


def is_one_place(one: Array, other: Array) -> bool:
    """Whether two arrays are the same numbers in the same memory, so that there is nothing to compare."""
    if one is other:
        return True
    if (one.shape, one.strides, one.dtype) != (other.shape, other.strides, other.dtype):
        return False  # asked first: an address takes ten times as long
    return bool(one.__array_interface__["data"][0] == other.__array_interface__["data"][0])
