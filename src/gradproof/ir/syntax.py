"""Python's syntax trees of the user's text, one reader for all who ask, from any thread."""

from __future__ import annotations

import ast
import linecache
import threading
from functools import lru_cache

# CPython 3.11 counts the depth of all trees that are built at one time in one place: of two threads that parse at once
# one may get a SystemError for a text that is right.
_parsing = threading.RLock()
_TRIES = 5  # a thread of the user's program may be parsing too, and does not ask for our lock


def module(text: str) -> ast.Module:
    return _parse(text, "exec")  # type: ignore[return-value]


def expression(text: str) -> ast.expr:
    tree = _parse(text, "eval")
    assert isinstance(tree, ast.Expression)
    return tree.body


@lru_cache(maxsize=256)
def tree_of(file: str) -> ast.Module | None:
    """The tree of a file or a notebook's cell; None without its text, or if that is not Python. Not to be changed."""
    return tree_of_text("".join(linecache.getlines(file)))


@lru_cache(maxsize=64)
def tree_of_text(text: str) -> ast.Module | None:
    """None for what is not Python, such as a cell of a notebook with commands of its own. Not to be changed."""
    try:
        return module(text) if text else None
    except (SyntaxError, ValueError):
        return None


def statement_around(tree: ast.AST | None, line: int, last: int | None = None) -> ast.stmt | None:
    """The innermost statement that has a line, or all lines up to `last`."""
    around = [
        one
        for one in (() if tree is None else ast.walk(tree))
        if isinstance(one, ast.stmt)
        and one.lineno <= line
        and (last or line) <= (one.end_lineno or one.lineno)
    ]
    return max(around, key=lambda one: (one.lineno, one.col_offset), default=None)


@lru_cache(maxsize=4096)
def text_of(node: ast.AST) -> str:
    """The text of a part of a tree that stays as it is."""
    return ast.unparse(node)


def _parse(text: str, mode: str) -> ast.AST:
    with _parsing:
        for _ in range(_TRIES - 1):
            try:
                return ast.parse(text, mode=mode)
            except SystemError:
                continue
        return ast.parse(text, mode=mode)
