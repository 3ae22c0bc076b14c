"""Explains the exception that ended a program, where a gradient is its reason or was prevented by it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from types import FrameType, TracebackType
from typing import Any

from gradproof.diagnosis.diagnostic import CRASH, Annotation, Diagnostic
from gradproof.diagnosis.report import GradientReport, Report
from gradproof.diagnosis.words import capped_list
from gradproof.frameworks import framework
from gradproof.ir.span import Span
from gradproof.judge.verdict import Verdict
from gradproof.render.faults import main_diagnostic
from gradproof.render.sentence import name
from gradproof.render.snippet import source_line, with_sources

_NONE_AT_ALL = "No gradients provided"
_PYTHON = "NoneType"  # in what Python says when it is handed None
_NAME = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True)
class ProgramEnd:
    """The exception that ended a program: its type, what it says, where it was raised, and the names that held None."""

    kind: str
    text: str
    span: Span | None
    empty: frozenset[str]


def ending_of(exception: BaseException | None) -> ProgramEnd | None:
    """What is to be known of an exception when the program is gone."""
    if exception is None:
        return None
    place = last_place(exception.__traceback__)
    span, empty = (None, frozenset[str]()) if place is None else (place[1], frozenset(_empty_names(place[0])))
    return ProgramEnd(type(exception).__name__, str(exception), span, empty)


def connect(report: Report, exception: BaseException | None, found: Diagnostic | None = None) -> Report:
    """The report with the explanation of the crash: `found`, or the missing gradient it stumbled over."""
    return explained(report, ending_of(exception), found)


def explained(report: Report, ending: ProgramEnd | None, found: Diagnostic | None = None) -> Report:
    """The same where the program is gone, and how it ended was written down."""
    if ending is None or report.script is None:
        return report
    crash = found or _over_missing_gradient(report, ending)
    if crash is None:
        return report
    return with_sources(replace(report, script=replace(report.script, crash=crash)))


def _signs(missing: list[GradientReport]) -> Iterator[str]:
    """What Python and the frameworks say when they are handed None in the place of a gradient."""
    yield _PYTHON
    for used in {gradient.framework for gradient in missing}:
        yield from framework(used).signs_of_none


def _over_missing_gradient(report: Report, ending: ProgramEnd) -> Diagnostic | None:
    missing = [gradient for gradient in report.gradients if gradient.verdict is Verdict.MISSING]
    span, empty = ending.span, ending.empty
    if not missing or span is None or not any(sign in ending.text for sign in _signs(missing)):
        return None
    guilty = [gradient for gradient in missing if empty & _assigned(gradient, report)]
    at_once = [gradient for gradient in missing if gradient.computed and _is_inside(gradient.call, span)]
    # Of others, those of the last call: a crash is close to what it comes from.
    named = at_once or guilty or [one for one in missing if one.call == missing[-1].call]
    gradients = capped_list([f"{name(gradient)} at line {gradient.call.line}" for gradient in named])
    headline = "the program was probably handed a gradient that is None"
    if _NONE_AT_ALL in ending.text:
        headline = "the optimiser was given no gradient for any variable"
    elif at_once:
        headline = f"line {span.line} uses the gradient it asks for, and there is none"
    elif guilty:
        holder = sorted(empty & _assigned(guilty[0], report))[0]
        headline = f"`{holder}` holds no gradient, and line {span.line} uses it"
    elif used := sorted(empty & set(_NAME.findall(source_line(span, report.sources)))):
        headline = f"`{used[0]}` is None where line {span.line} uses it: probably a gradient that is missing"
    first = named[0]
    cause = main_diagnostic(first)
    because = "" if cause is None else f" ({cause.kind}: {cause.headline})"
    return Diagnostic(
        kind=CRASH,
        severity="error",
        certainty="measured" if at_once or guilty or _NONE_AT_ALL in ending.text else "likely",
        headline=headline,
        primary=Annotation(span, f"fails with {ending.kind}"),
        secondary=()
        if at_once or first.call == span
        else (Annotation(first.call, "no gradient came back from here"),),
        why=(
            f"There is no gradient for {gradients}{because}. Python fails where the missing gradient is first "
            "used, not where it was lost: fix the cause, and this line runs."
        ),
    )


def _is_inside(call: Span, failed: Span) -> bool:
    """Whether a gradient call is a part of the expression that failed."""
    if call.file != failed.file or None in (call.column, failed.column, call.end_line, failed.end_line):
        return False
    begins = (failed.line, failed.column) <= (call.line, call.column)
    return begins and (call.end_line, call.end_column) <= (failed.end_line, failed.end_column)


def last_place(trace: TracebackType | None) -> tuple[FrameType, Span] | None:
    """The innermost frame of the file in which the program itself begins, and what it was evaluating."""
    found = None
    first = None if trace is None else trace.tb_frame.f_code.co_filename
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == first:
            found = trace
        trace = trace.tb_next
    if found is None:
        return None
    code = found.tb_frame.f_code
    position = next(islice(code.co_positions(), found.tb_lasti // 2, None), (None, None, None, None))
    line, end_line, column, end_column = position
    return found.tb_frame, Span(code.co_filename, line or found.tb_lineno, column, end_line, end_column)


def _empty_names(frame: FrameType) -> Iterator[str]:
    """Names of the program that hold None, or a list with None in it, where it failed."""
    for names in (frame.f_locals, frame.f_globals):
        yield from (key for key, value in list(names.items()) if _is_empty(value))


def _is_empty(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(item is None for item in value)
    # By its name: the tape's stand-in for a gradient that is not there refuses to be compared.
    return value is None or type(value).__name__ == "Missing"


def _assigned(gradient: GradientReport, report: Report) -> set[str]:
    """The names that the line of the gradient call assigns to."""
    target, equals, _ = source_line(gradient.call, report.sources).partition("=")
    return set(_NAME.findall(target)) if equals else set()
