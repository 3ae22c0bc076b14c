"""Complex numbers: their parts, and how they are put together."""

from __future__ import annotations

from typing import Any

from gradproof.ops._op import ANY, COMPLEX, op

_NUMBERS = ((1.0 - 0.5j, -2.0 + 3.0j),)

# Gradients follow the convention of TensorFlow and PyTorch: the conjugate of the slope multiplies,
# and the gradient of a complex number holds the slopes by its real and by its imaginary part.
op(
    "conj",
    pullback=lambda m, i, gy, y, x: m.conj(gy),
    linear="jointly",
    samples=(((1.0, -2.0),), _NUMBERS),
    kinds=ANY,
)
op(
    "real",
    pullback=lambda m, i, gy, y, x: m.complex(gy, m.zeros(gy.shape)),
    linear="jointly",
    samples=(_NUMBERS,),
    kinds=COMPLEX,
)
op(
    "imag",
    pullback=lambda m, i, gy, y, x: m.complex(m.zeros(gy.shape), gy),
    linear="jointly",
    samples=(_NUMBERS,),
    kinds=COMPLEX,
)


def _complex_pullback(m: Any, i: int, gy: Any, y: Any, real: Any, imag: Any) -> Any:
    part = m.imag(gy) if i else m.real(gy)
    return m.sum_to(part, shape=(imag if i else real).shape)


op(
    "complex",
    pullback=_complex_pullback,
    linear="jointly",
    samples=((0.5, -2.0), (((1.0,), (-2.0,)), (3.0, 0.125))),
)


def modulus(m: Any, x: Any) -> Any:
    """|x| of a complex number, as a function of its two parts; it has a kink at 0."""
    return m.hypot(m.real(x), m.imag(x))


def angle(m: Any, x: Any) -> Any:
    """The argument of a complex number, as a function of its two parts."""
    return m.atan2(m.imag(x), m.real(x))


def equal_parts(m: Any, a: Any, b: Any) -> Any:
    """Whether two complex numbers are the same: two decisions, each about real numbers."""
    return m.logical_and(m.equal(m.real(a), m.real(b)), m.equal(m.imag(a), m.imag(b)))


def is_zero(m: Any, x: Any) -> Any:
    """Whether both parts of a complex number are zero."""
    return m.logical_and(m.equal(m.real(x), 0), m.equal(m.imag(x), 0))


def direction(m: Any, x: Any, one: Any) -> Any:
    """x / |x|, and 0 at 0: what frameworks call the sign of a complex number. `one` is 1 in the dtype of |x|."""
    length = m.select(is_zero(m, x), one, modulus(m, x))
    return m.complex(m.div(m.real(x), length), m.div(m.imag(x), length))
