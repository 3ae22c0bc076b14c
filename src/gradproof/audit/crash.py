"""Connects a crash of the program with the missing gradient that led to it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from types import FrameType, TracebackType
from typing import Any

from gradproof.diagnosis.report import GradientReport, Report
from gradproof.diagnosis.words import capped_list
from gradproof.judge.verdict import Verdict
from gradproof.render.sentence import name
from gradproof.render.snippet import source_line

# What Python, TensorFlow and Keras say when they are handed None in the place of a gradient.
_SIGNS = (
    "NoneType",
    "None values not supported",
    "No gradients provided",
    "to have a length equal to the number of `trainable_variables`",
    "there is no gradient",
)
_NAME = re.compile(r"[^\W\d]\w*")


def connect(report: Report, exception: BaseException | None) -> Report:
    """The report with a note that says which missing gradient the program stumbled over, if it was one."""
    missing = [gradient for gradient in report.gradients if gradient.verdict is Verdict.MISSING]
    if exception is None or not missing or not any(sign in str(exception) for sign in _SIGNS):
        return report
    frame = _last_frame(exception.__traceback__)
    empty = set() if frame is None else set(_empty_names(frame))
    guilty = [gradient for gradient in missing if empty & _assigned(gradient, report)]
    named = guilty or missing
    follows = "follows" if guilty else "probably follows"
    holds = f" (`{sorted(empty & _assigned(guilty[0], report))[0]}` holds it)" if guilty else ""
    gradients = capped_list([f"{name(gradient)} at line {gradient.call.line}" for gradient in named])
    note = f"the crash {follows} from a gradient that is None{holds}: {gradients}"
    return replace(report, notes=(*report.notes, note))


def _last_frame(trace: TracebackType | None) -> FrameType | None:
    """The innermost frame of the file in which the program itself begins."""
    found = None
    first = None if trace is None else trace.tb_frame.f_code.co_filename
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == first:
            found = trace.tb_frame
        trace = trace.tb_next
    return found


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
