"""The machine format of a report, version 1, told once: fields may be added, never changed."""

from __future__ import annotations

import math
from typing import Any

from gradproof.diagnosis.diagnostic import CERTAINTIES, SEVERITIES, Annotation, Diagnostic, Fix
from gradproof.diagnosis.entries import Entry, EntryTable
from gradproof.diagnosis.report import SCHEMA, BudgetLine, GradientReport, Report, Script, Unchecked
from gradproof.ir.span import Span
from gradproof.judge.verdict import Verdict
from gradproof.render.codec import Codec, enum, list_of, map_of, named, optional, pair_of, record, ref
from gradproof.render.figures_format import FIGURES, PROGRAM
from gradproof.render.json_values import (
    BOOLEAN,
    COUNT,
    DIGITS,
    INTEGER,
    NUMBER,
    ORDINAL,
    REAL,
    REAL_VALUE,
    SPAN,
    STRING,
    VALUE,
)

# --- causes and what mends them

_ANNOTATION = named("annotation", record(Annotation, {"span": SPAN, "label": STRING}))


def _fix_in(others: Codec) -> Codec:
    return record(
        Fix,
        {"text": STRING, "patch": STRING, "checked": STRING},
        {"changes_meaning": STRING, "others": list_of(others), "serves_all": BOOLEAN},
        omit=("others", "serves_all"),
    )


# The other ways to mend a fault are fixes themselves.
_OTHER = Codec(
    ref("fix"), lambda fix, writing: _FIX.write(fix, writing), lambda one, reading: _FIX.read(one, reading)
)
_FIX: Codec = named("fix", _fix_in(_OTHER))


def _take_cause(placed: tuple[Diagnostic, Span]) -> dict[str, Any]:
    """A cause always has a line: one without a place of its own is found at the call that suffered from it."""
    cause, call = placed
    place = cause.span or call
    return {**vars(cause), "file": place.file, "line": place.line, "message": cause.headline}


def _make_cause(file: str, line: int, message: str, **rest: Any) -> Diagnostic:
    # Without `primary` it was written by something that knows only the fields of version 1.
    missing = {"primary": Annotation(Span(file, line), ""), "certainty": "likely"}
    return Diagnostic(headline=message, **{**missing, **rest})


_CAUSE = named(
    "cause",
    record(
        _make_cause,
        {
            "kind": STRING,
            "severity": enum(SEVERITIES),
            "file": STRING,
            "line": ORDINAL,
            "op": optional(STRING),
            "share": optional(REAL),
            "message": STRING,
            "fix": optional(_FIX),
        },
        {
            "certainty": enum(CERTAINTIES),
            "primary": optional(_ANNOTATION),
            "secondary": list_of(_ANNOTATION),
            "subject": STRING,
            "evidence": list_of(pair_of(STRING)),
            "why": STRING,
            "notes": list_of(STRING),
        },
        take=_take_cause,
    ),
)

# --- gradients

_ENTRY = named(
    "entry",
    record(
        lambda radius=0.0, digits=math.nan, **rest: Entry(radius=radius, digits=digits, **rest),
        {"index": list_of(COUNT), "observed": NUMBER, "reference": NUMBER},
        {"radius": REAL, "digits": REAL},
    ),
)
_ENTRIES = named(
    "entries",
    record(
        EntryTable,
        {
            "count": COUNT,
            "not_finite": COUNT,
            "digits_histogram": list_of(COUNT),
            "worst": list_of(_ENTRY),
            "observed_norm": REAL,
            "reference_norm": REAL,
            "difference_norm": REAL,
        },
        names={"digits_histogram": "histogram"},
    ),
)
_BUDGET_LINE = record(BudgetLine, {"span": SPAN, "share": REAL, "op": STRING})


def _take_gradient(gradient: GradientReport) -> dict[str, Any]:
    table, call = gradient.entry_table, gradient.call
    return {
        **vars(gradient),
        "file": call.file,
        "line": call.line,
        "target": {"name": gradient.target},
        "source": {"name": gradient.source, "shape": gradient.shape, "dtype": gradient.dtype},
        "causes": [(diagnostic, call) for diagnostic in gradient.diagnostics],
        "entries": table if table is not None and table.count > 1 else None,
        "figures": gradient.figures,
    }


def _make_gradient(
    file: str,
    line: int,
    target: Any,
    source: Any,
    causes: Any,
    one_sided: Any,
    figures: Any = None,
    **rest: Any,
) -> GradientReport:
    sides = one_sided if one_sided is not None and all(side is not None for side in one_sided) else None
    return GradientReport(
        **{"call": Span(file, line), **rest},
        target=target["name"],
        source=source["name"],
        shape=source["shape"],
        dtype=source["dtype"],
        one_sided=sides,
        diagnostics=causes,
        drawing=None if figures is None else lambda: figures,
    )


_GRADIENT = named(
    "gradient",
    record(
        _make_gradient,
        {
            "file": STRING,
            "line": ORDINAL,
            "occurrence": ORDINAL,
            "framework": STRING,
            "target": record(dict, {"name": STRING}, take=dict),
            "source": record(dict, {"name": STRING, "shape": list_of(COUNT), "dtype": STRING}, take=dict),
            "verdict": enum(map(str, Verdict), Verdict),
            "oracle": optional(STRING),
            "reason": optional(STRING),
            "observed": VALUE,
            "reference": VALUE,
            "reference_radius": REAL_VALUE,
            "relative_error": optional(REAL),
            "digits": optional(REAL),
            "digits_possible": optional(DIGITS),
            "one_sided": optional(pair_of(VALUE)),
            "causes": list_of(_CAUSE),
        },
        {
            "call": SPAN,
            "order": ORDINAL,
            "intended": BOOLEAN,
            "computed": BOOLEAN,
            "target_value": VALUE,
            "budget": list_of(_BUDGET_LINE),
            "entries": optional(_ENTRIES),
            "figures": optional(FIGURES),
        },
        take=_take_gradient,
    ),
)

# --- the whole

_SCRIPT = record(
    Script,
    {"path": STRING, "exception": optional(STRING)},
    {"exit_status": INTEGER, "crash": optional(_CAUSE), "unserved": list_of(STRING)},
    take=lambda script: {
        **vars(script),
        "crash": None if script.crash is None else (script.crash, Span(script.path, 1)),
    },
    omit=("unserved",),
)
_UNCHECKED = record(Unchecked, {"call": SPAN, "count": COUNT, "reason": STRING})

# What a report refers to by number; written after the gradients, which fill the table, and read before them.
PROGRAMS = list_of(PROGRAM)
REPORT = record(
    Report,
    {
        "schema": Codec({"const": SCHEMA}),
        "gradproof": STRING,
        "frameworks": map_of(STRING),
        "script": optional(_SCRIPT),
        "gradients": list_of(_GRADIENT),
    },
    {
        "unchecked": list_of(_UNCHECKED),
        "timing": map_of(REAL),
        "notes": list_of(STRING),
        "sources": map_of(STRING),
    },
    names={"gradproof": "version"},
)
