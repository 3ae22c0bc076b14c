"""The part of SARIF 2.1.0 that gradproof writes: which fields an object may have, must have, and of what kind.

Written from the standard, section 3. The official schema is not among the tests' data, as its terms of use
are not those of this project; where GRADPROOF_SARIF_SCHEMA names a copy, `test_to_sarif.py` holds logs against it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

# A field that must be there ends with `!`. A kind in brackets is a list of it; `map` has any names.
SHAPES: dict[str, dict[str, str]] = {
    "log": {"$schema": "uri", "version!": "text", "runs!": "[run]"},
    "run": {
        "tool!": "tool",
        "columnKind": "text",
        "originalUriBaseIds": "map artifactLocation",
        "invocations": "[invocation]",
        "results": "[result]",
    },
    "tool": {"driver!": "component"},
    "component": {"name!": "text", "version": "text", "rules": "[rule]"},
    "rule": {
        "id!": "text",
        "name": "text",
        "shortDescription": "words",
        "fullDescription": "words",
        "help": "words",
        "defaultConfiguration": "configuration",
        "properties": "bag",
    },
    "configuration": {"level": "level"},
    "words": {"text!": "text", "markdown": "text"},
    "invocation": {"executionSuccessful!": "truth", "toolExecutionNotifications": "[notification]"},
    "notification": {"message!": "words", "level": "level"},
    "result": {
        "ruleId": "text",
        "ruleIndex": "index",
        "level": "level",
        "message!": "words",
        "locations": "[location]",
        "relatedLocations": "[location]",
        "partialFingerprints": "map text",
        "fixes": "[fix]",
        "suppressions": "[suppression]",
        "properties": "bag",
    },
    "location": {
        "id": "index",
        "physicalLocation": "physicalLocation",
        "logicalLocations": "[logicalLocation]",
        "message": "words",
    },
    "logicalLocation": {"fullyQualifiedName": "text"},
    "physicalLocation": {
        "artifactLocation!": "artifactLocation",
        "region": "region",
        "contextRegion": "region",
    },
    "artifactLocation": {"uri": "uri", "uriBaseId": "text", "description": "words"},
    "region": {
        "startLine!": "count",
        "startColumn": "count",
        "endLine": "count",
        "endColumn": "count",
        "snippet": "content",
    },
    "content": {"text": "text"},
    "fix": {"description": "words", "artifactChanges!": "[change]"},
    "change": {"artifactLocation!": "artifactLocation", "replacements!": "[replacement]"},
    "replacement": {"deletedRegion!": "region", "insertedContent": "content"},
    "suppression": {"kind!": "text", "justification": "text"},
}


def violations(value: Any, kind: str = "log", place: str = "log") -> Iterator[str]:
    """Every place where a log departs from the standard."""
    if kind.startswith("["):
        if not isinstance(value, list):
            yield f"{place}: no list"
        else:
            for k, each in enumerate(value):
                yield from violations(each, kind[1:-1], f"{place}[{k}]")
    elif kind.startswith("map "):
        for name, each in value.items():
            yield from violations(each, kind[4:], f"{place}.{name}")
    elif kind in SHAPES:
        yield from _in_object(value, SHAPES[kind], place)
    elif not PLAIN[kind](value):
        yield f"{place}: {value!r} is no {kind}"


def _in_object(value: Any, shape: dict[str, str], place: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{place}: no object"
        return
    fields = {name.removesuffix("!"): kind for name, kind in shape.items()}
    required = {name[:-1] for name in shape if name.endswith("!")}
    yield from (f"{place}: lacks {name}" for name in sorted(required - set(value)))
    yield from (f"{place}: has no field {name}" for name in sorted(set(value) - set(fields)))
    for name in fields.keys() & value.keys():
        yield from violations(value[name], fields[name], f"{place}.{name}")
    if "startLine" in value and _end(value) < (value["startLine"], value.get("startColumn", 1)):
        yield f"{place}: ends before it begins"


def _end(region: dict[str, Any]) -> tuple[float, float]:
    return region.get("endLine", region["startLine"]), region.get("endColumn", float("inf"))


def _is_integer(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


PLAIN = {
    "text": lambda value: isinstance(value, str),
    "truth": lambda value: isinstance(value, bool),
    "bag": lambda value: isinstance(value, dict),
    "level": lambda value: value in ("none", "note", "warning", "error"),
    "index": lambda value: _is_integer(value, 0),
    "count": lambda value: _is_integer(value, 1),
    # The characters of RFC 3986, with every percent sign followed by two digits.
    "uri": lambda value: re.fullmatch(r"(?:[A-Za-z0-9._~:/?#@!$&'()*+,;=-]|%[0-9A-F]{2})+", value),
}
