"""Gathers the facts about rules, state and missing gradients that the causes read, where a verdict asks for them."""

from __future__ import annotations

import linecache
from dataclasses import replace

from gradproof.diagnosis.case import Case
from gradproof.ir.span import Span
from gradproof.judge.custom import custom_faults, library_faults
from gradproof.judge.verdict import Verdict


def with_faults(case: Case) -> Case:
    return _with_sources(_with_mistakes(case))


def _with_mistakes(case: Case) -> Case:
    program = case.capture.gradient_program
    if case.verdict is not Verdict.WRONG or program is None:
        return case
    own = [found for found in case.departures if case.reaching & set(found.pullback.results)]
    return replace(
        case,
        mistakes=custom_faults(case.capture, case.reaching, case.options),
        library_faults=library_faults(program, own, case.options),
    )


def _with_sources(case: Case) -> Case:
    """The text of the files in which the spans lie that a patch could be made from."""
    spans: list[Span | None] = [case.capture.call]
    if case.source.missing is not None:
        spans += [case.source.missing.span, *(span for span, _ in case.source.missing.contributing)]
    for scope in case.capture.scopes:
        spans += [scope.used_at, scope.defined_at, scope.rule_at]
    files = {span.file for span in spans if span is not None}
    texts = {file: "".join(linecache.getlines(file)) for file in sorted(files)}
    return replace(case, sources={file: text for file, text in texts.items() if text})
