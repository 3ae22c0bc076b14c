"""A library's function whose derivative is wrong, not finite or missing, given slopes by differences of its values.

The last resort where the values are right: a difference of fourth order in float64 has more digits than float32 needs.
It evaluates the function four times for every number that goes in, so that it is offered for few of them only.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from gradproof.diagnosis.case import Case
from gradproof.diagnosis.diagnostic import Fix
from gradproof.fixes.edit import diff, with_texts
from gradproof.fixes.kind import Fault, FixKind
from gradproof.fixes.source import ParsedSource
from gradproof.fixes.spelling import imported_names
from gradproof.fixes.users_file import UsersFile, file_at
from gradproof.ir.span import Span
from gradproof.judge.verdict import Verdict

NAME = "with_slopes"
MOST_ENTRIES = 64  # numbers for each of which the function is evaluated four times
_TEXT = (
    "give `{function}` slopes by differences of its values: four evaluations for each number that goes in, and no "
    "second derivatives"
)


def offer(fault: Fault) -> Iterator[Fix]:
    case, span = fault.case, _place(fault)
    file = file_at(case, span)
    if span is None or file is None or math.prod(case.source.shape) > MOST_ENTRIES or not has_slopes(case):
        return
    source = file.source
    call = _call(source, span, file.alias)
    if call is None or NAME in source.text or _is_elementary(call, file):
        return
    text = ast.get_source_segment(source.text, call.func) or ""
    changed = with_texts(source, [(call, _wrapped(source, call, text))])
    for lines in with_helper(file, changed):
        yield Fix(_TEXT.format(function=text), diff(source, lines, span.file))


def has_slopes(case: Case) -> bool:
    """Where a function has no derivative, differences would still return numbers: they would be slopes of nothing."""
    return case.verdict is not Verdict.UNDEFINED


def with_helper(file: UsersFile, changed: list[str] | None) -> Iterator[list[str]]:
    """The changed lines with the function that gives slopes ahead of them, for numbers of each size."""
    place = _after_imports(file.source)
    for scale in file.language.slope_scales if changed is not None else ():
        assert changed is not None
        around = "\n" if changed[place : place + 1] == ["\n"] else "\n\n"
        own = file.worded(file.language.slopes_helper.format(name=NAME, scale=scale))
        lines = "".join([*changed[:place], f"\n\n{own}{around}", *changed[place:]])
        yield lines.splitlines(keepends=True)


def _place(fault: Fault) -> Span | None:
    missing = fault.case.source.missing
    return fault.found.span or (None if missing is None else missing.span)


def _call(source: ParsedSource, span: Span, alias: str) -> ast.Call | None:
    """The call of a library's function at a span; in the source it must be one of the statement's own."""
    found = source.at(span)
    if not isinstance(found, ast.Call):
        calls = [
            one
            for one in ast.walk(source.tree)
            if isinstance(one, ast.Call) and one.lineno == span.line and _is_library(source, one, alias)
        ]
        found = calls[0] if len(calls) == 1 else None
    return found if isinstance(found, ast.Call) and found.args and _is_library(source, found, alias) else None


def _is_library(source: ParsedSource, call: ast.Call, alias: str) -> bool:
    base: ast.expr = call.func
    while isinstance(base, ast.Attribute):
        base = base.value
    return isinstance(base, ast.Name) and (base.id in imported_names(source.tree) or base.id == alias)


def _is_elementary(call: ast.Call, file: UsersFile) -> bool:
    """A function whose own rule is right: where its slope is infinite, no difference is better."""
    text = ast.unparse(call.func).replace(f"{file.alias}.", f"{file.language.alias}.", 1)
    return text in file.language.spellings.values()


def _wrapped(source: ParsedSource, call: ast.Call, function: str) -> str:
    """`with_slopes(f)(x, y)`; what is no array is put in where the function is called."""
    parts = [ast.get_source_segment(source.text, one) or "" for one in call.args]
    keywords = [ast.get_source_segment(source.text, one.value) or "" for one in call.keywords]
    fixed = [isinstance(one, ast.Constant | ast.List | ast.Tuple) for one in call.args]
    if not keywords and not any(fixed):
        return f"{NAME}({function})({', '.join(parts)})"
    names = [f"x{k}" for k in range(len(parts))]
    passed = [part if is_fixed else name for part, name, is_fixed in zip(parts, names, fixed)]
    passed += [f"{one.arg}={text}" for one, text in zip(call.keywords, keywords)]
    free = [name for name, is_fixed in zip(names, fixed) if not is_fixed]
    given = [part for part, is_fixed in zip(parts, fixed) if not is_fixed]
    return f"{NAME}(lambda {', '.join(free)}: {function}({', '.join(passed)}))({', '.join(given)})"


def _after_imports(source: ParsedSource) -> int:
    imports = [one for one in source.tree.body if isinstance(one, ast.Import | ast.ImportFrom)]
    return (imports[-1].end_lineno or 0) if imports else 0


FIX = FixKind(
    "slopes-by-differences",
    ("framework-rule", "masked-branch", "no-gradient-registered", "singular-point"),
    offer,
)
