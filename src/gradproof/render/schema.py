"""The JSON Schema of the machine format, and the check of a document against it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gradproof.diagnosis.diagnostic import CERTAINTIES, SEVERITIES
from gradproof.diagnosis.report import SCHEMA
from gradproof.judge.verdict import Verdict

Schema = dict[str, Any]

DEEPEST = 100  # levels of nesting; a NumPy array has at most 64 axes

_STRING: Schema = {"type": "string"}
_BOOLEAN: Schema = {"type": "boolean"}
_MOST = (
    10**15
)  # no file has so many lines, no array so many entries; it keeps sums within the machine's range
_COUNT: Schema = {"type": "integer", "minimum": 0, "maximum": _MOST}
_ORDINAL: Schema = {"type": "integer", "minimum": 1, "maximum": _MOST}
_DIGITS: Schema = {"type": "number", "minimum": 0, "maximum": 100}  # quadruple precision has 34


def schema() -> Schema:
    """The published schema (JSON Schema 2020-12). Unknown fields are allowed: later releases add some."""
    required = {
        "schema": {"const": SCHEMA},
        "gradproof": _STRING,
        "frameworks": _map(_STRING),
        "script": _optional(
            _object(
                {"path": _STRING, "exception": _optional(_STRING)},
                {"exit_status": {"type": "integer"}, "crash": _optional(_ref("cause"))},
            )
        ),
        "gradients": _list(_ref("gradient")),
    }
    added = {
        "unchecked": _list(_object({"call": _ref("span"), "count": _COUNT, "reason": _STRING})),
        "timing": _map(_ref("real")),
        "notes": _list(_STRING),
        "sources": _map(_STRING),
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Gradproof report, version 1",
        **_object(required, added),
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
    complex_number = _object({"re": _ref("real"), "im": _ref("real")})
    size = {"shape": _list(_COUNT), "norm": _ref("real"), "largest": _ref("real"), "not_finite": _COUNT}
    place = {"file": _STRING, "line": _ORDINAL}
    beyond = {"column": _optional(_COUNT), "end_line": _optional(_ORDINAL), "end_column": _optional(_COUNT)}
    return {
        "real": number,
        "number": {"anyOf": [_ref("real"), complex_number]},
        "array": {"anyOf": [_ref("number"), _list(_ref("array"))]},
        "summary": _object(size),
        "value": {"anyOf": [{"type": "null"}, _ref("array"), _ref("summary")]},
        "span": _object(place, {**beyond, "function": _STRING}),
        "annotation": _object({"span": _ref("span"), "label": _STRING}),
        "entry": _object(
            {"index": _list(_COUNT), "observed": _ref("number"), "reference": _ref("number")},
            {"radius": _ref("real"), "digits": _ref("real")},
        ),
        "entries": _entries(),
        "fix": _object({"text": _STRING, "patch": _STRING, "checked": _STRING}, {"changes_meaning": _STRING}),
        "cause": _cause(),
        "gradient": _gradient(),
    }


def _entries() -> Schema:
    norms = {f"{which}_norm": _ref("real") for which in ("observed", "reference", "difference")}
    counts = {"count": _COUNT, "not_finite": _COUNT, "digits_histogram": _list(_COUNT)}
    return _object({**counts, "worst": _list(_ref("entry")), **norms})


def _cause() -> Schema:
    required = {
        "kind": _STRING,
        "severity": {"enum": list(SEVERITIES)},
        "file": _STRING,
        "line": _ORDINAL,
        "op": _optional(_STRING),
        "share": _optional(_ref("real")),
        "message": _STRING,
        "fix": _optional(_ref("fix")),
    }
    added = {
        "certainty": {"enum": list(CERTAINTIES)},
        "primary": _optional(_ref("annotation")),
        "secondary": _list(_ref("annotation")),
        "subject": _STRING,
        "evidence": _list({**_list(_STRING), "minItems": 2, "maxItems": 2}),
        "why": _STRING,
        "notes": _list(_STRING),
    }
    return _object(required, added)


def _gradient() -> Schema:
    source = _object({"name": _STRING, "shape": _list(_COUNT), "dtype": _STRING})
    required = {
        "file": _STRING,
        "line": _ORDINAL,
        "occurrence": _ORDINAL,
        "framework": _STRING,
        "target": _object({"name": _STRING}),
        "source": source,
        "verdict": {"enum": [str(verdict) for verdict in Verdict]},
        "oracle": _optional(_STRING),
        "reason": _optional(_STRING),
        **{field: _ref("value") for field in ("observed", "reference", "reference_radius")},
        "relative_error": _optional(_ref("real")),
        "digits": _optional(_ref("real")),
        "digits_possible": _optional(_DIGITS),
        "one_sided": _optional({**_list(_ref("value")), "minItems": 2, "maxItems": 2}),
        "causes": _list(_ref("cause")),
    }
    added = {
        "call": _ref("span"),
        "order": _ORDINAL,
        "intended": _BOOLEAN,
        "computed": _BOOLEAN,
        "budget": _list(_object({"span": _ref("span"), "share": _ref("real"), "op": _STRING})),
        "entries": _optional(_ref("entries")),
    }
    return _object(required, added)


def _object(required: Mapping[str, Schema], added: Mapping[str, Schema] | None = None) -> Schema:
    properties = {**required, **(added or {})}
    return {"type": "object", "required": list(required), "properties": properties}


def _map(values: Schema) -> Schema:
    return {"type": "object", "additionalProperties": values}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _optional(schema: Schema) -> Schema:
    return {"anyOf": [{"type": "null"}, schema]}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


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
