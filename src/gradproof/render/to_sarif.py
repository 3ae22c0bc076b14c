"""A report as SARIF 2.1.0, the format in which tools for code review take findings."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any

from gradproof.causes import causes
from gradproof.diagnosis.cause import CauseDoc
from gradproof.diagnosis.diagnostic import CRASH, SEVERITIES, Annotation
from gradproof.diagnosis.report import Report
from gradproof.diagnosis.words import count, printable
from gradproof.judge.verdict import Verdict
from gradproof.render.findings import Finding, findings, paragraphs
from gradproof.render.sarif_place import ROOT, fix, location, message
from gradproof.render.sentence import name, unserved_text
from gradproof.render.snippet import source_line

JSON = dict[str, Any]

VERSION = "2.1.0"
SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
FINGERPRINT = "gradproof/v1"  # a change of what it is made of needs another number
_CODE = ("Example", "Write instead")


def to_sarif(report: Report) -> str:
    """The log of one run. The same report gives the same text."""
    return json.dumps(to_log(report), indent=1) + "\n"


def to_log(report: Report) -> JSON:
    """The document that `to_sarif` writes down."""
    found = findings(report)
    rules = _rules(found)
    index = {rule["id"]: k for k, rule in enumerate(rules)}
    driver = {"name": "gradproof", "rules": rules}
    if report.version:
        driver["version"] = printable(report.version)
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        # Without a URI: where the sources lie is for the reader's machine to say, not for the writer's.
        "originalUriBaseIds": {ROOT: {"description": message("the folder in which gradproof was started")}},
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": _notifications(report)}],
        "results": _results(found, report, index),
    }
    return {"$schema": SCHEMA, "version": VERSION, "runs": [run]}


def _results(found: Sequence[Finding], report: Report, index: dict[str, int]) -> list[JSON]:
    seen: Counter[str] = Counter()
    return [_result(finding, report, index, seen) for finding in found]


def _result(finding: Finding, report: Report, index: dict[str, int], seen: Counter[str]) -> JSON:
    diagnostic = finding.diagnostic
    result: JSON = {
        "ruleId": printable(finding.kind),
        "ruleIndex": index[printable(finding.kind)],
        "level": finding.level,
        "message": message("\n\n".join(paragraphs(finding))),
        "locations": [location(_primary(finding), report.sources)],
        "partialFingerprints": {FINGERPRINT: _fingerprint(finding, report, seen)},
        "properties": _properties(finding),
    }
    if diagnostic is not None and diagnostic.secondary:
        related = [location(annotation, report.sources) for annotation in diagnostic.secondary]
        result["relatedLocations"] = [{"id": k + 1, **place} for k, place in enumerate(related)]
    if diagnostic is not None and diagnostic.fix is not None:
        change = fix(diagnostic.fix, finding.span.file, report.sources)
        result.update({} if change is None else {"fixes": [change]})
    if finding.is_intended:
        result["suppressions"] = [
            {"kind": "inSource", "justification": "the deviation is declared intended in the source"}
        ]
    return result


def _primary(finding: Finding) -> Annotation:
    annotation = None if finding.diagnostic is None else finding.diagnostic.primary
    return annotation or Annotation(finding.span)


def _properties(finding: Finding) -> JSON:
    """What SARIF has no field for."""
    properties: JSON = {
        "gradients": [
            {"gradient": printable(name(gradient)), "verdict": str(gradient.verdict)}
            for gradient in finding.gradients
        ]
    }
    if finding.diagnostic is not None:
        properties["certainty"] = finding.diagnostic.certainty
    return properties


def _fingerprint(finding: Finding, report: Report, seen: Counter[str]) -> str:
    """The same for the same fault in the next run, also when lines above it have come or gone.

    Not from the headline, which has numbers in it; equal ones are told apart by their order.
    """
    text = source_line(finding.span, report.sources)
    parts = (finding.kind, finding.span.file, finding.span.function, text or str(finding.span.line))
    digest = sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]
    seen[digest] += 1
    return f"{digest}:{seen[digest]}"


def _rules(found: Sequence[Finding]) -> list[JSON]:
    """One for each kind that was found, with the documentation of the cause."""
    documentation = {cause.name: cause.documentation for cause in causes()}
    kinds = sorted({finding.kind for finding in found})
    return [_rule(kind, documentation.get(kind), found) for kind in kinds]


def _rule(kind: str, doc: CauseDoc | None, found: Sequence[Finding]) -> JSON:
    # A cause has no level of its own: it is as grave as what it did. Each result says it for itself.
    level = max((f.level for f in found if f.kind == kind), key=SEVERITIES.index)
    rule: JSON = {
        "id": printable(kind),
        "name": printable("".join(part.capitalize() for part in kind.split("-"))),
        "defaultConfiguration": {"level": level},
        "properties": {"tags": ["gradient", "correctness"]},
    }
    title = _verdicts().get(kind, "") if doc is None else doc.title
    if title:
        rule["shortDescription"] = message(title)
    if doc is not None:
        rule["fullDescription"] = message(" ".join(doc.finds.split()))
        rule["help"] = {"text": _help(doc, kind)["text"], "markdown": _markdown(doc)}
    return rule


def _verdicts() -> dict[str, str]:
    """What is found without a cause: a verdict, or a program that ended early."""
    meanings = {str(verdict): f"The gradient: {verdict.sentence}." for verdict in Verdict}
    return {**meanings, CRASH: "The program ended with an exception, and a gradient has to do with it."}


def _help(doc: CauseDoc, kind: str) -> JSON:
    sections = [f"{heading}\n{text}" for heading, text in doc.sections]
    return message("\n\n".join([doc.title, *sections, f"`gradproof explain {kind}` prints this page."]))


def _markdown(doc: CauseDoc) -> str:
    parts = []
    for heading, text in doc.sections:
        body = f"```python\n{text}\n```" if heading in _CODE else text
        parts.append(f"### {heading}\n\n{body}")
    markdown = "\n\n".join([doc.title, *parts])
    return markdown.replace("{", "{{").replace("}", "}}")


def _notifications(report: Report) -> list[JSON]:
    """What concerns the run and not a line of it."""
    return [{"level": level, "message": message(printable(text))} for level, text in _remarks(report)]


def _remarks(report: Report) -> Iterator[tuple[str, str]]:
    if report.script is not None and report.script.exception:
        yield "warning", f"the script ended with {report.script.exception}"
    if report.script is not None and report.script.unserved:
        yield "warning", unserved_text(report.script)
    for row in report.unchecked:
        yield "note", f"not checked: {count(row.count, 'gradient')} at {row.call}: {row.reason}"
    for note in report.notes:
        yield "note", note
