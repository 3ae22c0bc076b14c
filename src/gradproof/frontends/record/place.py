"""Where in the user's source a call stands, remembered cheaply and looked up only when somebody asks."""

from __future__ import annotations

import ast
import os
import sys
import sysconfig
from functools import lru_cache
from itertools import islice
from types import CodeType

import numpy

from gradproof.ir.launcher import is_launcher
from gradproof.ir.span import Span
from gradproof.ir.syntax import tree_of

Place = tuple[CodeType, int]
"""A code object and an offset into its bytecode: two references, whatever the size of the source."""

_FOLDER = os.path.dirname
_LIBRARIES = tuple(
    folder + os.sep
    for folder in {
        _FOLDER(_FOLDER(_FOLDER(os.path.abspath(__file__)))),  # gradproof
        _FOLDER(_FOLDER(os.path.abspath(numpy.__file__))),  # NumPy, and what is installed beside it: SciPy
        sysconfig.get_paths()["stdlib"],
    }
)
# By identity, as hashing a code object is slow; the object is kept, so its identity is not given to another.
_IS_USERS: dict[int, tuple[bool, CodeType]] = {}


def here() -> Place | None:
    """The innermost frame that is neither gradproof's nor a library's; None where every frame is."""
    frame = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        known = _IS_USERS.get(id(code))
        if known is None:
            known = _IS_USERS[id(code)] = _belongs_to_user(code.co_filename), code
        if known[0]:
            return code, frame.f_lasti
        frame = frame.f_back  # type: ignore[assignment]
    return None


def _belongs_to_user(filename: str) -> bool:
    generated = filename.startswith("<frozen") or filename == "<__array_function__ internals>"
    return not generated and not filename.startswith(_LIBRARIES) and not is_launcher(filename)


def span_of(place: Place | None) -> Span | None:
    """The expression that was being evaluated at a place."""
    if place is None:
        return None
    code, offset = place
    # With the file in the key: code objects of two files, or two cells of a notebook, are equal if their text is.
    return _span(code.co_filename, code, offset)


@lru_cache(maxsize=16384)
def _span(file: str, code: CodeType, offset: int) -> Span:
    positions = next(islice(code.co_positions(), offset // 2, None), (None, None, None, None))
    line, end_line, column, end_column = positions
    return Span(file, line or code.co_firstlineno, column, end_line, end_column, code.co_qualname)


@lru_cache(maxsize=1024)
def names_of_arguments(span: Span | None) -> list[ast.expr]:
    """The positional arguments of the call that a span covers; empty without its source."""
    tree = tree_of(span.file) if span is not None and span.column is not None else None
    if tree is None or span is None:
        return []
    wanted = (span.line, span.column, span.end_line, span.end_column)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and wanted == (
            node.lineno,
            node.col_offset,
            node.end_lineno,
            node.end_col_offset,
        ):
            return node.args
    return []


def rebinds_its_operand(span: Span | None) -> str | None:
    """The name in `name = ... name ...` or `name -= ...` when a span lies in such a statement."""
    tree = tree_of(span.file) if span is not None else None
    if tree is None or span is None:
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AugAssign) and node.lineno <= span.line <= (
            node.end_lineno or 0
        ):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            used = {part.id for part in ast.walk(node.value) if isinstance(part, ast.Name)}
            if isinstance(target, ast.Name) and (target.id in used or isinstance(node, ast.AugAssign)):
                return target.id
    return None


def assigns_to_an_entry(span: Span | None) -> bool:
    """Whether a span lies in a statement `a[i] = ...`."""
    tree = tree_of(span.file) if span is not None else None
    if tree is None or span is None:
        return False
    return any(
        isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Subscript)
        and node.lineno <= span.line <= (node.end_lineno or 0)
        for node in ast.walk(tree)
    )
