"""A report read back from the machine format, to be rendered later or elsewhere."""

from __future__ import annotations

import json

from gradproof.diagnosis.report import SCHEMA, Report
from gradproof.diagnosis.words import printable
from gradproof.errors import UnreadableReport
from gradproof.render.codec import JSON, ReadingPlace
from gradproof.render.report_format import PROGRAMS, REPORT
from gradproof.render.schema import violations


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
    programs = PROGRAMS.read(document.get("programs", []), ReadingPlace("programs"))
    report: Report = REPORT.read(document, ReadingPlace(tables={"programs": programs}))
    return report


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
