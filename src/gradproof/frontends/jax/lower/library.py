"""Functions of JAX's library that stand for one op of ours, whatever they are computed by.

A determinant is computed by a factorisation that is not smooth where the determinant is; a special function by
approximations, with other ones beside them. What the program means is the function.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from gradproof.frontends.jax.lower._table import is_discrete, lower, lower_to

PREFIX = "library:"


ANY_NUMBER = -1


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
        Known("_custom_root", "lax/control_flow/solves.py", n_inputs=ANY_NUMBER),
    )
}
REGIONS = {jax.scipy.special.spence.__code__: FUNCTIONS["spence", "scipy/special.py"]}
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
