"""Independent values of the ops with 60 digits, from mpmath. One file per topic, discovered."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np

from gradproof.ops import Sample

# Op name -> function of object arrays of mpf or mpc (and integer arrays) to one array or a tuple of them.
REFERENCES: dict[str, Callable[..., Any]] = {}

for _module in pkgutil.iter_modules(__path__):
    REFERENCES.update(importlib.import_module(f"{__name__}.{_module.name}").REFERENCES)


def reference_value(name: str, sample: Sample) -> list[list[tuple[str, str]]]:
    """Every result as a list of decimal strings, for the real and the imaginary part."""
    with mpmath.workdps(80):
        value = REFERENCES[name](*(_exact(x) for x in sample.inputs), **sample.params)
        parts = value if isinstance(value, tuple) else (value,)
        return [[_digits(entry) for entry in np.asarray(part, dtype=object).reshape(-1)] for part in parts]


def _digits(entry: Any) -> tuple[str, str]:
    number = mpmath.mpmathify(entry)
    return mpmath.nstr(mpmath.re(number), 70), mpmath.nstr(mpmath.im(number), 70)


def _exact(x: Any) -> Any:
    array = np.asarray(x)
    if array.dtype.kind in "biu":
        return array
    return np.asarray(
        np.frompyfunc(lambda entry: mpmath.mpmathify(entry), 1, 1)(array.astype(object)), dtype=object
    )
