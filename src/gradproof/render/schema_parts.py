"""The building blocks of the published schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Schema = dict[str, Any]

STRING: Schema = {"type": "string"}
BOOLEAN: Schema = {"type": "boolean"}
# No file has so many lines, no array so many entries; it keeps sums within the machine's range.
MOST = 10**15
COUNT: Schema = {"type": "integer", "minimum": 0, "maximum": MOST}
ORDINAL: Schema = {"type": "integer", "minimum": 1, "maximum": MOST}


def fields(required: Mapping[str, Schema], added: Mapping[str, Schema] | None = None) -> Schema:
    """An object with these fields; those of `added` came later and may lack."""
    properties = {**required, **(added or {})}
    return {"type": "object", "required": list(required), "properties": properties}


def map_of(values: Schema) -> Schema:
    return {"type": "object", "additionalProperties": values}


def list_of(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def pair_of(items: Schema) -> Schema:
    return {**list_of(items), "minItems": 2, "maxItems": 2}


def optional(schema: Schema) -> Schema:
    return {"anyOf": [{"type": "null"}, schema]}


def ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}
