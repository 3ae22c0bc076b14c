"""A report in the stable machine format, version 1: fields may be added, never changed."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from gradproof.diagnosis.diagnostic import Annotation, Diagnostic
from gradproof.diagnosis.entries import Array, Entry, EntryTable
from gradproof.diagnosis.report import GradientReport, Report, Script, Unchecked
from gradproof.ir.span import Span

MOST_ENTRIES = 1000  # a larger array is summarised: a report is read by people and by review tools

JSON = Any  # what `json` takes; nested too deeply for a type that helps


def to_json(report: Report, *, full: bool = False) -> str:
    """The report as JSON; with `full`, arrays of any size entry by entry."""
    return json.dumps(to_document(report, full=full), indent=1, allow_nan=False, ensure_ascii=False) + "\n"


def to_document(report: Report, *, full: bool = False) -> dict[str, JSON]:
    """The report as the object that `to_json` writes."""
    script = report.script
    return {
        "schema": report.schema,
        "gradproof": report.version,
        "frameworks": dict(report.frameworks),
        "script": script and _script(script),
        "gradients": [_gradient(gradient, full) for gradient in report.gradients],
        "unchecked": [_unchecked(row) for row in report.unchecked],
        "timing": {stage: _number(seconds) for stage, seconds in report.timing.items()},
        "notes": list(report.notes),
        "sources": dict(report.sources),
    }


def _script(script: Script) -> dict[str, JSON]:
    place = None if script.crash is None else script.crash.span or Span(script.path, 1)
    return {
        "path": script.path,
        "exception": script.exception,
        "exit_status": script.exit_status,
        "crash": script.crash and place and _cause(script.crash, place),
    }


def _gradient(gradient: GradientReport, full: bool) -> dict[str, JSON]:
    table = gradient.entry_table
    return {
        "file": gradient.call.file,
        "line": gradient.call.line,
        "occurrence": gradient.occurrence,
        "framework": gradient.framework,
        "target": {"name": gradient.target},
        "source": {"name": gradient.source, "shape": list(gradient.shape), "dtype": gradient.dtype},
        "verdict": str(gradient.verdict),
        "oracle": gradient.oracle,
        "reason": gradient.reason,
        "observed": _array(gradient.observed, full),
        "reference": _array(gradient.reference, full),
        "reference_radius": _array(gradient.reference_radius, full),
        "relative_error": _optional(gradient.relative_error),
        "digits": _optional(gradient.digits),
        "digits_possible": _optional(gradient.digits_possible),
        "one_sided": gradient.one_sided and [_array(side, full) for side in gradient.one_sided],
        "causes": [_cause(diagnostic, gradient.call) for diagnostic in gradient.diagnostics],
        "call": _span(gradient.call),
        "order": gradient.order,
        "intended": gradient.intended,
        "computed": gradient.computed,
        "budget": [
            {"span": _span(row.span), "share": _number(row.share), "op": row.op} for row in gradient.budget
        ],
        "entries": _entries(table) if table is not None and table.count > 1 else None,
    }


def _cause(diagnostic: Diagnostic, call: Span) -> dict[str, JSON]:
    # A cause always has a line: one without a place of its own is found at the call that suffered from it.
    place = diagnostic.span or call
    fix = diagnostic.fix
    return {
        "kind": diagnostic.kind,
        "severity": diagnostic.severity,
        "file": place.file,
        "line": place.line,
        "op": diagnostic.op,
        "share": _optional(diagnostic.share),
        "message": diagnostic.headline,
        "fix": fix
        and {
            "text": fix.text,
            "patch": fix.patch,
            "checked": fix.checked,
            "changes_meaning": fix.changes_meaning,
        },
        "certainty": diagnostic.certainty,
        "primary": diagnostic.primary and _annotation(diagnostic.primary),
        "secondary": [_annotation(annotation) for annotation in diagnostic.secondary],
        "subject": diagnostic.subject,
        "evidence": [list(row) for row in diagnostic.evidence],
        "why": diagnostic.why,
        "notes": list(diagnostic.notes),
    }


def _annotation(annotation: Annotation) -> dict[str, JSON]:
    return {"span": _span(annotation.span), "label": annotation.label}


def _span(span: Span) -> dict[str, JSON]:
    return {
        "file": span.file,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
        "function": span.function,
    }


def _unchecked(row: Unchecked) -> dict[str, JSON]:
    return {"call": _span(row.call), "count": row.count, "reason": row.reason}


def _entries(table: EntryTable) -> dict[str, JSON]:
    return {
        "count": table.count,
        "not_finite": table.not_finite,
        "digits_histogram": list(table.histogram),
        "worst": [_entry(entry) for entry in table.worst],
        "observed_norm": _number(table.observed_norm),
        "reference_norm": _number(table.reference_norm),
        "difference_norm": _number(table.difference_norm),
    }


def _entry(entry: Entry) -> dict[str, JSON]:
    return {
        "index": list(entry.index),
        "observed": _number(entry.observed),
        "reference": _number(entry.reference),
        "radius": _number(entry.radius),
        "digits": _number(entry.digits),
    }


def _array(array: Array | None, full: bool) -> JSON:
    """A number or nested lists; of a large array its shape, norm and largest size."""
    if array is None:
        return None
    wide = _widened(np.asarray(array))
    if wide.size > MOST_ENTRIES and not full:
        sizes = np.abs(wide)
        finite = sizes[np.isfinite(sizes)]
        return {
            "shape": list(wide.shape),
            "norm": _number(float(np.linalg.norm(finite))),
            "largest": _number(float(finite.max(initial=0.0))),
            "not_finite": int(sizes.size - finite.size),
        }
    nested = wide.tolist()
    plain = not np.iscomplexobj(wide) and bool(np.isfinite(wide).all())
    return nested if plain else _nested(nested)


def _widened(array: Array) -> Array:
    """The numbers of any dtype as Python has them; bfloat16 would become objects that JSON does not know."""
    return array.astype(np.complex128 if np.iscomplexobj(array) else np.float64)


def _nested(value: JSON) -> JSON:
    return [_nested(each) for each in value] if isinstance(value, list) else _number(value)


def _optional(value: float | None) -> JSON:
    return None if value is None else _number(value)


def _number(value: complex) -> JSON:
    """A number; what JSON has no number for as "nan", "inf", "-inf", and a complex one by its parts."""
    if isinstance(value, complex):
        return {"re": _number(value.real), "im": _number(value.imag)}
    value = float(value)
    if math.isfinite(value):
        return value
    return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
