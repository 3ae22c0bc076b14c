"""Where a function of the user's stands in the source: its `def`, and the statement that it returns with."""

from __future__ import annotations

import dis
import linecache
import re
from types import CodeType
from typing import Any

from gradproof.ir.span import Span

_DEF = re.compile(r"\s*(async\s+)?def\b|.*\blambda\b")


def code_of(function: Any) -> CodeType | None:
    """The code that a user wrote, under decorators such as `once_differentiable`."""
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    code = getattr(function, "__code__", None)
    return code if isinstance(code, CodeType) else None


def head_of(code: CodeType | None) -> Span | None:
    """The line of `def`; code begins at its first decorator."""
    if code is None:
        return None
    last = max((line for *_, line in code.co_lines() if line), default=code.co_firstlineno)
    own = range(code.co_firstlineno, last + 1)
    line = next((k for k in own if _DEF.match(linecache.getline(code.co_filename, k))), code.co_firstlineno)
    return Span(code.co_filename, line, function=code.co_qualname)


def result_of(code: CodeType | None) -> Span | None:
    """The `return` of a function that has one, or else its head."""
    if code is None:
        return None
    ends = {
        one.positions
        for one in dis.get_instructions(code)
        if one.opname == "RETURN_VALUE" and one.positions is not None and one.positions.lineno
    }
    if len(ends) != 1:
        return head_of(code)
    line, end_line, column, end_column = next(iter(ends))
    if line is None or column is None or line == code.co_firstlineno:
        return head_of(code)
    return Span(code.co_filename, line, column, end_line or line, end_column, code.co_qualname)
