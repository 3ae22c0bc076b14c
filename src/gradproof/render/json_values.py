"""Numbers, arrays and places in the machine format."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradproof.diagnosis.entries import norm
from gradproof.errors import UnreadableReport
from gradproof.ir.span import Span
from gradproof.ir.types import Array
from gradproof.render.codec import (
    JSON,
    Codec,
    ReadingPlace,
    WritingState,
    list_of,
    named,
    optional,
    record,
    ref,
)

MOST = 10**15  # no file has so many lines, no array so many entries; it keeps sums within the machine's range
MOST_ENTRIES = 1000  # a larger array is summarised: a report is read by people and by review tools
MOST_AXES = 64  # of a NumPy array


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


def _number_of(document: JSON) -> Any:
    """A float, or a complex number where the parts are given."""
    if isinstance(document, dict):
        return complex(_number_of(document["re"]), _number_of(document["im"]))
    try:
        return float(document)
    except OverflowError as error:
        raise UnreadableReport("not a gradproof report: an integer beyond the range of numbers") from error


def _summary(array: Array) -> dict[str, Any]:
    sizes = np.abs(array.astype(np.complex128 if np.iscomplexobj(array) else np.float64))
    finite = sizes[np.isfinite(sizes)]
    return {
        "shape": array.shape,
        "norm": norm(finite),
        "largest": float(finite.max(initial=0.0)),
        "not_finite": int(sizes.size - finite.size),
    }


def _write_value(value: Any, writing: WritingState) -> JSON:
    """A number or nested lists; of a large array its shape, norm and largest size."""
    if value is None:
        return None
    array = np.asarray(value)
    is_large = array.size > MOST_ENTRIES and not writing.full
    return SUMMARY.write(array, writing) if is_large else array_document(array)


def _read_value(document: JSON, reading: ReadingPlace) -> Array | None:
    """The array of nested lists; None for one that is lacking or summarised."""
    if document is None or (isinstance(document, dict) and "shape" in document):
        return None
    if _depth(document) > MOST_AXES:
        raise reading.refused(f"more than {MOST_AXES} axes")
    numbers = _nested(document)
    try:
        return np.array(numbers, dtype=np.complex128 if _has_complex(numbers) else np.float64)
    except ValueError as error:
        raise reading.refused("rows of different lengths") from error


def _read_real_value(document: JSON, reading: ReadingPlace) -> Array | None:
    array = _read_value(document, reading)
    if array is not None and np.iscomplexobj(array):
        raise reading.refused("must be real")
    return array


def _depth(document: JSON) -> int:
    depth = 0
    while isinstance(document, list) and document:
        document, depth = document[0], depth + 1
    return depth + isinstance(document, list)


def _nested(document: JSON) -> JSON:
    return [_nested(each) for each in document] if isinstance(document, list) else _number_of(document)


def _has_complex(numbers: JSON) -> bool:
    return any(map(_has_complex, numbers)) if isinstance(numbers, list) else isinstance(numbers, complex)


STRING = Codec({"type": "string"})
BOOLEAN = Codec({"type": "boolean"})
INTEGER = Codec({"type": "integer"})
COUNT = Codec({"type": "integer", "minimum": 0, "maximum": MOST})
ORDINAL = Codec({"type": "integer", "minimum": 1, "maximum": MOST})

_A_NUMBER: Any = {
    "write": lambda value, _: number_document(value),
    "read": lambda document, _: _number_of(document),
}
REAL = named("real", Codec({"anyOf": [{"type": "number"}, {"enum": ["nan", "inf", "-inf"]}]}, **_A_NUMBER))
DIGITS = Codec({"type": "number", "minimum": 0, "maximum": 100}, **_A_NUMBER)  # quadruple precision has 34
_COMPLEX = record(complex, {"re": REAL, "im": REAL})
NUMBER = named("number", Codec({"anyOf": [REAL.schema, _COMPLEX.schema]}, defines=REAL.defines, **_A_NUMBER))
CURVE = Codec(
    list_of(REAL).schema,
    lambda value, _: array_document(np.asarray(value)),
    lambda document, _: np.array(_nested(document), np.float64),
    REAL.defines,
)
SUMMARY = named(
    "summary",
    record(
        dict, {"shape": list_of(COUNT), "norm": REAL, "largest": REAL, "not_finite": COUNT}, take=_summary
    ),
)
_ARRAY = named("array", Codec({"anyOf": [NUMBER.schema, {"type": "array", "items": ref("array")}]}))
VALUE = named(
    "value",
    Codec(
        {"anyOf": [{"type": "null"}, _ARRAY.schema, SUMMARY.schema]},
        _write_value,
        _read_value,
        {**NUMBER.defines, **_ARRAY.defines, **SUMMARY.defines},
    ),
)
REAL_VALUE = Codec(VALUE.schema, VALUE.write, _read_real_value, VALUE.defines)

SPAN = named(
    "span",
    record(
        Span,
        {"file": STRING, "line": ORDINAL},
        {
            "column": optional(COUNT),
            "end_line": optional(ORDINAL),
            "end_column": optional(COUNT),
            "function": STRING,
        },
    ),
)
