"""Shared by the causes of a missing gradient: the frontend found the reason, each cause puts it into words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from gradproof.causes._evidence import Rows, comparison_rows, subject
from gradproof.causes._source import assigned, line_of
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.diagnostic import Annotation, Diagnostic, Fix, annotated
from gradproof.frameworks import framework
from gradproof.ir.capture import Break
from gradproof.ir.span import Span

_CALL = re.compile(r"\b(\w+)\.(?:gradient|jacobian)\(")
_TAPE = re.compile(r"\bwith\b.*\bas\s+(\w+)\s*:")


def broken(case: Case, kind: str) -> Break | None:
    """The break of this kind, if the gradient is missing because of it."""
    missing = case.source.missing
    return missing if missing is not None and missing.kind == kind and case.source.observed is None else None


def diagnose(case: Case, missing: Break, headline: str, why: str, fix: Fix | None) -> Iterator[Diagnostic]:
    """In these words, unless the frontend has words of its own for it."""
    if "headline" in missing.facts:  # the frontend's own words, whole
        headline, why, fix = missing.facts["headline"], missing.facts["why"], Fix(missing.facts["remedy"])
    yield Diagnostic(
        kind=missing.kind,
        # A part of a model that takes no part may be meant so, and then nobody reads its gradient.
        severity="warning" if "unread" in missing.facts else "error",
        certainty="measured",
        headline=headline,
        primary=annotated(missing.span, missing.label),
        secondary=tuple(Annotation(span, label) for span, label in missing.contributing),
        subject=subject(case),
        evidence=_evidence(case, missing),
        why=why,
        fix=fix if fix is None or fix.checked else replace(fix, checked=case.remedy.replayed),
    )


def _evidence(case: Case, missing: Break) -> Rows:
    """What ran has slope zero where the way led out of the framework, through a draw or from integers: that would
    mislead."""
    rows, true = comparison_rows(case), case.true
    is_cut_off = true is not None and not (np.any(true.mid) or np.any(true.rad))
    leads_out = missing.kind in ("left-framework", "integer-dtype") or "with a graph" in missing.facts
    return rows[:1] if is_cut_off and leads_out else rows


def with_origin(case: Case, missing: Break, label: str) -> Break:
    """The break with the line where the source was made, unless it is there already."""
    made = assigned(case, case.source.name, case.capture.call)
    if made is None or made.line in {span.line for span, _ in missing.contributing}:
        return missing
    if (
        "made without" in missing.facts and missing.span is not None
    ):  # it is to be made otherwise, not to be watched
        called = (missing.span, missing.label)
        return replace(missing, span=made, label=label, contributing=(called, *missing.contributing))
    return replace(missing, contributing=((made, label), *missing.contributing))


def lacks(case: Case) -> str:
    """How the headline begins: a framework returns None or raises, or says why it has nothing."""
    name = case.source.name
    is_none = framework(case.capture.framework).returns_none and not case.capture.run.exception
    return f"the gradient for `{name}` is None" if is_none else f"there is no gradient for `{name}`"


def no_zero(case: Case) -> str:
    """The first sentence of most explanations corrects what a reader of None is likely to believe."""
    is_none = framework(case.capture.framework).returns_none and not case.capture.run.exception
    return "None does not mean zero. " if is_none else ""


def remedy(missing: Break, otherwise: str) -> str:
    """What the frontend advises, if it knows better than the general advice."""
    return missing.facts.get("remedy") or otherwise


def tape_line(case: Case) -> tuple[Span, str, str] | None:
    """The `with` line of the tape: its place, its text, the tape's name."""
    missing = case.source.missing
    for span in () if missing is None else [span for span, _ in missing.contributing]:
        found = _TAPE.search(line_of(case, span))
        if found is not None:
            return span, line_of(case, span), found.group(1)
    return _tape_of_call(case)


def _tape_of_call(case: Case) -> tuple[Span, str, str] | None:
    """The last `with ... as tape:` before a call `tape.gradient(...)`, by the name of the tape."""
    call = case.capture.call
    named = _CALL.search(line_of(case, call))
    for number in range(call.line - 1, 0, -1) if named is not None else ():
        span = Span(call.file, number)
        found = _TAPE.search(line_of(case, span))
        if found is not None and named is not None and found.group(1) == named.group(1):
            return span, line_of(case, span), found.group(1)
    return None


def indented_below(case: Case, span: Span) -> str:
    """The first line of the block that a line opens; empty where it is not known."""
    for number in range(span.line + 1, span.line + 4):
        text = line_of(case, Span(span.file, number))
        if text.strip():
            return text
    return ""


def indentation(text: str) -> str:
    return text[: len(text) - len(text.lstrip())]
