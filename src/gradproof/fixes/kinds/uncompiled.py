"""A compiled function run as it is written, where compiling it froze a value or changed what it computes.

Silent where the value can be passed as an argument, which keeps what compiling is for.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradproof.diagnosis.diagnostic import Fix
from gradproof.fixes.edit import diff, with_texts
from gradproof.fixes.kind import Fault, FixKind
from gradproof.fixes.kinds import passed_as_argument
from gradproof.fixes.source import parsed
from gradproof.frameworks import framework

_TEXT = "run `{name}` as it is written, without compiling it: it is slower, and sees every value as it is"


def offer(fault: Fault) -> Iterator[Fix]:
    case, span = fault.case, fault.found.span or fault.case.capture.call
    source = parsed(case.sources.get(span.file, ""))
    names = framework(case.capture.framework).compilers
    if source is None or not names or any(passed_as_argument.offer(fault)):
        return
    for function in (one for one in ast.walk(source.tree) if isinstance(one, ast.FunctionDef)):
        marks = [one for one in function.decorator_list if _is_compiler(one, names)]
        if marks:
            lines: list[str] = source.text.splitlines(keepends=True)
            gone = {number for one in marks for number in range(one.lineno, (one.end_lineno or 0) + 1)}
            after = [line for number, line in enumerate(lines, 1) if number not in gone]
            yield Fix(_TEXT.format(name=function.name), diff(source, after, span.file))
    for call in (one for one in ast.walk(source.tree) if isinstance(one, ast.Call)):
        if call.args and _is_compiler(call, names) and isinstance(call.args[0], ast.Name):
            changed = with_texts(source, [(call, call.args[0].id)])
            if changed is not None:
                yield Fix(_TEXT.format(name=call.args[0].id), diff(source, changed, span.file))


def _is_compiler(mark: ast.expr, names: tuple[str, ...]) -> bool:
    function = mark.func if isinstance(mark, ast.Call) else mark
    text = ast.unparse(function)
    inner = (
        ast.unparse(mark.args[0])
        if text.endswith("partial") and isinstance(mark, ast.Call) and mark.args
        else ""
    )
    return text in names or inner in names


FIX = FixKind("uncompiled", ("baked-constant", "execution-mode"), offer)
