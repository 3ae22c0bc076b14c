"""Whose rounding or rewriting it was that made two runs of an op part.

Every explanation is tried: what the op would return under it is computed, and it counts only if it gives the very
bits that the mode returned. What no explanation gives is told by its size: within the roundings that an op is entitled
to it is another rounding, beyond them the op was replaced by something else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from gradproof.diagnosis import words
from gradproof.diagnosis.parting import Whose
from gradproof.domains.ieee import Ieee
from gradproof.engine.run import Policy, run
from gradproof.errors import GradproofError
from gradproof.ir import types
from gradproof.ir.program import Program, prune
from gradproof.ir.shapes import joint_shape
from gradproof.ir.types import Array
from gradproof.modes.differing import (
    HALF,
    PRODUCTS,
    SUMS,
    Differing,
    differs_at,
    distance,
    is_rounded_once,
    is_rounding,
    ulps_told,
)
from gradproof.modes.op_seen import exact_result
from gradproof.modes.rewritings import rewritings
from gradproof.modes.rows import same_bits
from gradproof.modes.units import smallest_normal, wide

_ROUNDED_RIGHT = ("add", "sub", "mul", "square", "div", "sqrt", "neg")


def whose(seen: Differing) -> Whose:
    """The first explanation that gives the bits of the mode."""
    for explain in (
        _in_fewer_bits,
        _flushed,
        _rewritten,
        _widened,
        _of_other_inputs,
        _ordered,
        _narrowed,
        _approximated,
    ):
        found = explain(seen)
        if found is not None:
            return found
    return Whose(
        "rewriting",
        f"this result is not `{seen.node.op}` of its inputs to any rounding: the op was replaced by something else, or "
        "computed from numbers that were not rounded in between",
    )


def _in_fewer_bits(seen: Differing) -> Whose | None:
    """A mode that has a dtype of its own for the op, as mixed precision does."""
    dtype = types.dtype_name(seen.other)
    if not types.is_real(dtype) or not types.is_real(seen.node.dtype):
        return None
    bits = types.precision_bits(dtype)
    if bits >= types.precision_bits(seen.node.dtype):
        return None
    return Whose("narrow-inputs", f"this mode computes `{seen.node.op}` in {dtype}, {bits} bits")


def _flushed(seen: Differing) -> Whose | None:
    """Numbers below the smallest normal one taken for zero, on the way in or out."""
    if not types.is_real(seen.node.dtype):
        return None
    least = smallest_normal(seen.node.dtype)
    differs = differs_at(seen)
    single, other = wide(seen.single), wide(seen.other)
    out = (other == 0) & (np.abs(single) < least) & (single != 0)
    if bool(np.all(out[differs])):
        return Whose(
            "subnormal",
            f"the result is below {words.significant(least, 2)}, the smallest normal number of {seen.node.dtype}, "
            "and this mode flushes it to zero",
        )
    tiny = [np.broadcast_to(_is_tiny(x), differs.shape) for x in seen.inputs if _spreads(x, differs.shape)]
    if tiny and bool(np.all(np.any(tiny, axis=0)[differs])) and bool(np.all((other == 0)[differs])):
        return Whose(
            "subnormal",
            f"an input is below the smallest normal number of {seen.node.dtype}, and this mode takes it for zero",
        )
    back = (single == 0) & (np.abs(other) < least) & (other != 0)
    if bool(np.all(back[differs])):
        return Whose(
            "subnormal",
            f"{seen.beside} the result is flushed to zero, being below the smallest normal number; this mode keeps it",
        )
    return None


def _rewritten(seen: Differing) -> Whose | None:
    is_odd = seen.is_shared and seen.node.op in _ROUNDED_RIGHT and not is_rounded_once(seen, seen.single)
    # Another framework that runs op by op too knows nothing of the ops before.
    for kind, text, value in rewritings(seen.program, seen.node, is_alone=not seen.is_compiled):
        candidate = np.asarray(value)
        if candidate.shape != seen.other.shape:
            continue
        if same_bits(candidate.astype(seen.other.dtype), seen.other):
            return Whose(kind, text)
    # Where the run op by op does not round the op as such, it may as well be the one that rewrites it.
    for kind, text, value in rewritings(seen.program, seen.node, is_alone=True) if is_odd else ():
        if same_bits(np.asarray(value).astype(seen.single.dtype), seen.single):
            return Whose(kind, f"{text} {seen.beside}, and not here")
    return None


def _widened(seen: Differing) -> Whose | None:
    """A rounding to fewer digits that was left out, as compilers do between 16-bit ops."""
    if seen.node.op != "cast" and types.is_real(seen.node.dtype):
        return _unrounded(seen)
    if not types.is_real(seen.node.dtype):
        return None
    (x,) = seen.inputs
    if not types.is_real(types.dtype_name(x)):
        return None
    if same_bits(wide(x), wide(seen.other)):
        return Whose("excess-precision", f"the rounding to {seen.node.dtype} was left out")
    if same_bits(seen.other.astype(x.dtype), x):
        before = types.dtype_name(x)
        return Whose("excess-precision", f"what was cast had not been rounded to {before} in this mode")
    return None


def _unrounded(seen: Differing) -> Whose | None:
    """A 16-bit op whose inputs were kept in float32: run again so, it returns the bits of the mode."""
    narrow = seen.node.dtype
    if types.precision_bits(narrow) > 11:
        return None
    own = prune(seen.program, [seen.node.id])
    text = f"what goes in was kept in float32, and not rounded to {narrow} in between"
    for rounded in _rounded_before(own, seen.node.id):
        try:
            with np.errstate(all="ignore"):
                kept = {id: np.asarray(own[id].value).astype(np.float32) for id in rounded}
                whole = run(Ieee("float32"), own, Policy(inputs=kept)).values[seen.node.id]
        except (GradproofError, ValueError, TypeError, FloatingPointError):
            continue
        if same_bits(np.asarray(whole).astype(seen.other.dtype), seen.other):
            return Whose("excess-precision", text)
    return None


def _rounded_before(program: Program, last: int) -> Iterator[set[int]]:
    """What was rounded as ever before the ops in one piece with the last one: from two ops on, to all of them."""
    near = {last}
    known = {node.id for node in program.nodes if types.is_real(node.dtype) and node.value is not None}
    while True:
        more = near | {id for one in near for id in program[one].inputs}
        if more == near:
            return
        near = more
        yield known - near


# Formats that the inputs of a product are rounded to by hardware that multiplies faster so, with their bits; and what
# it is where the result has no more bits: TF32 keeps it in float32.
_FORMATS = {"TF32": (11, "float16"), "bfloat16": (8, "bfloat16")}


def _narrowed(seen: Differing) -> Whose | None:
    """Products of inputs that were rounded to fewer bits before they were multiplied."""
    if seen.node.op not in PRODUCTS or seen.node.dtype != "float32":
        return None
    for name, (bits, whole_name) in _FORMATS.items():
        inputs = [_rounded_to(x, bits) for x in seen.inputs]
        exact = exact_result(seen.node, inputs)
        if exact is None:
            continue
        if is_rounding(replace(seen, inputs=inputs, exact=exact)):
            text = f"the inputs of `{seen.node.op}` were rounded to {name}, {bits} bits, before they were multiplied"
            return Whose("narrow-inputs", text)
        # A result that has no more bits than the format was rounded to it as well.
        whole = replace(
            seen, inputs=inputs, exact=replace(exact, rad=exact.rad + np.abs(exact.mid) * 2.0**-bits)
        )
        if same_bits(_rounded_to(seen.other, bits), seen.other) and is_rounding(whole):
            return Whose(
                "narrow-inputs",
                f"`{seen.node.op}` was computed in {whole_name}, {bits} bits, inputs and result",
            )
    return None


def _rounded_to(x: Array, bits: int) -> Array:
    """To the nearest number with so many bits, ties to even."""
    mantissa, exponent = np.frexp(x.astype(np.float64))
    return np.asarray(np.ldexp(np.rint(np.ldexp(mantissa, bits)), exponent - bits)).astype(x.dtype)


def _of_other_inputs(seen: Differing) -> Whose | None:
    """The op is rounded once in both runs, on inputs that differ already."""
    if (
        seen.is_shared
        or seen.exact is None
        or seen.exact_single is None
        or not types.is_real(seen.node.dtype)
    ):
        return None
    one, two = distance(seen, seen.single, seen.exact_single), distance(seen, seen.other, seen.exact)
    if max(one, two) > HALF:
        return None
    text = f"`{seen.node.op}` is rounded once in both runs, of inputs that differ already{ulps_told(seen)}"
    return Whose("rounding", text)


def _ordered(seen: Differing) -> Whose | None:
    """Sums: another order, or terms that were not rounded before they were added."""
    if seen.node.op not in SUMS or not is_rounding(seen):
        return None
    if seen.node.op in PRODUCTS:
        n = seen.inputs[0].shape[-1] if seen.node.op == "matmul" and seen.inputs[0].ndim else None
        several = "products" if n is None else words.count(n, "product")
        return Whose(
            "sum-order",
            f"the {several} of every entry are added in another order, or unrounded{ulps_told(seen)}",
        )
    n = max(int(np.prod(x.shape)) for x in seen.inputs) // max(1, int(np.prod(seen.node.shape)))
    return Whose("sum-order", f"{words.count(n, 'number')} are added in another order{ulps_told(seen)}")


def _approximated(seen: Differing) -> Whose | None:
    """Another approximation of the same function, or another rounding of the same op."""
    if not is_rounding(seen):
        return None
    if seen.node.op in _ROUNDED_RIGHT:
        if seen.exact is not None and distance(seen, seen.other, seen.exact) > HALF:
            return Whose(
                "rewriting", f"`{seen.node.op}` was not computed by itself and rounded once{ulps_told(seen)}"
            )
        before = seen.exact_single or seen.exact
        if before is not None and distance(seen, seen.single, before) <= HALF:
            text = f"`{seen.node.op}` is rounded to the other of two numbers that are about as near"
        else:
            text = f"`{seen.node.op}` is rounded once here, and not {seen.beside}"
        return Whose("rounding", f"{text}{ulps_told(seen)}")
    return Whose("approximation", f"another approximation of `{seen.node.op}`{ulps_told(seen)}")


def _is_tiny(x: Array) -> Array:
    if x.dtype.kind in "biu":
        return np.zeros(x.shape, bool)
    size = np.abs(wide(x))
    return np.asarray((size > 0) & (size < smallest_normal(types.dtype_name(x))))


def _spreads(x: Array, shape: tuple[int, ...]) -> bool:
    try:
        return joint_shape(x.shape, shape) == shape
    except ValueError:
        return False
