"""The table of lowerings: what an op of PyTorch means, in ops of the program.

A lowering is called with the arithmetic `m`, the recorded event, and the arguments as the op itself was called: in
the order and under the names of its schema, with traced arrays in the place of tensors. It returns the result, or a
tuple of results where the op has several; None stands for a result that has no meaning as a number. It is entered
under the name of the op without its overload, and serves the variants that work in place or write into `out=`. A
variant that has no meaning here raises NotImplementedError, and the op stays opaque.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradproof.engine.allowance import WHOLE
from gradproof.engine.trace import Traced
from gradproof.frontends.assemble.table import Lower, LoweringTable
from gradproof.frontends.torch.lower._kinds import COMPLEX
from gradproof.frontends.torch.record.recorder import Ref
from gradproof.ir import types

TABLE = LoweringTable(COMPLEX)
lower, lower_to = TABLE.lower, TABLE.lower_to

# Arguments that say where and how a result is stored, not what it is.
_STORAGE = frozenset(
    {"layout", "device", "pin_memory", "memory_format", "out", "generator", "non_blocking", "copy"}
)
# In what precision PyTorch holds a Python number beside a tensor of 16 bits.
_WIDE = {"float16": "float32", "bfloat16": "float32"}


class AtenLowerings:
    """The table by the full names of ops, as what takes the traced inputs of an event in a row."""

    def get(self, op: str) -> Callable[..., Any] | None:
        function = lookup(op)
        if function is None:
            return self._by_decomposition(op)

        def apply(m: Any, event: Any, *xs: Any) -> Any:
            # An event of ours that is called like one of PyTorch's, as for `x.data`, has its inputs and nothing else.
            args = bound(event.attrs["args"], xs) if "args" in event.attrs else xs
            named = {k: v for k, v in event.attrs.get("kwargs", {}).items() if k not in _STORAGE}
            if op.startswith("gradproof."):
                return function(m, event, *xs)
            known = len(m.builder.nodes)
            results = function(m, event, *args, **bound(named, xs))
            # Of a solution two computations may differ in all digits; the value witness knows how much each op may.
            if not any(node.op in WHOLE for node in m.builder.nodes[known:]):
                _agree(event, results if isinstance(results, tuple) else (results,), xs)
            return results

        return apply

    def _by_decomposition(self, op: str) -> Callable[..., Any] | None:
        from gradproof.frontends.torch.lower._decomposed import decomposed, decomposition_of

        if decomposition_of(op) is None:
            return None
        return lambda m, event, *xs: decomposed(self.get, m, event, xs)

    def __contains__(self, op: str) -> bool:
        return lookup(op) is not None


LOWERINGS = AtenLowerings()


# In square roots of the rounding of a dtype, measured against the largest number that goes in or comes out: far more
# than the order of a sum can change, far less than another function would be off.
_NEAR = 8.0


def _agree(event: Any, results: Sequence[Any], xs: Sequence[Any]) -> None:
    """What a lowering gives is what the kernel returned, but for rounding; or else it is not what the op means."""
    names = [types.dtype_name(x.value) for x in xs if isinstance(x, Traced)]
    coarse = [types.unit_roundoff(name) for name in names if types.is_real(name)]
    for result, output in zip(results, event.outputs):
        seen = output.array
        if (
            not isinstance(result, Traced)
            or seen is None
            or seen.dtype.kind in "biu"
            or seen.shape != result.shape
            or types.is_one_place(seen, result.value)
        ):
            continue
        apart = _apart(seen, result.value)
        # A result in more digits than what went in was still computed from numbers of fewer.
        unit = max([types.unit_roundoff(types.dtype_name(seen)), *coarse])
        near = _NEAR * np.sqrt(unit)
        if apart <= near * _largest(seen):
            continue  # as nearly always: what went in need not be looked through
        sizes = [_largest(x.value) for x in xs if isinstance(x, Traced)]
        if apart > near * max(_largest(seen), _largest(result.value), *sizes):
            raise ValueError(f"{event.op} returned {apart:.1e} more or less than its meaning gives")


def _apart(one: Any, other: Any) -> float:
    """The largest difference of two entries, in their own digits where these can hold it."""
    with np.errstate(all="ignore"):
        if one.dtype == other.dtype and one.dtype.kind == "f" and one.dtype.itemsize >= 4:
            size = _span(one - other)
            if math.isfinite(size):
                return size
        wide = np.complex128 if np.iscomplexobj(one) or np.iscomplexobj(other) else np.float64
        return _largest(np.asarray(one, wide) - np.asarray(other, wide))


def _largest(array: Any) -> float:
    """The size of the largest entry that is a number."""
    array = np.asarray(array)
    if array.dtype.kind == "f" and math.isfinite(size := _span(array)):
        return size
    wide = np.abs(np.asarray(array, np.complex128 if np.iscomplexobj(array) else np.float64))
    return float(np.max(np.where(np.isfinite(wide), wide, 0.0), initial=0.0))


def _span(array: Any) -> float:
    """The size of the largest entry; no number if one entry is none."""
    return max(abs(float(array.max(initial=0.0))), abs(float(array.min(initial=0.0))))


def lookup(op: str) -> Lower | None:
    name = entry_of(op)
    return None if name is None else TABLE[name]


def entry_of(op: str) -> str | None:
    """By the full name, by that of the packet, and by that of the op which does not work in place."""
    space, _, rest = op.partition(".")
    if space == "gradproof":
        return op if op in TABLE else None
    if space not in ("aten", "prims"):
        return None
    packet, _, overload = rest.partition(".")
    plain = packet[:-1] if packet.endswith("_") and not packet.endswith("__") else packet
    prefix = "" if space == "aten" else "prims."
    names = (prefix + name for name in (f"{packet}.{overload}", packet, f"{plain}.{overload}", plain))
    return next((name for name in names if name in TABLE), None)


def bound(structure: Any, xs: Sequence[Any]) -> Any:
    """The arguments of an op with traced arrays for its tensors."""
    if isinstance(structure, Ref):
        return xs[structure.k]
    if isinstance(structure, tuple):
        return tuple(bound(item, xs) for item in structure)
    if isinstance(structure, dict):
        return {key: bound(item, xs) for key, item in structure.items()}
    return structure


def number(m: Any, x: Any, like: Any) -> Any:
    """A Python number beside a tensor, in the precision PyTorch computes with; what is traced stays what it is."""
    if isinstance(x, Traced):
        return x
    name = types.dtype_name(like.value)
    if isinstance(x, complex):
        return m.constant(np.asarray(x, name if types.is_complex(name) else "complex128"))
    if types.is_complex(name):
        return m.constant(np.asarray(x, "float64" if name == "complex128" else "float32"))
    if types.is_discrete(name):
        return m.constant(np.asarray(x, np.float32 if isinstance(x, float) else np.int64))
    return m.constant(np.asarray(x, _WIDE.get(name, name)))


def pair(m: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """Two operands, of which one may be a Python number."""
    if isinstance(a, Traced):
        return a, number(m, b, a)
    return number(m, a, b), b


def axes_of(dim: Any, x: Any) -> tuple[int, ...]:
    """The axes that are meant, counted from the front; all of them where none is named."""
    if dim is None or (isinstance(dim, tuple) and not dim):
        return tuple(range(x.ndim))
    dims = dim if isinstance(dim, tuple) else (dim,)
    return tuple(sorted({axis % max(x.ndim, 1) for axis in dims})) if x.ndim else ()


def kept(m: Any, y: Any, x: Any, axes: tuple[int, ...], keepdim: Any) -> Any:
    """A reduced array with the reduced axes as axes of length one, if they are to be kept."""
    if not keepdim or not x.ndim:
        return y
    return m.reshape(y, shape=tuple(1 if axis in axes else n for axis, n in enumerate(x.shape)))


def ints(x: Any) -> Any:
    """The entries of an integer tensor as a fact of the run."""
    return np.asarray(x.value)


def is_complex(x: Any) -> bool:
    return bool(np.iscomplexobj(x.value))


def shape_of(e: Any, k: int = 0) -> tuple[int, ...]:
    return tuple(e.outputs[k].shape)
