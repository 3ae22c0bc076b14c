"""float64 for every number of a script that names no dtype: what a framework has a setting for.

It reaches further than any other change, so it stands behind one of the guilty lines that is as short.
"""

from __future__ import annotations

from collections.abc import Iterator

from gradproof.diagnosis.diagnostic import Fix
from gradproof.fixes.edit import diff
from gradproof.fixes.kind import Fault, FixKind
from gradproof.fixes.kinds import wider_dtype
from gradproof.fixes.users_file import file_at
from gradproof.fixes.wide_region import with_setting
from gradproof.judge.verdict import Verdict

_TEXT = (
    "make float64 the dtype of what names none in the whole program: it takes twice the memory and more time"
)


def offer(fault: Fault) -> Iterator[Fix]:
    case, span = fault.case, fault.found.span
    file = file_at(case, span)
    if span is None or file is None or not file.language.wide_default or case.source.dtype != "float32":
        return
    if case.verdict in (Verdict.INACCURATE, Verdict.NONFINITE) and not wider_dtype.named(file.source):
        lines = file.source.text.splitlines(keepends=True)
        wide = with_setting(file.source, file.language, file.language.wide_default, lines)
        yield Fix(_TEXT, diff(file.source, wide, span.file))


FIX = FixKind(
    "wider-script",
    (
        "absorption",
        "accumulation",
        "cancellation",
        "ill-conditioned",
        "invalid-domain",
        "low-precision",
        "overflow",
        "underflow",
    ),
    offer,
)
