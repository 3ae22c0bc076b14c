"""Numbers and places in the machine format, written and read back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradproof.errors import UnreadableReport
from gradproof.ir.span import Span
from gradproof.ir.types import Array

JSON = Any


def number_document(value: complex) -> JSON:
    """A number; what JSON has no number for as "nan", "inf", "-inf", and a complex one by its parts."""
    if isinstance(value, complex):
        return {"re": number_document(value.real), "im": number_document(value.imag)}
    value = float(value)
    if math.isfinite(value):
        return value
    return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")


def optional_document(value: float | None) -> JSON:
    return None if value is None else number_document(value)


def array_document(array: Array) -> JSON:
    """All entries as a number or nested lists."""
    # bfloat16 would become objects that JSON does not know.
    wide = array.astype(np.complex128 if np.iscomplexobj(array) else np.float64)
    nested = wide.tolist()
    plain = not np.iscomplexobj(wide) and bool(np.isfinite(wide).all())
    return nested if plain else _nested_document(nested)


def _nested_document(value: JSON) -> JSON:
    return [_nested_document(each) for each in value] if isinstance(value, list) else number_document(value)


def span_document(span: Span) -> dict[str, JSON]:
    return {
        "file": span.file,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
        "function": span.function,
    }


def number_of(document: JSON) -> Any:
    """A float, or a complex number where the parts are given."""
    if isinstance(document, dict):
        return complex(number_of(document["re"]), number_of(document["im"]))
    try:
        return float(document)
    except OverflowError as error:
        raise UnreadableReport("not a gradproof report: an integer beyond the range of numbers") from error


def optional_of(document: JSON) -> float | None:
    return None if document is None else number_of(document)


def span_of(document: JSON) -> Span:
    return Span(
        file=document["file"],
        line=document["line"],
        column=document.get("column"),
        end_line=document.get("end_line"),
        end_column=document.get("end_column"),
        function=document.get("function", ""),
    )
