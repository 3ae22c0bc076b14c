"""Arrays that are the same numbers under another identity.

JAX hands arrays on where nothing is computed: `stop_gradient` returns what it was given, and a function may use the
very array that it is differentiated for as a constant too. Who is who can then be told by identity only, so that what
is new in the program gets an object of its own. The numbers are shared, nothing is copied.
"""

from __future__ import annotations

import copy
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax._src import core, dtypes
from jax._src.array import ArrayImpl
from jax._src.interpreters import ad, batching


def twin(array: Any) -> Any:
    """Another object for the same array; the array itself where there can be none."""
    if type(array) is ArrayImpl:
        buffers, sharding = array._arrays, array.sharding
        return ArrayImpl(array.aval, sharding, buffers, committed=array._committed, _skip_checks=True)
    # Numbers of Python's and NumPy's are made JAX's own at every use, and are another object each time.
    own = dtypes.canonicalize_value(array)
    made = copy.copy(array) if own is array else own
    return made if core.typeof(made) == core.typeof(array) else array


def array_of(number: Any) -> Any | None:
    """A Python number as the array that JAX makes of it; None for others, and where the way there would round twice."""
    if not isinstance(number, float | complex) or isinstance(number, np.generic):
        return None
    array = jnp.asarray(number)
    parts = np.asarray([number.real, number.imag])
    short = (
        parts if array.dtype.itemsize == 8 * (1 + isinstance(number, complex)) else parts.astype(np.float32)
    )
    halves = (np.float16, jnp.bfloat16)
    with np.errstate(over="ignore"):
        is_same = all(np.array_equal(parts.astype(h), short.astype(h), equal_nan=True) for h in halves)
    return array if is_same else None


def with_bottom(x: Any, value: Any) -> Any:
    """A tracer like `x` with another array at its bottom."""
    if isinstance(x, ad.JVPTracer):
        return ad.JVPTracer(x._trace, with_bottom(x.primal, value), x.tangent)
    if isinstance(x, ad.LinearizeTracer):
        return ad.LinearizeTracer(x._trace, with_bottom(x.primal, value), x.tangent)
    if isinstance(x, batching.BatchTracer):
        return batching.BatchTracer(x._trace, with_bottom(x.val, value), x.batch_dim, x.source_info)
    return value


def apart(outputs: list[Any], inputs: Any) -> list[Any]:
    """The outputs with a twin for each that is one of the inputs, or an output twice."""
    seen = {id(array) for array in inputs}
    found = []
    for array in outputs:
        if id(array) in seen:
            array = twin(array)
        seen.add(id(array))
        found.append(array)
    return found
