"""The user's text as a tree: from any thread, and None for what is not Python."""

from __future__ import annotations

import argparse
import ast
import inspect
import sys
import threading
from pathlib import Path

import pytest

from gradproof.ir import syntax


class Note:
    """Garbage whose end runs Python code: threads change places there, in the middle of building a tree."""

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        for _ in range(50):
            pass


def test_threads_that_parse_at_once_all_get_their_tree() -> None:
    text = inspect.getsource(argparse)
    trees: list[ast.Module] = []

    def work() -> None:
        for _ in range(4):
            for _ in range(30):
                Note()
            trees.append(syntax.module(text))

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert len(trees) == 32


def test_a_parse_that_the_users_threads_disturbed_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    tries = iter([SystemError("recursion depth mismatch"), SystemError("again")])
    parse = ast.parse

    def disturbed(*arguments: object, **options: object) -> ast.AST:
        for error in tries:
            raise error
        return parse(*arguments, **options)

    monkeypatch.setattr(ast, "parse", disturbed)
    assert isinstance(syntax.expression("a + b"), ast.BinOp)


def test_what_is_not_python_has_no_tree(tmp_path: Path) -> None:
    assert syntax.tree_of_text("%%time\nx = 1") is None
    assert syntax.tree_of_text("") is None
    assert syntax.tree_of(str(tmp_path / "absent.py")) is None
    tree = syntax.tree_of_text("x = 1")
    assert tree is not None and ast.unparse(tree) == "x = 1"
