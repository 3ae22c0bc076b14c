"""Whether a function may compute with Python numbers where neither JAX nor we hear it."""

from __future__ import annotations

from typing import Any

from jax.stages import Wrapped

from gradproof.frontends.frozen.outside_reads import reads_of

_ELSEWHERE = ("math", "cmath", "numpy", "scipy")
_TO_PLAIN = ("float", "int", "round", "complex", "divmod")  # what comes back is a number that nobody follows


def computes_elsewhere(function: Any) -> bool:
    """Whether a function may compute with numbers where nobody hears it: with `math`, NumPy or `float()`."""
    if isinstance(function, Wrapped):
        return False  # compiled: it is given arrays in their place
    code = getattr(function, "__code__", None)
    if code is None or any(name in _TO_PLAIN for name in code.co_names):
        return True
    return any(callable(read.value) and _home(read.value) in _ELSEWHERE for read in reads_of(function))


def _home(value: Any) -> str:
    module = getattr(value, "__module__", None) or getattr(type(value), "__module__", "")
    return str(module).partition(".")[0]
