"""The numbers of a tensor as an array of NumPy, whatever its dtype, layout and history."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from gradproof.frontends.record.value import loan
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


@dataclass(slots=True, eq=False)
class Moment:
    """All numbers of a piece of memory at one time, copied when one of its views is first asked for."""

    copy: np.ndarray[Any, Any] | None = None

    def view(self, tensor: Any) -> np.ndarray[Any, Any] | None:
        """The numbers of a tensor in that memory; None where they are not worth the copy, or need one of their own.

        The order in memory is the order in which sums are made, and a file knows two of them.
        """
        there = _there(tensor)
        if there is None or 2 * there.nbytes < (size := tensor.untyped_storage().nbytes()):
            return None
        start = tensor.untyped_storage().data_ptr()
        if self.copy is None:
            self.copy = np.frombuffer(ctypes.string_at(start, size), np.uint8)
        if self.copy.nbytes != size:  # the memory itself was made larger or smaller
            return None
        return np.ndarray(there.shape, there.dtype, self.copy.data, there.ctypes.data - start, there.strides)


def lent_view(tensor: Any) -> np.ndarray[Any, Any] | None:
    """The numbers where they stand, if whoever asks gives them back; None where they have to be copied."""
    borrowed = loan()
    there = None if borrowed is None or tensor is None else _there(tensor)
    if there is not None and borrowed is not None:
        borrowed.is_taken = True
        there.flags.writeable = False
    return there


def _there(tensor: Any) -> np.ndarray[Any, Any] | None:
    """The memory of a tensor as an array; None where NumPy has no word for it, or no order that a file knows."""
    if type(tensor) is not torch.Tensor or tensor.layout != torch.strided or tensor.device.type != "cpu":
        return None
    if tensor.dtype in _TOO_SHORT or tensor.dtype in _AS_BITS or tensor.is_conj() or tensor.is_neg():
        return None
    try:
        tensor.untyped_storage().data_ptr()
    except RuntimeError:  # inside a transformation, or never allocated
        return None
    if not tensor.numel() or tensor._is_zerotensor():
        return None
    with (
        torch._C._DisableTorchDispatch()
    ):  # or else the ear is told of it, which takes longer than all the rest
        there: np.ndarray[Any, Any] = tensor.detach().numpy()
    return there if there.flags.c_contiguous or there.flags.f_contiguous else None


def tensor_of(array: Any, dtype: Any = None) -> Any:
    """A tensor with the numbers of an array."""
    array = np.asarray(array)
    if array.dtype == BFLOAT16:
        made = torch.from_numpy(np.array(array).view(np.int16)).view(torch.bfloat16).reshape(array.shape)
    else:
        made = torch.from_numpy(np.array(array))
    return made if dtype is None else made.to(dtype)
