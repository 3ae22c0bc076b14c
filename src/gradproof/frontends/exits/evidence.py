"""Whether numbers that were read from a tensor go on elsewhere, and whether they are such as nobody writes down."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, Protocol, TypeVar

import numpy as np

from gradproof.frontends.record.model import Exit, OpEvent
from gradproof.frontends.record.source import Place, span_of
from gradproof.ir.span import Span
from gradproof.ir.syntax import statement_around, tree_of
from gradproof.ir.types import Array

PLAIN_BITS = 14  # of a significand: people write 0.001, 3.75 and 1e6; a computed number has more
MOST_NUMBERS = 10_000  # of an array that is compared with others entry by entry
_LARGEST = 1e30  # of a literal that is converted to the dtype of the numbers, which may be a narrow one
# Functions that show numbers or keep them for a plot.
_SHOWING = frozenset({
    "print", "append", "write", "info", "debug", "warning", "log", "set_postfix", "set_description", "scalar", "format",
    "str", "repr",
})  # fmt: skip


def are_long(array: Array) -> bool:
    """Whether numbers have more digits than counts, flags and round settings have."""
    if array.size > MOST_NUMBERS or array.dtype.kind != "f" or not np.isfinite(array).all():
        return False
    significands = np.frexp(array.astype(np.float64))[0] * 2.0**PLAIN_BITS
    return not (significands == np.rint(significands)).all()


def are_rare(array: Array, files: Iterable[str]) -> bool:
    """Whether numbers are such as come out of a computation and not out of a keyboard."""
    if not are_long(array):
        return False
    sizes = np.abs(array).astype(np.float64)
    return not any(bool(np.isin(sizes, _literals(file, array.dtype)).any()) for file in files)


@lru_cache(maxsize=64)
def _literals(file: str, dtype: np.dtype[Any]) -> Array:
    """The numbers that a file has in its text, as they are in a dtype."""
    tree = tree_of(file)
    nodes = () if tree is None else ast.walk(tree)
    values = [node.value for node in nodes if isinstance(node, ast.Constant)]
    written = [float(x) for x in values if isinstance(x, int | float) and abs(x) < _LARGEST]
    with np.errstate(over="ignore"):
        return np.unique(np.asarray(written, np.float64).astype(dtype).astype(np.float64))


def is_handed_on(leave: Exit, event: OpEvent) -> bool:
    """Whether the source shows that the numbers go elsewhere, and not only to a screen or a list of losses."""
    span = leave.span
    statement = None if span is None else _statement(span)
    if span is None or not isinstance(statement, ast.Assign | ast.Return):
        return False
    if isinstance(statement, ast.Return):
        return True
    is_kept = all(isinstance(target, ast.Attribute | ast.Subscript) for target in statement.targets)
    is_elsewhere = event.span is not None and span.function != event.span.function
    return is_kept or is_elsewhere or _is_argument(statement.value, span)


def is_only_shown(span: Span | None) -> bool:
    """Whether numbers that were read there went to a screen, a file or a list of losses, and nowhere else."""
    statement = None if span is None else _statement(span)
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    called = statement.value.func
    return (called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")) in _SHOWING


class NumbersRead(Protocol):
    """Numbers that were read, and the custom gradient whose forward was running."""

    scope: int | None
    places: tuple[Place, ...]


R = TypeVar("R", bound=NumbersRead)


def left_in(scope: int, reads: Iterable[R]) -> Iterator[R]:
    """What the forward of a custom gradient goes on with outside, as NumPy does; looks at numbers are none."""
    for one in reads:
        if one.scope == scope and one.places and _is_computed_with(span_of(one.places[0])):
            yield one


def _is_computed_with(span: Span) -> bool:
    """Whether what was read at a place is given a name or returned: more than a look at it."""
    return isinstance(_statement(span), ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Return)


@lru_cache(maxsize=4096)
def _statement(span: Span) -> ast.stmt | None:
    return statement_around(tree_of(span.file), span.line, span.end_line)


def _is_argument(value: ast.expr, span: Span) -> bool:
    """Whether the numbers are handed to a function, other than one that shows or keeps them."""
    for node in ast.walk(value):
        if not isinstance(node, ast.Call) or (node.lineno, node.col_offset) == (span.line, span.column):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        inside = [one for argument in given for one in ast.walk(argument) if isinstance(one, ast.expr)]
        if name not in _SHOWING and any((o.lineno, o.col_offset) == (span.line, span.column) for o in inside):
            return True
    return False
