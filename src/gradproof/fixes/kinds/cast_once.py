"""A narrow array that a loop uses many times, cast once before the loop: its gradient is summed in the wider dtype."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradproof.diagnosis.diagnostic import Fix
from gradproof.fixes.edit import diff, unused_name, with_texts
from gradproof.fixes.kind import Fault, FixKind
from gradproof.fixes.users_file import file_at

WIDER = {"bfloat16": "float32", "float16": "float32", "float32": "float64"}


def offer(fault: Fault) -> Iterator[Fix]:
    case, call = fault.case, fault.case.capture.call
    file, name, wider = file_at(case, call), case.source.name, WIDER.get(case.source.dtype)
    if file is None or not file.language.cast or wider is None or not name.isidentifier():
        return
    source = file.source
    for loop in (one for one in ast.walk(source.tree) if isinstance(one, ast.For | ast.While)):
        uses = [one for one in ast.walk(loop) if isinstance(one, ast.Name) and one.id == name]
        if not uses or any(not isinstance(one.ctx, ast.Load) for one in uses):
            continue
        wide = unused_name(source, f"{name}_wide")
        changed = with_texts(source, [(one, wide) for one in uses])
        indent = source.indent(loop)
        if changed is None or indent.strip():
            continue
        cast = file.worded(file.language.cast).format(x=name, dtype=wider)
        changed.insert(loop.lineno - 1, f"{indent}{wide} = {cast}\n")
        text = f"cast `{name}` to {wider} once, before the loop: then its gradient is summed in {wider}"
        yield Fix(text, diff(source, changed, call.file))


FIX = FixKind("cast-once", ("absorption", "accumulation", "low-precision"), offer)
