"""A sample as the script that a user would run, and as the function in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from gradproof.frontends.library.model import (
    DIRECTIONS,
    FIRST,
    WEIGHTS,
    Entry,
    OpCall,
    Part,
    SweptLibrary,
    at,
)
from gradproof.ir.types import Array

SCRIPT = "fault.py"  # what messages call the file
Result = TypeVar("Result")
MOST_KNOWN = 32  # functions that are kept
_KNOWN: dict[tuple[Any, ...], Callable[..., Any]] = {}


def function_text(library: SweptLibrary, sample: OpCall) -> str:
    """The function `f` that is differentiated: the call as one number, or the gradient of that."""
    given, value = ", ".join(sample.wrt), expression(library, sample)
    if sample.order == 1:
        return f"def f({given}):\n    return {value}\n"
    body = "".join(f"    {line}\n" for line in library.slope(sample.wrt))
    return f"def {FIRST}({given}):\n    return {value}\n\n\ndef f({given}):\n{body}"


def expression(library: SweptLibrary, sample: OpCall) -> str:
    """The call as one number."""
    value = sample.result.format(sample.call)
    if sample.entry is not None:
        return value + at(sample.entry)
    return library.total.format(f"{value} * {WEIGHTS}" if sample.weights is not None else value)


def function_of(library: SweptLibrary, sample: OpCall) -> tuple[Callable[..., Any], list[Any]]:
    """The function that the script defines, and the arguments it calls it with."""
    held = {name: array for name, array in sample.arrays.items() if name not in sample.wrt}
    held |= _factors(sample)
    args = [library.constant(sample.arrays[name].copy()) for name in sample.wrt]
    return _defined(library, function_text(library, sample), held), args


def call_of(library: SweptLibrary, sample: OpCall) -> Any:
    """What the op itself returns, all of it."""
    space: dict[str, Any] = {}
    exec("\n".join(library.header), space)
    space.update({name: library.constant(array.copy()) for name, array in sample.arrays.items()})
    return eval(sample.call, space)


def _defined(library: SweptLibrary, text: str, held: Mapping[str, Array]) -> Callable[..., Any]:
    """The same function for the same text and constants: a library that compiles does so once."""
    key = (library.framework, text, *((name, x.dtype.str, x.shape, x.tobytes()) for name, x in held.items()))
    if key not in _KNOWN:
        space: dict[str, Any] = {}
        exec("\n".join(library.header), space)
        space.update({name: library.constant(array.copy()) for name, array in held.items()})
        exec(compile(text, SCRIPT, "exec"), space)
        while len(_KNOWN) >= MOST_KNOWN:
            del _KNOWN[next(iter(_KNOWN))]
        _KNOWN[key] = space["f"]
    return _KNOWN[key]


def as_in_a_script(work: Callable[[], Result]) -> Result:
    """Do it beneath a frame of a script: gradients that no user's code asks for are not listened to."""
    space: dict[str, Any] = {}
    exec(compile("def script(work):\n    return work()\n", SCRIPT, "exec"), space)
    found: Result = space["script"](work)
    return found


def script_of(
    library: SweptLibrary, sample: OpCall, source: str, entry: Entry | None, mode: str | None = None
) -> str:
    """The whole script, which prints the entry of the gradient that is to blame; None: that there is no gradient."""
    lines = [*library.header, ""]
    lines += [f"{name} = {library.array_text(array)}" for name, array in _factors(sample).items()]
    lines += [f"{name} = {library.array_text(array)}" for name, array in sample.arrays.items()]
    lines += ["", "", function_text(library, sample), ""]
    if mode is None:
        lines += library.gradient(sample.wrt, source, entry)
    else:
        lines += library.mode_lines[mode](sample.wrt, source, entry or ())
    return "\n".join(lines) + "\n"


def with_result(library: SweptLibrary, sample: OpCall, part: Part) -> OpCall:
    """The sample with one part of its result made a number; weights that all differ keep its entries apart."""
    picked = library.real.format(part.pick) if part.is_complex else part.pick
    if part.shape == ():
        return replace(sample, result=picked, entry=())
    dtype = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}.get(
        part.dtype, part.dtype
    )
    return replace(sample, result=picked, weights=_all_different(part.shape, dtype))


def _all_different(shape: tuple[int, ...], dtype: Any) -> Array:
    return (1.0 + np.arange(int(np.prod(shape))) / 8.0).reshape(shape).astype(dtype)


def _factors(sample: OpCall) -> dict[str, Array]:
    """What makes one number of a result, and of its gradient."""
    found = {} if sample.weights is None else {WEIGHTS: sample.weights}
    if sample.order == 2:
        first = sample.arrays[sample.wrt[0]]
        found[DIRECTIONS] = _all_different(first.shape, first.dtype)
    return found
