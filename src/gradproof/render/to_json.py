"""A report in the stable machine format, version 1: fields may be added, never changed."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from gradproof.diagnosis.diagnostic import Annotation, Diagnostic, Fix
from gradproof.diagnosis.entries import Entry, EntryTable, norm
from gradproof.diagnosis.report import GradientReport, Report, Script, Unchecked
from gradproof.ir.span import Span
from gradproof.ir.types import Array
from gradproof.render.figures_to_json import ProgramTable, figures_document
from gradproof.render.json_values import array_document, number_document, optional_document, span_document

MOST_ENTRIES = 1000  # a larger array is summarised: a report is read by people and by review tools

JSON = Any  # what `json` takes; nested too deeply for a type that helps


def to_json(report: Report, *, full: bool = False) -> str:
    """The report as JSON; with `full`, arrays of any size entry by entry."""
    return json.dumps(to_document(report, full=full), indent=1, allow_nan=False, ensure_ascii=False) + "\n"


def to_document(report: Report, *, full: bool = False) -> dict[str, JSON]:
    """The report as the object that `to_json` writes."""
    script, programs = report.script, ProgramTable()
    gradients = [_gradient(gradient, full, programs) for gradient in report.gradients]
    return {
        "schema": report.schema,
        "gradproof": report.version,
        "frameworks": dict(report.frameworks),
        "script": script and _script(script),
        "gradients": gradients,
        "unchecked": [_unchecked(row) for row in report.unchecked],
        "timing": {stage: number_document(seconds) for stage, seconds in report.timing.items()},
        "notes": list(report.notes),
        "sources": dict(report.sources),
        "programs": programs.documents(),
    }


def _script(script: Script) -> dict[str, JSON]:
    place = None if script.crash is None else script.crash.span or Span(script.path, 1)
    return {
        "path": script.path,
        "exception": script.exception,
        "exit_status": script.exit_status,
        "crash": script.crash and place and _cause(script.crash, place),
        **({"unserved": list(script.unserved)} if script.unserved else {}),
    }


def _gradient(gradient: GradientReport, full: bool, programs: ProgramTable) -> dict[str, JSON]:
    table, figures = gradient.entry_table, gradient.figures
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
        "relative_error": optional_document(gradient.relative_error),
        "digits": optional_document(gradient.digits),
        "digits_possible": optional_document(gradient.digits_possible),
        "one_sided": gradient.one_sided and [_array(side, full) for side in gradient.one_sided],
        "causes": [_cause(diagnostic, gradient.call) for diagnostic in gradient.diagnostics],
        "call": span_document(gradient.call),
        "order": gradient.order,
        "intended": gradient.intended,
        "computed": gradient.computed,
        "budget": [
            {"span": span_document(row.span), "share": number_document(row.share), "op": row.op}
            for row in gradient.budget
        ],
        "entries": _entries(table) if table is not None and table.count > 1 else None,
        "figures": None if figures is None else figures_document(figures, programs),
    }


def _fix(fix: Fix) -> dict[str, JSON]:
    document: dict[str, JSON] = {
        "text": fix.text,
        "patch": fix.patch,
        "checked": fix.checked,
        "changes_meaning": fix.changes_meaning,
    }
    return {**document, "others": [_fix(one) for one in fix.others]} if fix.others else document


def _cause(diagnostic: Diagnostic, call: Span) -> dict[str, JSON]:
    # A cause always has a line: one without a place of its own is found at the call that suffered from it.
    place = diagnostic.span or call
    return {
        "kind": diagnostic.kind,
        "severity": diagnostic.severity,
        "file": place.file,
        "line": place.line,
        "op": diagnostic.op,
        "share": optional_document(diagnostic.share),
        "message": diagnostic.headline,
        "fix": diagnostic.fix and _fix(diagnostic.fix),
        "certainty": diagnostic.certainty,
        "primary": diagnostic.primary and _annotation(diagnostic.primary),
        "secondary": [_annotation(annotation) for annotation in diagnostic.secondary],
        "subject": diagnostic.subject,
        "evidence": [list(row) for row in diagnostic.evidence],
        "why": diagnostic.why,
        "notes": list(diagnostic.notes),
    }


def _annotation(annotation: Annotation) -> dict[str, JSON]:
    return {"span": span_document(annotation.span), "label": annotation.label}


def _unchecked(row: Unchecked) -> dict[str, JSON]:
    return {"call": span_document(row.call), "count": row.count, "reason": row.reason}


def _entries(table: EntryTable) -> dict[str, JSON]:
    return {
        "count": table.count,
        "not_finite": table.not_finite,
        "digits_histogram": list(table.histogram),
        "worst": [_entry(entry) for entry in table.worst],
        "observed_norm": number_document(table.observed_norm),
        "reference_norm": number_document(table.reference_norm),
        "difference_norm": number_document(table.difference_norm),
    }


def _entry(entry: Entry) -> dict[str, JSON]:
    return {
        "index": list(entry.index),
        "observed": number_document(entry.observed),
        "reference": number_document(entry.reference),
        "radius": number_document(entry.radius),
        "digits": number_document(entry.digits),
    }


def _array(array: Array | None, full: bool) -> JSON:
    """A number or nested lists; of a large array its shape, norm and largest size."""
    if array is None:
        return None
    array = np.asarray(array)
    if array.size > MOST_ENTRIES and not full:
        sizes = np.abs(array.astype(np.complex128 if np.iscomplexobj(array) else np.float64))
        finite = sizes[np.isfinite(sizes)]
        return {
            "shape": list(array.shape),
            "norm": number_document(norm(finite)),
            "largest": number_document(float(finite.max(initial=0.0))),
            "not_finite": int(sizes.size - finite.size),
        }
    return array_document(array)
