"""Functions of JAX's library that stand for one op of ours, whatever they are computed by.

A determinant is computed by a factorisation that is not smooth where the determinant is; a special function by
approximations, with other ones beside them. What the program means is the function.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from jax._src.scipy import special

from gradproof.frontends.jax.lower._table import is_discrete, is_fixed, lower, lower_to

PREFIX = "library:"


ANY_NUMBER = -1
LARGEST_ORDER = 50  # of an exponential integral that is followed back to order 1


@dataclass(frozen=True)
class Known:
    """A function that has a lowering under `PREFIX` and its name; without one it has no exact meaning.

    The root of an equation has none: its derivative is that of the equation, not that of the steps towards it.
    """

    name: str
    file: str
    n_inputs: int = 1
    n_outputs: int = 1


# By the name that JAX has for the function, and the file that it is written in.
FUNCTIONS = {
    (known.name, known.file): known
    for known in (
        Known("det", "numpy/linalg.py"),
        Known("_interp", "numpy/lax_numpy.py", n_inputs=3),
        Known("hypot", "numpy/ufuncs.py", n_inputs=2),
        Known("_det", "numpy/linalg.py"),
        Known("_slogdet_lu", "numpy/linalg.py", n_outputs=2),
        Known("_slogdet_qr", "numpy/linalg.py", n_outputs=2),
        Known("_erfcx", "scipy/special.py"),
        Known("_dawsn", "scipy/special.py"),
        Known("expi", "scipy/special.py"),
        Known("_ndtri", "scipy/special.py"),
        Known("log_ndtr", "scipy/special.py"),
        Known("zeta", "scipy/special.py", n_inputs=2),
        Known("spence", "scipy/special.py"),
        Known("expn", "scipy/special.py", n_inputs=2),
        Known("sici", "scipy/special.py", n_outputs=2),
        Known("fresnel", "third_party/scipy/special.py", n_inputs=ANY_NUMBER, n_outputs=2),
        Known("hyp1f1", "scipy/special.py", n_inputs=3),
        Known("hyp2f1", "scipy/special.py", n_inputs=4),
        Known("_custom_root", "lax/control_flow/solves.py", n_inputs=ANY_NUMBER),
    )
}
REGIONS = {
    function.__code__: FUNCTIONS[function.__name__, "scipy/special.py"]
    for function in (special.spence, special._ndtri)
}
"""Functions that are neither compiled nor have a derivative of their own: known by their frames."""
_AT = re.compile(r"^(?P<name>.*) at .*[\\/]jax[\\/]_src[\\/](?P<file>.+):\d+$")


def known_function(described: Any) -> Known | None:
    """The function that JAX describes as `name at file:line`, if it is one of these."""
    at = _AT.match(str(described))
    return None if at is None else FUNCTIONS.get((at["name"], at["file"].replace("\\", "/")))


def region_of(codes: Any) -> Known | None:
    """The function that some frames are inside of."""
    return next((REGIONS[code] for code in codes if code in REGIONS), None)


lower_to("det", f"{PREFIX}det", f"{PREFIX}_det")
lower_to("hypot", f"{PREFIX}hypot")
lower_to("erfcx", f"{PREFIX}_erfcx")
lower_to("dawson", f"{PREFIX}_dawsn")
lower_to("expint", f"{PREFIX}expi")
lower_to("ndtri", f"{PREFIX}_ndtri")
lower_to("log_ndtr", f"{PREFIX}log_ndtr")
lower_to("spence", f"{PREFIX}spence")
lower_to("zeta", f"{PREFIX}zeta")


@lower(f"{PREFIX}fresnel")
def _fresnel(m: Any, event: Any, *given: Any) -> Any:
    """Its argument comes behind the coefficients that it is computed with."""
    return m.fresnel_sin(given[-1]), m.fresnel_cos(given[-1])


@lower(f"{PREFIX}sici")
def _sici(m: Any, event: Any, x: Any) -> Any:
    if (np.asarray(x.value) <= 0).any():
        raise NotImplementedError("the cosine integral of a negative number is real by convention only")
    return m.sin_integral(x), m.cos_integral(x)


@lower(f"{PREFIX}expn")
def _expn(m: Any, event: Any, n: Any, x: Any) -> Any:
    """From the integral of order 1, as each order follows from the one before."""
    orders = np.unique(np.asarray(n.value))
    if len(orders) != 1 or orders[0] not in range(1, LARGEST_ORDER + 1) or (np.asarray(x.value) <= 0).any():
        raise NotImplementedError("an exponential integral of another order, or outside its domain")
    y = m.exp1(x)
    for k in range(1, int(orders[0])):
        y = (m.exp(-x) - x * y) / k
    return y


def _hypergeometric(name: str, letters: str) -> None:
    """Of fixed parameters; their own derivatives are what the library computes them by."""

    @lower(f"{PREFIX}{name}")
    def function(m: Any, event: Any, *given: Any) -> Any:
        *parameters, x = given
        numbers = [np.unique(np.asarray(one.value)) for one in parameters]
        if not all(len(one) == 1 and is_fixed(m, given[k]) for k, one in enumerate(numbers)):
            raise NotImplementedError(
                "a hypergeometric function of several parameters at once, or of moving ones"
            )
        return getattr(m, name)(x, **{letter: float(one[0]) for letter, one in zip(letters, numbers)})


_hypergeometric("hyp1f1", "ab")
_hypergeometric("hyp2f1", "abc")


@lower(f"{PREFIX}_interp")
def _interp(m: Any, event: Any, x: Any, xp: Any, fp: Any) -> Any:
    """Straight lines between knots: which of them is a comparison with every knot, and decides."""
    n, returned = xp.shape[0], np.asarray(event.outputs[0].array)
    if n < 2 or is_discrete(x) or is_discrete(xp) or is_discrete(fp):
        raise NotImplementedError("an interpolation of integers, or without an interval")
    wide = m.reshape(x, shape=(*x.shape, 1))
    first, last = ((0,), (n - 1,)), ((1,), (n,))
    x0, x1, y0, y1 = (m.strided_slice(k, begin=b, end=e) for k in (xp, fp) for b, e in (first, last))
    lines = y0 + (wide - x0) / (x1 - x0) * (y1 - y0)
    inner = m.strided_slice(xp, begin=(1,), end=(n - 1,))
    passed = m.cast(m.greater_equal(wide, inner), dtype=str(x.value.dtype))
    ones, zeros = (m.broadcast(m.literal(np.full((1,), k)), shape=(*x.shape, 1)) for k in (1.0, 0.0))
    chosen = m.concat(ones, passed, axis=x.ndim) - m.concat(passed, zeros, axis=x.ndim)
    y = m.sum(chosen * lines, axes=(x.ndim,))
    # Beyond the knots the last value stays, unless `extrapolate` was asked for: what was returned shows it.
    for end, beyond in ((0, m.less), (n - 1, m.greater)):
        edge, value = (m.take(k, np.asarray(end), axis=0) for k in (xp, fp))
        outside = beyond(x, edge)
        if (returned == np.asarray(value.value))[np.asarray(outside.value)].all():
            y = m.select(outside, m.broadcast(value, shape=tuple(x.shape)), y)
    return y


@lower(f"{PREFIX}_slogdet_lu", f"{PREFIX}_slogdet_qr")
def _slogdet(m: Any, event: Any, a: Any) -> Any:
    """The sign of a real one is what it was: it changes only where the logarithm is infinite."""
    if a.value.dtype.kind == "c":
        det = m.det(a)
        size = m.hypot(m.real(det), m.imag(det))
        return m.div(det, m.complex(size, m.zeros(size.shape))), m.log(size)
    return m.constant(event.outputs[0].array), m.log_abs_det(a)
