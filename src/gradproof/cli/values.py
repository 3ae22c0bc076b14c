"""Values given on the command line: numbers, nested lists, and names for them."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradproof.errors import InvalidInput

DTYPES = ("float16", "float32", "float64", "complex64", "complex128")


def parse_values(words: Sequence[str], dtype: str) -> tuple[list[Any], dict[str, Any]]:
    """Positional and keyword arguments: `0.5`, `[1, 2, 3]`, `w=[[1, 0], [0, 1]]`, in their order."""
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if equals and name.strip().isidentifier():
            kwargs[name.strip()] = parse_value(text, dtype)
        elif kwargs:
            raise InvalidInput(f"`{word}` has no name, but stands after one that has: give it a name too")
        else:
            args.append(parse_value(word, dtype))
    return args, kwargs


def parse_value(text: str, dtype: str) -> Any:
    """One number or array in the dtype asked for. Nothing is evaluated: only literals are read."""
    try:
        value = _plain(text.strip())
        array = np.array(value)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise InvalidInput(
            f"`{text}` is not a number or a list of numbers; write it as Python does: 0.5 or [[1, 2], [3, 4]]"
        ) from error
    if array.dtype.kind not in "iufc" or array.dtype == bool:
        raise InvalidInput(f"`{text}` is not a number or a list of numbers")
    with np.errstate(over="ignore"):
        return array.astype(dtype)


def _plain(text: str) -> Any:
    """A literal, or a number as `float` reads it: inf and nan are refused later, by name."""
    try:
        return float(text)
    except ValueError:
        return ast.literal_eval(text)
