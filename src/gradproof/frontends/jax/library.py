"""JAX as a sweep sees it: the public functions of its numerical modules, tried by their signatures."""

from __future__ import annotations

import contextlib
import functools
import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gradproof.frontends.library.model import (
    DIRECTIONS,
    FIRST,
    Entry,
    LibraryOp,
    Part,
    SweptLibrary,
    at,
    parts_of,
)
from gradproof.frontends.library.probe import Probe, probed
from gradproof.frontends.library.written import numbers_text
from gradproof.ir.types import Array

# The module, and what programs write before its functions.
_MODULES = {
    "jax.numpy": "jnp",
    "jax.numpy.linalg": "jnp.linalg",
    "jax.numpy.fft": "jnp.fft",
    "jax.nn": "jax.nn",
    "jax.scipy.special": "jax.scipy.special",
    "jax.scipy.linalg": "jax.scipy.linalg",
    "jax.lax": "jax.lax",
}
_STATISTICS = "jax.scipy.stats"
_NEEDS_NUMBERS = (
    jax.errors.ConcretizationTypeError,
    jax.errors.NonConcreteBooleanIndexError,
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerIntegerConversionError,
)
_HEADER = (
    "import jax",
    "import jax.numpy as jnp",
    "import jax.scipy.linalg, jax.scipy.special, jax.scipy.stats",
    'jax.config.update("jax_enable_x64", True)',
)


def library() -> SweptLibrary:
    jax.config.update("jax_enable_x64", True)
    return SweptLibrary(
        framework="jax",
        header=_HEADER,
        ops=_ops,
        array_text=_array_text,
        constant=jnp.asarray,
        total="jnp.sum({})",
        real="jnp.real({})",
        parts=_parts,
        gradient=_gradient,
        slope=_slope,
        modes={"jit": _jit, "forward": _forward},
        mode_lines={"jit": _jit_lines, "forward": _forward_lines},
    )


def _ops() -> list[LibraryOp]:
    probe = Probe(_evaluate)
    return [probed(probe, path, function) for path, function in sorted(_functions())]


def _functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Each function once, under the first name that it has."""
    seen: set[int] = set()
    modules = dict(_MODULES)
    for name in dir(importlib.import_module(_STATISTICS)):
        if not name.startswith("_"):
            modules[f"{_STATISTICS}.{name}"] = f"{_STATISTICS}.{name}"
    for name, prefix in modules.items():
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        for attribute in sorted(dir(module)):
            value = getattr(module, attribute)
            if (
                attribute.startswith("_")
                or isinstance(value, type)
                or not callable(value)
                or id(value) in seen
            ):
                continue
            seen.add(id(value))
            yield f"{prefix}.{attribute}", value


def _evaluate(call: str, arrays: Mapping[str, Array]) -> bool:
    """Shapes come first: most calls that do not fit are told by them, and nothing has to be compiled for it."""
    space: dict[str, Any] = {"jax": jax, "jnp": jnp}
    given = {key: jnp.asarray(x) for key, x in arrays.items()}
    try:
        with contextlib.suppress(*_NEEDS_NUMBERS):
            jax.eval_shape(lambda xs: eval(call, space | xs), given)
        result = eval(call, space | given)
        parts = _parts(result)
        numbers = jax.tree_util.tree_leaves(result)
        return bool(parts) and all(bool(jnp.isfinite(x).all()) for x in numbers if _is_number(x))
    except Exception:
        return False


def _is_number(value: Any) -> bool:
    return isinstance(value, jax.Array) and jnp.issubdtype(value.dtype, jnp.inexact)


def _parts(result: Any) -> list[Part]:
    return parts_of(result, _is_number, _part)


def _part(pick: str, value: Any) -> Part:
    is_complex = bool(jnp.issubdtype(value.dtype, jnp.complexfloating))
    return Part(pick, tuple(value.shape), str(value.dtype), is_complex)


def _array_text(array: Array) -> str:
    if array.size == 0:
        return f"jnp.zeros({array.shape!r}, dtype=jnp.{array.dtype})"
    return f"jnp.array({numbers_text(array)}, dtype=jnp.{array.dtype})"


def _gradient(names: Sequence[str], wrt: str, entry: Entry | None) -> list[str]:
    place = list(names).index(wrt)
    return [f"print(jax.grad(f, argnums={place})({', '.join(names)}){at(entry or ())})"]


def _slope(names: Sequence[str]) -> list[str]:
    return [f"return jnp.sum(jax.grad({FIRST})({', '.join(names)}) * {DIRECTIONS})"]


def _jit(
    function: Callable[..., Any], args: Sequence[Any], place: int, entries: Sequence[Entry]
) -> list[float]:
    found = np.asarray(_compiled(function, place)(*args))
    return [float(found[entry]) for entry in entries]


@functools.lru_cache(maxsize=8)
def _compiled(function: Callable[..., Any], place: int) -> Any:
    return jax.jit(jax.grad(function, argnums=place))


def _jit_lines(names: Sequence[str], wrt: str, entry: Entry) -> list[str]:
    place = list(names).index(wrt)
    return [f"print(jax.jit(jax.grad(f, argnums={place}))({', '.join(names)}){at(entry)})"]


def _forward(
    function: Callable[..., Any], args: Sequence[Any], place: int, entries: Sequence[Entry]
) -> list[float]:
    """One entry at a time: as a batch all ops would be compiled anew for its shape."""
    found = []
    for entry in entries:
        tangents = [jnp.zeros_like(x) for x in args]
        tangents[place] = tangents[place].at[entry].set(1.0)
        found.append(float(jax.jvp(function, tuple(args), tuple(tangents))[1]))
    return found


def _forward_lines(names: Sequence[str], wrt: str, entry: Entry) -> list[str]:
    tangents = [f"jnp.zeros_like({name})" for name in names]
    tangents[list(names).index(wrt)] += f".at{at(entry) or '[()]'}.set(1.0)"
    points, moves = (", ".join(parts) + "," * (len(names) == 1) for parts in (names, tangents))
    return [f"print(jax.jvp(f, ({points}), ({moves}))[1])"]
