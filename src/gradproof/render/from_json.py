"""A report read back from the machine format, to be rendered later or elsewhere."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradproof.diagnosis.diagnostic import Annotation, Diagnostic, Fix
from gradproof.diagnosis.entries import Entry, EntryTable
from gradproof.diagnosis.figures import Figures, ProgramView
from gradproof.diagnosis.report import SCHEMA, BudgetLine, GradientReport, Report, Script, Unchecked
from gradproof.diagnosis.words import printable
from gradproof.errors import UnreadableReport
from gradproof.ir.span import Span
from gradproof.ir.types import Array
from gradproof.judge.verdict import Verdict
from gradproof.render.figures_from_json import figures_of, programs_of
from gradproof.render.json_values import number_of, optional_of, span_of
from gradproof.render.schema import violations

JSON = Any
MOST_AXES = 64  # of a NumPy array


def from_json(text: str | bytes) -> Report:
    """The report a text holds; anything else is refused with the place where it departs from a report.

    Arrays come back as float64 or complex128. Of those that were summarised the table of entries is left.
    """
    return from_document(_parse(text))


def from_document(document: JSON) -> Report:
    """The report of a parsed document."""
    if isinstance(document, dict) and isinstance(document.get("schema"), int) and document["schema"] > SCHEMA:
        raise UnreadableReport(
            f"the report has format version {document['schema']}; this gradproof reads up to {SCHEMA}"
        )
    found = next(violations(document), None)
    if found is not None:
        raise UnreadableReport(f"not a gradproof report: {printable(found)}")
    script, programs = document["script"], programs_of(document.get("programs", ()))
    return Report(
        gradients=tuple(
            _gradient(each, f"gradients[{i}]", programs) for i, each in enumerate(document["gradients"])
        ),
        version=document["gradproof"],
        frameworks=document["frameworks"],
        script=script and _script(script),
        unchecked=tuple(
            Unchecked(span_of(each["call"]), each["count"], each["reason"])
            for each in document.get("unchecked", ())
        ),
        timing={stage: number_of(seconds) for stage, seconds in document.get("timing", {}).items()},
        notes=tuple(document.get("notes", ())),
        sources=document.get("sources", {}),
    )


def _script(document: JSON) -> Script:
    crash = document.get("crash")
    return Script(
        document["path"],
        document["exception"],
        document.get("exit_status", 0),
        None if crash is None else _diagnostic(crash),
        tuple(document.get("unserved", ())),
    )


def _parse(text: str | bytes) -> JSON:
    try:
        # With `utf-8-sig` the mark that some editors put at the beginning of a file is no part of it.
        characters = text.decode("utf-8-sig") if isinstance(text, bytes) else text
        # A plain NaN is no JSON; Python would read it all the same.
        return json.loads(characters, parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        raise UnreadableReport("not a gradproof report: the file is not text in UTF-8") from error
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise UnreadableReport(f"not a gradproof report: no JSON at {place}: {error.msg}") from error
    except RecursionError as error:
        raise UnreadableReport("not a gradproof report: nested too deeply") from error
    except ValueError as error:  # an integer with more digits than Python converts
        raise UnreadableReport(f"not a gradproof report: {error}") from error


def _refuse_constant(name: str) -> JSON:
    raise UnreadableReport(f'not a gradproof report: {name} stands there, which must be written "{name}"')


def _gradient(document: JSON, place: str, programs: Sequence[ProgramView]) -> GradientReport:
    source, sides = document["source"], document["one_sided"]
    arrays = {
        field: _array(document[field], f"{place}.{field}")
        for field in ("observed", "reference", "reference_radius")
    }
    radius = arrays["reference_radius"]
    if radius is not None and np.iscomplexobj(radius):
        raise UnreadableReport(f"not a gradproof report: {place}.reference_radius: must be real")
    slopes = [_array(side, f"{place}.one_sided") for side in sides or ()]
    entries = document.get("entries")
    return GradientReport(
        call=_call(document),
        framework=document["framework"],
        target=document["target"]["name"],
        source=source["name"],
        shape=tuple(source["shape"]),
        dtype=source["dtype"],
        verdict=Verdict(document["verdict"]),
        occurrence=document["occurrence"],
        order=document.get("order", 1),
        oracle=document["oracle"],
        reason=document["reason"],
        observed=arrays["observed"],
        reference=arrays["reference"],
        reference_radius=radius,
        relative_error=optional_of(document["relative_error"]),
        digits=optional_of(document["digits"]),
        digits_possible=optional_of(document["digits_possible"]),
        one_sided=_pair(slopes),
        diagnostics=tuple(_diagnostic(each) for each in document["causes"]),
        budget=tuple(
            BudgetLine(span_of(each["span"]), number_of(each["share"]), each["op"])
            for each in document.get("budget", ())
        ),
        entries=None if entries is None else _entries(entries),
        intended=document.get("intended", False),
        computed=document.get("computed", True),
        drawing=_drawing(document.get("figures"), programs, f"{place}.figures"),
    )


def _drawing(document: JSON, programs: Sequence[ProgramView], place: str) -> Callable[[], Figures] | None:
    """What was drawn when the report was written; read now, so that a fault in it is found now."""
    if document is None:
        return None
    figures = figures_of(document, programs, place)
    return lambda: figures


def _pair(slopes: list[Array | None]) -> tuple[Array, Array] | None:
    if len(slopes) != 2 or slopes[0] is None or slopes[1] is None:
        return None
    return slopes[0], slopes[1]


def _call(document: JSON) -> Span:
    return span_of(document["call"]) if "call" in document else Span(document["file"], document["line"])


def _fix(document: JSON) -> Fix:
    others = tuple(_fix(one) for one in document.get("others", ()))
    meaning = document.get("changes_meaning", "")
    return Fix(document["text"], document["patch"], document["checked"], meaning, others)


def _diagnostic(document: JSON) -> Diagnostic:
    primary, fix = document.get("primary"), document["fix"]
    if "primary" not in document:  # written by something that knows only the fields of version 1
        primary = {"span": {"file": document["file"], "line": document["line"]}, "label": ""}
    return Diagnostic(
        kind=document["kind"],
        severity=document["severity"],
        certainty=document.get("certainty", "likely"),
        headline=document["message"],
        primary=primary and _annotation(primary),
        secondary=tuple(_annotation(each) for each in document.get("secondary", ())),
        subject=document.get("subject", ""),
        evidence=tuple((label, value) for label, value in document.get("evidence", ())),
        why=document.get("why", ""),
        fix=fix and _fix(fix),
        op=document["op"],
        share=optional_of(document["share"]),
        notes=tuple(document.get("notes", ())),
    )


def _annotation(document: JSON) -> Annotation:
    return Annotation(span_of(document["span"]), document["label"])


def _entries(document: JSON) -> EntryTable:
    return EntryTable(
        count=document["count"],
        not_finite=document["not_finite"],
        histogram=tuple(document["digits_histogram"]),
        worst=tuple(_entry(each) for each in document["worst"]),
        observed_norm=number_of(document["observed_norm"]),
        reference_norm=number_of(document["reference_norm"]),
        difference_norm=number_of(document["difference_norm"]),
    )


def _entry(document: JSON) -> Entry:
    return Entry(
        index=tuple(document["index"]),
        observed=number_of(document["observed"]),
        reference=number_of(document["reference"]),
        radius=number_of(document.get("radius", 0.0)),
        digits=number_of(document.get("digits", "nan")),
    )


def _array(document: JSON, place: str) -> Array | None:
    """The array of nested lists; None for one that is lacking or summarised."""
    if document is None or (isinstance(document, dict) and "shape" in document):
        return None
    if _depth(document) > MOST_AXES:
        raise UnreadableReport(f"not a gradproof report: {place}: more than {MOST_AXES} axes")
    numbers = _nested(document)
    try:
        return np.array(numbers, dtype=np.complex128 if _has_complex(numbers) else np.float64)
    except ValueError as error:
        raise UnreadableReport(f"not a gradproof report: {place}: rows of different lengths") from error


def _depth(document: JSON) -> int:
    depth = 0
    while isinstance(document, list) and document:
        document, depth = document[0], depth + 1
    return depth + isinstance(document, list)


def _nested(document: JSON) -> JSON:
    return [_nested(each) for each in document] if isinstance(document, list) else number_of(document)


def _has_complex(numbers: JSON) -> bool:
    return any(map(_has_complex, numbers)) if isinstance(numbers, list) else isinstance(numbers, complex)
