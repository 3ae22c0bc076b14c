"""The JSON Schema of the machine format, and the check of a document against it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gradproof.render.codec import Schema
from gradproof.render.report_format import PROGRAMS, REPORT

DEEPEST = 100  # levels of nesting; a NumPy array has at most 64 axes


def schema() -> Schema:
    """The published schema (JSON Schema 2020-12). Unknown fields are allowed: later releases add some."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Gradproof report, version 1",
        **REPORT.schema,
        "properties": {**REPORT.schema["properties"], "programs": PROGRAMS.schema},
        "$defs": {**REPORT.defines, **PROGRAMS.defines},
    }


def violations(document: Any) -> Iterator[str]:
    """Where a document departs from the schema, as `gradients[0].line: ...`; nothing where it does not."""
    if _is_deep(document):
        yield f"the document: nested more than {DEEPEST} levels deep"
        return
    whole = schema()
    yield from _violations(document, whole, whole["$defs"], "")


_TYPES: dict[str, tuple[type, ...]] = {
    "null": (type(None),),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "string": (str,),
    "array": (list,),
    "object": (dict,),
}


def _is_deep(document: Any) -> bool:
    """Whether the check below, which descends by recursion, would run out of stack."""
    level = [document]
    for _ in range(DEEPEST):
        containers = [each for each in level if isinstance(each, dict | list)]
        level = [
            inner for each in containers for inner in (each.values() if isinstance(each, dict) else each)
        ]
        if not level:
            return False
    return True


def _violations(value: Any, schema: Schema, definitions: Schema, place: str) -> Iterator[str]:
    """The keywords that the schema above uses, and no others."""
    if "$ref" in schema:
        schema = definitions[schema["$ref"].removeprefix("#/$defs/")]
    if "anyOf" in schema:
        yield from _fits_none(value, schema["anyOf"], definitions, place)
        return
    fault = _own_fault(value, schema)
    if fault:
        yield f"{place or 'the document'}: {fault}"
        return
    if isinstance(value, dict):
        others = schema.get("additionalProperties", {})
        for key, each in value.items():
            inner = schema.get("properties", {}).get(key, others)
            yield from _violations(each, inner, definitions, f"{place}.{key}".lstrip("."))
    elif isinstance(value, list):
        for i, each in enumerate(value):
            yield from _violations(each, schema.get("items", {}), definitions, f"{place}[{i}]")


def _fits_none(value: Any, choices: list[Schema], definitions: Schema, place: str) -> Iterator[str]:
    """Nothing if one of the choices fits; otherwise the complaint of the one that came closest."""
    complaints = []
    for choice in choices:
        found = next(_violations(value, choice, definitions, place), None)
        if found is None:
            return
        if choice != {"type": "null"}:  # what is there was not meant to be nothing
            complaints.append(found)
    # The complaint from deepest inside belongs to the choice that was meant.
    yield max(complaints, key=lambda complaint: len(complaint.split(": ")[0]))


def _own_fault(value: Any, schema: Schema) -> str:
    """What is wrong with a value itself, apart from what it contains."""
    kind = schema.get("type")
    if kind is not None and (
        not isinstance(value, _TYPES[kind]) or (isinstance(value, bool) and kind != "boolean")
    ):
        return f"must be of type {kind}, but is {_shown(value)}"
    if "const" in schema and (value != schema["const"] or isinstance(value, bool)):
        return f"must be {schema['const']!r}, but is {_shown(value)}"
    if "enum" in schema and value not in schema["enum"]:
        return f"must be one of {', '.join(schema['enum'])}, but is {_shown(value)}"
    if "minimum" in schema and not schema["minimum"] <= value <= schema["maximum"]:
        return f"must be between {schema['minimum']} and {schema['maximum']}, but is {_shown(value)}"
    lacking = [key for key in schema.get("required", ()) if key not in value]
    if lacking:
        return f"lacks the field `{lacking[0]}`"
    if isinstance(value, list):
        least, most = schema.get("minItems", 0), schema.get("maxItems", len(value))
        if not least <= len(value) <= most:
            return f"must have {least} items, but has {len(value)}"
    return ""


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
