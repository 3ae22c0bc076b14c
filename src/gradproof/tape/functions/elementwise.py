"""Entrywise arithmetic and elementary functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.errors import NotSupported
from gradproof.tape.functions._operands import operand, require_numbers, scalar_constant
from gradproof.tape.functions._table import LOWERINGS, lowers

# ufuncs that are an op of the same meaning.
DIRECT: dict[Any, str] = {
    np.add: "add",
    np.subtract: "sub",
    np.multiply: "mul",
    np.true_divide: "div",
    np.negative: "neg",
    np.exp: "exp",
    np.exp2: "exp2",
    np.expm1: "expm1",
    np.log: "log",
    np.log2: "log2",
    np.log10: "log10",
    np.log1p: "log1p",
    np.sqrt: "sqrt",
    np.cbrt: "cbrt",
    np.square: "square",
    np.reciprocal: "reciprocal",
    np.sin: "sin",
    np.cos: "cos",
    np.tan: "tan",
    np.arcsin: "asin",
    np.arccos: "acos",
    np.arctan: "atan",
    np.arctan2: "atan2",
    np.sinh: "sinh",
    np.cosh: "cosh",
    np.tanh: "tanh",
    np.arcsinh: "asinh",
    np.arccosh: "acosh",
    np.arctanh: "atanh",
    np.logaddexp: "logaddexp",
    np.hypot: "hypot",
    np.conjugate: "conj",
}

_ALSO_FOR_INTEGERS = ("add", "sub", "mul")  # what places and counts are computed with
MOST_SQUARINGS = 64  # exponents beyond are no simpler as products than as powers


def enter_direct(table: dict[Any, str]) -> None:
    for function, op in table.items():
        LOWERINGS[function] = _direct(op)


def _direct(op: str) -> Any:
    def lower(m: Any, y: Any, *xs: Any) -> Any:
        if op not in _ALSO_FOR_INTEGERS:
            require_numbers(y)
        arguments = [operand(m, x, y.dtype) for x in xs]
        # NumPy has computed it already: the node is written down with that value.
        return m.record(op, arguments, y, {})

    return lower


enter_direct(DIRECT)


@lowers(np.positive)
def _positive(m: Any, y: Any, x: Any) -> Any:
    require_numbers(y)
    return m.identity(x)


@lowers(np.power, np.float_power)
def _power(m: Any, y: Any, x: Any, exponent: Any) -> Any:
    require_numbers(y)
    number = scalar_constant(exponent)
    base = operand(m, x, y.dtype)
    if isinstance(number, int | float) and number == int(number) and abs(number) <= MOST_SQUARINGS:
        return (
            m.record("integer_power", [base], y, {"exponent": int(number)}) if base.shape == y.shape else base
        )
    if number == 0.5:
        return m.record("sqrt", [base], y, {})
    return m.record("power", [base, operand(m, exponent, y.dtype)], y, {})


@lowers(np.deg2rad, np.radians)
def _radians(m: Any, y: Any, x: Any) -> Any:
    return m.div(m.times(operand(m, x, y.dtype), constant="pi"), 180)


@lowers(np.rad2deg, np.degrees)
def _degrees(m: Any, y: Any, x: Any) -> Any:
    return m.div(m.mul(operand(m, x, y.dtype), 180), operand(m, m.pi(), y.dtype))


@lowers(np.logaddexp2)
def _logaddexp2(m: Any, y: Any, a: Any, b: Any) -> Any:
    ln2 = m.log(m.constant(np.asarray(2, y.dtype)))
    return m.div(m.logaddexp(m.mul(operand(m, a, y.dtype), ln2), m.mul(operand(m, b, y.dtype), ln2)), ln2)


@lowers(np.ldexp)
def _ldexp(m: Any, y: Any, x: Any, exponent: Any) -> Any:
    return m.mul(operand(m, x, y.dtype), m.exp2(operand(m, exponent, y.dtype)))


@lowers(np.real)
def _real(m: Any, y: Any, val: Any) -> Any:
    require_numbers(y)
    return m.real(val) if val.value.dtype.kind == "c" else m.identity(val)


@lowers(np.imag)
def _imag(m: Any, y: Any, val: Any) -> Any:
    require_numbers(y)
    return m.imag(val) if val.value.dtype.kind == "c" else m.constant(y)


@lowers(np.angle)
def _angle(m: Any, y: Any, z: Any, deg: bool = False) -> Any:
    is_complex = z.value.dtype.kind == "c"
    real, imag = (m.real(z), m.imag(z)) if is_complex else (z, m.constant(np.zeros(z.shape, y.dtype)))
    angle = m.atan2(operand(m, imag, y.dtype), operand(m, real, y.dtype))
    return m.div(m.mul(angle, 180), operand(m, m.pi(), y.dtype)) if deg else angle


@lowers(np.sinc)
def _sinc(m: Any, y: Any, x: Any) -> Any:
    scaled = m.times(operand(m, x, y.dtype), constant="pi")
    if y.dtype.kind != "c":
        return m.sinc(scaled)
    if not np.all(y != 1):
        raise NotSupported("sin(x)/x of a complex number at 0")
    return m.div(m.sin(scaled), scaled)


@lowers(np.i0)
def _i0(m: Any, y: Any, x: Any) -> Any:
    return m.bessel_i(operand(m, x, y.dtype), order=0)


@lowers(np.copy)
def _copy(m: Any, y: Any, a: Any, order: str = "K", subok: bool = False) -> Any:
    require_numbers(y)
    return m.identity(a)
