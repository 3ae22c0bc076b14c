"""The JSON Schema of the machine format, and the check of a document against it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gradproof.diagnosis.diagnostic import CERTAINTIES, SEVERITIES
from gradproof.diagnosis.report import SCHEMA
from gradproof.judge.verdict import Verdict
from gradproof.render.schema_figures import figure_definitions
from gradproof.render.schema_parts import (
    BOOLEAN,
    COUNT,
    ORDINAL,
    STRING,
    Schema,
    fields,
    list_of,
    map_of,
    optional,
    pair_of,
    ref,
)

DEEPEST = 100  # levels of nesting; a NumPy array has at most 64 axes

_DIGITS: Schema = {"type": "number", "minimum": 0, "maximum": 100}  # quadruple precision has 34


def schema() -> Schema:
    """The published schema (JSON Schema 2020-12). Unknown fields are allowed: later releases add some."""
    required = {
        "schema": {"const": SCHEMA},
        "gradproof": STRING,
        "frameworks": map_of(STRING),
        "script": optional(
            fields(
                {"path": STRING, "exception": optional(STRING)},
                {
                    "exit_status": {"type": "integer"},
                    "crash": optional(ref("cause")),
                    "unserved": list_of(STRING),
                },
            )
        ),
        "gradients": list_of(ref("gradient")),
    }
    added = {
        "unchecked": list_of(fields({"call": ref("span"), "count": COUNT, "reason": STRING})),
        "timing": map_of(ref("real")),
        "notes": list_of(STRING),
        "sources": map_of(STRING),
        "programs": list_of(ref("program")),
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Gradproof report, version 1",
        **fields(required, added),
        "$defs": _definitions(),
    }


def violations(document: Any) -> Iterator[str]:
    """Where a document departs from the schema, as `gradients[0].line: ...`; nothing where it does not."""
    if _is_deep(document):
        yield f"the document: nested more than {DEEPEST} levels deep"
        return
    whole = schema()
    yield from _violations(document, whole, whole["$defs"], "")


def _definitions() -> Schema:
    number = {"anyOf": [{"type": "number"}, {"enum": ["nan", "inf", "-inf"]}]}
    complex_number = fields({"re": ref("real"), "im": ref("real")})
    size = {"shape": list_of(COUNT), "norm": ref("real"), "largest": ref("real"), "not_finite": COUNT}
    place = {"file": STRING, "line": ORDINAL}
    beyond = {"column": optional(COUNT), "end_line": optional(ORDINAL), "end_column": optional(COUNT)}
    return {
        "real": number,
        "number": {"anyOf": [ref("real"), complex_number]},
        "array": {"anyOf": [ref("number"), list_of(ref("array"))]},
        "summary": fields(size),
        "value": {"anyOf": [{"type": "null"}, ref("array"), ref("summary")]},
        "span": fields(place, {**beyond, "function": STRING}),
        "annotation": fields({"span": ref("span"), "label": STRING}),
        "entry": fields(
            {"index": list_of(COUNT), "observed": ref("number"), "reference": ref("number")},
            {"radius": ref("real"), "digits": ref("real")},
        ),
        "entries": _entries(),
        "fix": fields(
            {"text": STRING, "patch": STRING, "checked": STRING},
            {"changes_meaning": STRING, "others": list_of(ref("fix"))},
        ),
        "cause": _cause(),
        "gradient": _gradient(),
        **figure_definitions(),
    }


def _entries() -> Schema:
    norms = {f"{which}_norm": ref("real") for which in ("observed", "reference", "difference")}
    counts = {"count": COUNT, "not_finite": COUNT, "digits_histogram": list_of(COUNT)}
    return fields({**counts, "worst": list_of(ref("entry")), **norms})


def _cause() -> Schema:
    required = {
        "kind": STRING,
        "severity": {"enum": list(SEVERITIES)},
        "file": STRING,
        "line": ORDINAL,
        "op": optional(STRING),
        "share": optional(ref("real")),
        "message": STRING,
        "fix": optional(ref("fix")),
    }
    added = {
        "certainty": {"enum": list(CERTAINTIES)},
        "primary": optional(ref("annotation")),
        "secondary": list_of(ref("annotation")),
        "subject": STRING,
        "evidence": list_of(pair_of(STRING)),
        "why": STRING,
        "notes": list_of(STRING),
    }
    return fields(required, added)


def _gradient() -> Schema:
    source = fields({"name": STRING, "shape": list_of(COUNT), "dtype": STRING})
    required = {
        "file": STRING,
        "line": ORDINAL,
        "occurrence": ORDINAL,
        "framework": STRING,
        "target": fields({"name": STRING}),
        "source": source,
        "verdict": {"enum": [str(verdict) for verdict in Verdict]},
        "oracle": optional(STRING),
        "reason": optional(STRING),
        **{field: ref("value") for field in ("observed", "reference", "reference_radius")},
        "relative_error": optional(ref("real")),
        "digits": optional(ref("real")),
        "digits_possible": optional(_DIGITS),
        "one_sided": optional(pair_of(ref("value"))),
        "causes": list_of(ref("cause")),
    }
    added = {
        "call": ref("span"),
        "order": ORDINAL,
        "intended": BOOLEAN,
        "computed": BOOLEAN,
        "budget": list_of(fields({"span": ref("span"), "share": ref("real"), "op": STRING})),
        "entries": optional(ref("entries")),
        "figures": optional(ref("figures")),
    }
    return fields(required, added)


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
