"""Places as SARIF writes them: URIs of files, regions in lines and columns, and changes of lines."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from gradproof.diagnosis.diagnostic import Annotation, Fix
from gradproof.diagnosis.words import printable
from gradproof.ir.span import Span
from gradproof.render.snippet import characters, source_lines
from gradproof.render.to_diff import Hunk, hunks_of

JSON = dict[str, Any]

ROOT = "%SRCROOT%"
"""The name under which the reader of the log looks for the folder where gradproof was started."""

_DRIVE = re.compile(r"[A-Za-z]:[\\/]")


def location(annotation: Annotation, sources: Mapping[str, str]) -> JSON:
    """A place with the words that belong under it."""
    where: JSON = {"physicalLocation": physical_location(annotation.span, sources)}
    if annotation.label:
        where["message"] = message(annotation.label)
    if annotation.span.function:
        where["logicalLocations"] = [{"fullyQualifiedName": printable(annotation.span.function)}]
    return where


def physical_location(span: Span, sources: Mapping[str, str]) -> JSON:
    """The file and, where a line is known, the region in it."""
    where: JSON = {"artifactLocation": artifact_location(span.file)}
    lines = source_lines(span.file, sources)
    if span.line > 0:
        where["region"] = _region(span, lines)
    if 0 < span.line <= span.last_line <= len(lines):
        where["contextRegion"] = {
            "startLine": span.line,
            "endLine": span.last_line,
            "snippet": {"text": "\n".join(lines[span.line - 1 : span.last_line])},
        }
    return where


def artifact_location(file: str) -> JSON:
    """A path relative to the source root, or an absolute URI; signs that a URI cannot hold are encoded."""
    if _DRIVE.match(file):
        return {"uri": f"file:///{file[0]}:{_quoted(file[2:].replace(chr(92), '/'))}"}
    if file.startswith("/"):
        return {"uri": f"file://{_quoted(file)}"}
    return {"uri": _quoted(file), "uriBaseId": ROOT}


def message(text: str) -> JSON:
    """Plain text in which a reader of the log sees neither placeholders nor links that were not meant."""
    braces = text.replace("{", "{{").replace("}", "}}")
    return {"text": braces.replace("](", "] (")}


def fix(change: Fix, file: str, sources: Mapping[str, str]) -> JSON | None:
    """The patch as replacements of whole lines; None where it does not fit the source to the letter."""
    if not change.patch or file not in sources:
        return None
    lines = source_lines(file, sources)
    hunks = list(hunks_of(change.patch, sources[file]))
    if not hunks or not all(hunk.fits(lines) for hunk in hunks):
        return None
    replacements = [_replacement(hunk.narrowed, lines) for hunk in hunks if hunk.old != hunk.new]
    if not replacements:
        return None
    checked = f"checked: {change.checked}" if change.checked else "not checked"
    return {
        "description": message(printable(f"{change.text} ({checked})")),
        "artifactChanges": [{"artifactLocation": artifact_location(file), "replacements": replacements}],
    }


def _quoted(file: str) -> str:
    # A name that is no text in UTF-8 has surrogates in it; as bytes they are at least told apart.
    path = quote(file.encode("utf-8", "surrogatepass"), safe="/")
    return path or "."


def _region(span: Span, lines: Sequence[str]) -> JSON:
    """Lines and columns from 1; the end column is the first that no longer belongs to it.

    Columns are left out where the text of the line is not known: Python counts bytes, SARIF characters.
    """
    region: JSON = {"startLine": span.line}
    if span.last_line > span.line:
        region["endLine"] = span.last_line
    if span.column is None or not span.last_line <= len(lines):
        return region
    region["startColumn"] = characters(lines[span.line - 1], span.column) + 1
    if span.end_column is not None:
        end = characters(lines[span.last_line - 1], span.end_column) + 1
        least = region["startColumn"] if span.last_line == span.line else 1
        region["endColumn"] = max(end, least)
    return region


def _replacement(hunk: Hunk, lines: Sequence[str]) -> JSON:
    """From the beginning of the first line to the beginning of the one after the last."""
    text = "".join(f"{line}\n" for line in hunk.new)
    after = hunk.first + len(hunk.old)
    region = {"startLine": hunk.first, "startColumn": 1, "endLine": after, "endColumn": 1}
    if after > len(lines):
        # The last line has no end: nothing stands behind it that the region could reach to.
        text = text.removesuffix("\n")
        region.update(endLine=len(lines), endColumn=len(lines[-1]) + 1)
        if not hunk.old:
            text = f"\n{text}"
            region.update(startLine=len(lines), startColumn=len(lines[-1]) + 1)
    return {"deletedRegion": region, "insertedContent": {"text": text}}
