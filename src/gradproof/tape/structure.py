"""Nested lists, tuples and dictionaries of arrays: taken apart, put together again, and named."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from gradproof.errors import InvalidInput


def flatten(structure: Any) -> list[Any]:
    """The leaves in the order in which they are written; dictionaries in the order of their keys."""
    if isinstance(structure, Mapping):
        return [leaf for item in structure.values() for leaf in flatten(item)]
    if isinstance(structure, list | tuple):
        return [leaf for item in structure for leaf in flatten(item)]
    return [structure]


def unflatten(structure: Any, leaves: Iterator[Any]) -> Any:
    """The same structure with other leaves."""
    if isinstance(structure, Mapping):
        return {key: unflatten(item, leaves) for key, item in structure.items()}
    if isinstance(structure, tuple) and hasattr(structure, "_fields"):
        return type(structure)(*(unflatten(item, leaves) for item in structure))
    if isinstance(structure, list | tuple):
        return type(structure)(unflatten(item, leaves) for item in structure)
    return next(leaves)


def map_leaves(function: Callable[[Any], Any], structure: Any) -> Any:
    return unflatten(structure, iter([function(leaf) for leaf in flatten(structure)]))


def flatten_like(structure: Any, like: Any, what: str) -> list[Any]:
    """The leaves of a structure that must look like another one; None stands for a whole part of it."""
    if structure is None:
        return [None] * len(flatten(like))
    if isinstance(like, Mapping):
        if not isinstance(structure, Mapping) or set(structure) != set(like):
            raise InvalidInput(f"{what} must have the keys {sorted(map(str, like))}")
        return [leaf for key, item in like.items() for leaf in flatten_like(structure[key], item, what)]
    if isinstance(like, list | tuple):
        if not isinstance(structure, list | tuple) or len(structure) != len(like):
            raise InvalidInput(f"{what} must be a sequence of {len(like)}, like what it belongs to")
        return [leaf for item, part in zip(structure, like) for leaf in flatten_like(item, part, what)]
    return [structure]


def names(expression: ast.expr | None, structure: Any, text: str) -> list[str]:
    """One name per leaf, as the user's source spells it: `w` in `[w, b]`, `p['w']` of a dictionary `p`."""
    if expression is not None:
        text = ast.unparse(expression)
    if isinstance(structure, Mapping):
        keys = [
            key.value if isinstance(key, ast.Constant) else None for key in getattr(expression, "keys", ())
        ]
        spelled = dict(zip(keys, getattr(expression, "values", ())))
        return [
            name
            for key, item in structure.items()
            for name in names(spelled.get(key), item, f"{text}[{key!r}]")
        ]
    if isinstance(structure, list | tuple):
        written = getattr(expression, "elts", None)
        fits = written is not None and len(written) == len(structure)
        return [
            name
            for k, item in enumerate(structure)
            for name in names(written[k] if fits and written else None, item, f"{text}[{k}]")
        ]
    return [text]
