"""Complex numbers and their parts."""

from __future__ import annotations

from typing import Any

from gradproof.frontends.jax.lower._table import lower, lower_to

lower_to("real", "real")
lower_to("imag", "imag")
lower_to("complex", "complex")


@lower("conj")
def _conj(m: Any, event: Any, x: Any) -> Any:
    if x.value.dtype.kind != "c":
        return m.complex(
            x, m.zeros(x.shape)
        )  # the transpose of `real` of a complex number hands on a real one
    return m.conj(x)
