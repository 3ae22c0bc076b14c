"""A tensor that is computed from a leaf and has taken its name, told to keep the gradient that reaches it.

Silent for training steps, whose leaf is to be changed instead, and where the line that computes it shares its line.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradproof.diagnosis.diagnostic import Fix
from gradproof.fixes.edit import diff
from gradproof.fixes.kind import Fault, FixKind
from gradproof.fixes.users_file import file_at
from gradproof.ir.syntax import statement_around

_TEXT = "keep the gradient that reaches `{name}`, which is not a leaf any more"
_MEANING = (
    "the gradient is that for what this line gives to `{name}`, not for the leaf that it is computed from"
)


def offer(fault: Fault) -> Iterator[Fix]:
    case, span, name = fault.case, fault.found.span, fault.case.source.name
    file = file_at(case, span)
    if span is None or file is None or not file.language.retained or case.source.missing is None:
        return
    source, made = file.source, statement_around(file.source.tree, span.line)
    is_named = isinstance(made, ast.Assign) and [ast.unparse(one) for one in made.targets] == [name]
    if made is None or not is_named or ".grad" in ast.unparse(made) or source.indent(made).strip():
        return
    lines = source.text.splitlines(keepends=True)
    new = f"{source.indent(made)}{file.language.retained.format(x=name)}\n"
    end = made.end_lineno or made.lineno
    patch = diff(source, [*lines[:end], new, *lines[end:]], span.file)
    yield Fix(_TEXT.format(name=name), patch, "", _MEANING.format(name=name))


FIX = FixKind("retained-gradient", ("reassigned-variable",), offer)
