"""Complex numbers and their parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.frontends.assemble.lists import TensorList
from gradproof.frontends.tensorflow.lower._table import lower, lower_to
from gradproof.ops import complex as parts

lower_to("complex", "Complex")


@lower("Conj")
def _conj(m: Any, event: Any, x: Any) -> Any:
    """Of a tensor, or of the matrix that a variant holds."""
    return TensorList(tuple(map(m.conj, x.items))) if isinstance(x, TensorList) else m.conj(x)


@lower("Real")
def _real(m: Any, event: Any, x: Any) -> Any:
    return m.real(x) if np.iscomplexobj(x.value) else m.identity(x)


@lower("Imag")
def _imag(m: Any, event: Any, x: Any) -> Any:
    return m.imag(x) if np.iscomplexobj(x.value) else m.constant(event.outputs[0].array)


@lower("Angle")
def _angle(m: Any, event: Any, x: Any) -> Any:
    return parts.angle(m, x)


@lower("ComplexAbs")
def _modulus(m: Any, event: Any, x: Any) -> Any:
    return parts.modulus(m, x)
