"""Linear functions whose transpose is written by hand, `linear_call`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

from jax._src import source_info_util
from jax._src.custom_derivatives import linear_call_p
from jax._src.interpreters import ad
from jax._src.linear_util import WrappedFun

LINEAR_CALL = "linear_call"
_DEEPEST = 3  # functions that JAX puts around the one that is written by hand


def transpose_of(params: Any) -> Any:
    """The hand-written transpose, before it is run; None where JAX has put another one in its place."""
    held = _held(params["transpose_thunk"], _DEEPEST)
    return next((one for one in held if isinstance(one, WrappedFun)), None)


@contextmanager
def without_line() -> Iterator[None]:
    """What runs in this block stands where it is written, not where JAX says that it does."""
    here = source_info_util._source_info_context
    before = here.context
    here.context = source_info_util.SourceInfo(None, before.name_stack)
    try:
        yield
    finally:
        here.context = before


@contextmanager
def at_own_lines() -> Iterator[None]:
    """While a pullback runs: transposes that are written by hand keep their own lines."""
    before = ad.primitive_transposes[linear_call_p]

    def transpose(*args: Any, **params: Any) -> Any:
        with without_line():
            return before(*args, **params)

    ad.primitive_transposes[linear_call_p] = transpose
    try:
        yield
    finally:
        ad.primitive_transposes[linear_call_p] = before


def _held(function: Any, depth: int) -> Iterator[Any]:
    for cell in getattr(function, "__closure__", None) or ():
        try:
            found = cell.cell_contents
        except ValueError:  # not filled yet
            continue
        yield found
        if isinstance(found, FunctionType) and depth:
            yield from _held(found, depth - 1)
