"""Functions whose gradient the user has declared to be as it is on purpose."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from gradproof.errors import InvalidInput
from gradproof.ir.span import Span

F = TypeVar("F", bound=Callable[..., Any])

_declared: set[tuple[str, int, int]] = set()  # files, and the first and last line of functions in them


def intended(function: F) -> F:
    """Declare that what a function, or a rule in it, does to the gradient is meant.

    A decorator for a custom gradient, or for any function that deviates on purpose: what is found in its lines is
    still reported, as intended, and fails nothing. The comment `# gradproof: intended` does the same for one line.
    """
    inner = inspect.unwrap(function)
    code = getattr(inner, "__code__", None)
    if code is None:
        raise InvalidInput(
            f"intended() needs a function written in Python, but got a {type(function).__name__}"
        )
    # The rule is a function inside this one, and may stand below all other lines of it.
    parts = [code, *(constant for constant in code.co_consts if hasattr(constant, "co_lines"))]
    lines = [line for part in parts for _, _, line in part.co_lines() if line is not None]
    _declared.add((code.co_filename, min(lines), max(lines)))
    return function


def is_declared(span: Span) -> bool:
    """Whether a place lies in a function that was declared so."""
    return any(file == span.file and first <= span.line <= last for file, first, last in _declared)


def declared() -> frozenset[tuple[str, int, int]]:
    """All that were declared so, for a report that is made in another process."""
    return frozenset(_declared)


def declare(places: Iterable[tuple[str, int, int]]) -> None:
    """Take over what was declared in another process."""
    _declared.update(places)
