"""A norm that may be zero, written as a root with a small number inside, so that its slope stays finite.

Wherever the change cannot be tried op by op: in a function that is mapped or compiled, or where the norm is divided by.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradproof.diagnosis.diagnostic import Fix
from gradproof.fixes.edit import enclosed, replaced
from gradproof.fixes.kind import Fault, FixKind
from gradproof.fixes.source import ParsedSource
from gradproof.fixes.spelling import imported_names, root_name
from gradproof.fixes.users_file import file_at

INSIDE = "1e-6"
_TEXT = f"add a small number inside the norm, {INSIDE}, so that its slope stays finite"
_MEANING = "a norm of 0 becomes 0.001, and a vector of zeros divided by its norm stays zero"
_KEYWORDS = ("axis", "dim", "keepdims", "keepdim")


def offer(fault: Fault) -> Iterator[Fix]:
    """Silent for what is no Euclidean norm of all that is named: another order, or an axis that has no name."""
    case, span = fault.case, fault.found.span
    file = file_at(case, span)
    if file is None or span is None or not {"sqrt", "sum", "square"} <= file.language.spellings.keys():
        return
    source = file.source
    sqrt, total, square = (file.worded(file.language.spellings[one]) for one in ("sqrt", "sum", "square"))
    calls = [one for one in ast.walk(source.tree) if isinstance(one, ast.Call)]
    here = [one for one in calls if one.lineno == span.line and _vector(source, one) is not None]
    if case.capture.run.order > 1:  # a derivative stands at the line of its call, and not where its norm does
        here = here or calls
    for norm in here:
        vector = _vector(source, norm)
        if vector is not None:
            words = [ast.get_source_segment(source.text, one) or "" for one in (vector, *norm.keywords)]
            text = f"{sqrt}({total}({', '.join([f'{square}({words[0]})', *words[1:]])}) + {INSIDE})"
            patch = replaced(source, [(norm, enclosed(source, norm, text))], span.file)
            yield Fix(_TEXT, patch, "", _MEANING)


def _vector(source: ParsedSource, call: ast.Call) -> ast.expr | None:
    """What `norm(x, axis=-1)` or `x.norm(dim=-1)` is taken of."""
    function, args = call.func, list(call.args)
    if isinstance(function, ast.Attribute) and root_name(function) not in imported_names(source.tree):
        args.insert(0, function.value)
    is_norm = ast.unparse(function).rpartition(".")[2] == "norm"
    is_plain = len(args) == 1 and all(one.arg in _KEYWORDS for one in call.keywords)
    return args[0] if is_norm and is_plain else None


FIX = FixKind("norm-at-zero", ("invalid-domain", "masked-branch", "singular-point"), offer)
