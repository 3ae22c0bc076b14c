"""One gradient in every mode, as JSON."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from gradproof.diagnosis.parting import OpSeen, Parting
from gradproof.ir import types
from gradproof.ir.span import Span
from gradproof.modes.model import CallModes, ModeCell, ModeLine, ModeSource, ModesReport
from gradproof.render.json_values import array_document, optional_document

MODES_SCHEMA = 1
MOST_ENTRIES = 1000  # of a larger array the first entries are written, and its shape


def to_modes_json(report: ModesReport) -> str:
    data = {
        "schema": MODES_SCHEMA,
        "kind": "modes",
        "gradproof": report.version,
        "frameworks": dict(report.frameworks),
        "calls": [_call(call) for call in report.calls],
        "notes": list(report.notes),
    }
    return json.dumps(data, indent=1, allow_nan=False, ensure_ascii=False) + "\n"


def _call(call: CallModes) -> dict[str, Any]:
    fix = call.conclusion.rewriting
    return {
        **_place(call.call),
        "occurrence": call.occurrence,
        "framework": call.framework,
        "mode": call.mode,
        "dtype": call.dtype,
        "target": call.target,
        "sources": [_source(source) for source in call.sources],
        "modes": [_line(line) for line in call.lines],
        "not_run": [
            {"framework": one.framework, "mode": one.name, "reason": one.reason} for one in call.lacking
        ],
        "verdict": {
            "kind": call.conclusion.kind,
            "text": call.conclusion.verdict,
            "advice": list(call.conclusion.advice),
            "rewriting": None
            if fix is None
            else {"text": fix.text, "patch": fix.patch, "checked": fix.checked},
        },
        "notes": list(call.notes),
    }


def _place(span: Span | None) -> dict[str, Any]:
    return {"file": None, "line": None} if span is None else {"file": span.file, "line": span.line}


def _source(source: ModeSource) -> dict[str, Any]:
    true = source.true
    return {
        "name": source.name,
        "shape": list(source.shape),
        "dtype": source.dtype,
        "reference": None if true is None else _array(true.mid),
        "radius": None if true is None else _array(true.rad),
        "beyond_float64": [{"index": list(at), "size": size} for at, size in source.beyond.items()],
        "reason": source.reason,
    }


def _line(line: ModeLine) -> dict[str, Any]:
    return {
        "framework": line.framework,
        "mode": line.mode,
        "dtype": line.dtype,
        "own": line.is_own,
        "value": _array(line.value),
        "reproducible": line.repeats,
        "with_other_threads": line.rethreads,
        "verdict": str(line.verdict),
        "gradients": [_cell(cell, line.counts) for cell in line.cells],
    }


def _cell(cell: ModeCell, dtype: str) -> dict[str, Any]:
    return {
        "gradient": None if cell.gradient is None else _array(cell.gradient),
        "verdict": str(cell.verdict),
        "digits": cell.digits,
        "digits_possible": types.digits_possible(dtype),
        "gap_ulps": optional_document(cell.gap_ulps),
        "parts_at": [_parting(one) for one in cell.partings],
        "off_from": None if cell.lost is None else _op(cell.lost),
    }


def _parting(parting: Parting) -> dict[str, Any]:
    return {**_op(parting), "op_by_op": parting.single, "beside": parting.beside or None}


def _op(op: OpSeen) -> dict[str, Any]:
    return {
        **_place(op.span),
        "op": op.op,
        "phase": op.phase,
        "index": list(op.index),
        "inputs": list(op.inputs),
        "exact": op.exact,
        "here": op.other,
        "kind": op.whose.kind,
        "whose": op.whose.text,
        "share": op.share,
    }


def _array(array: Any) -> Any:
    array = np.asarray(array)
    if array.size <= MOST_ENTRIES:
        return array_document(array)
    return {"shape": list(array.shape), "first": array_document(array.ravel()[:MOST_ENTRIES])}
