"""Sums of products."""

from __future__ import annotations

import string
from typing import Any

from gradproof.frontends.jax.lower._table import is_discrete, lower


@lower("dot_general")
def _dot_general(m: Any, event: Any, a: Any, b: Any) -> Any:
    if is_discrete(a) and is_discrete(b):
        return m.constant(event.outputs[0].array)
    (contract_a, contract_b), (batch_a, batch_b) = event.attrs["dimension_numbers"]
    letters = iter(string.ascii_letters)
    left, right = [""] * a.ndim, [""] * b.ndim
    batch = ""
    for i, j in zip(batch_a, batch_b):
        left[i] = right[j] = next(letters)
        batch += left[i]
    for i, j in zip(contract_a, contract_b):
        left[i] = right[j] = next(letters)
    free_a = [i for i in range(a.ndim) if not left[i]]
    free_b = [j for j in range(b.ndim) if not right[j]]
    for i in free_a:
        left[i] = next(letters)
    for j in free_b:
        right[j] = next(letters)
    result = batch + "".join(left[i] for i in free_a) + "".join(right[j] for j in free_b)
    return m.einsum(a, b, equation=f"{''.join(left)},{''.join(right)}->{result}")
