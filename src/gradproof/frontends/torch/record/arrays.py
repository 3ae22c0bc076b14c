"""The numbers of a tensor as an array of NumPy, whatever its dtype, layout and history."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from gradproof.ir.types import BFLOAT16

# Dtypes that NumPy does not have; every number of theirs is one of the wider dtype.
_TOO_SHORT = {
    torch.complex32: torch.complex64,
    torch.float8_e4m3fn: torch.float32,
    torch.float8_e5m2: torch.float32,
}
_AS_BITS = {torch.bfloat16: (torch.int16, BFLOAT16)}


def array_of(tensor: Any) -> np.ndarray[Any, Any]:
    """A copy that nothing of the program's shares. The caller sees to it that nobody records this."""
    with torch.no_grad():
        plain = tensor.detach()
        if plain.layout != torch.strided:
            plain = plain.to_dense()
        if plain._is_zerotensor():
            plain = torch.zeros(plain.shape, dtype=plain.dtype)
        plain = plain.resolve_conj().resolve_neg().cpu().contiguous()
        if plain.dtype in _AS_BITS:
            bits, dtype = _AS_BITS[plain.dtype]
            plain = np.array(plain.view(bits).numpy()).view(dtype).reshape(tuple(plain.shape))
            return np.asarray(plain)
        if plain.dtype in _TOO_SHORT:
            plain = plain.to(_TOO_SHORT[plain.dtype])
        return np.array(plain.numpy())


def tensor_of(array: Any, dtype: Any = None) -> Any:
    """A tensor with the numbers of an array."""
    array = np.asarray(array)
    if array.dtype == BFLOAT16:
        made = torch.from_numpy(np.array(array).view(np.int16)).view(torch.bfloat16).reshape(array.shape)
    else:
        made = torch.from_numpy(np.array(array))
    return made if dtype is None else made.to(dtype)
