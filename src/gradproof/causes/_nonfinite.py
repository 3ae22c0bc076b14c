"""Shared by the causes of a gradient that is not finite: one origin, put into words by the cause of its kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gradproof.causes._evidence import Rows, observed_text, proven_text, subject
from gradproof.causes._places import number_at
from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.diagnostic import Annotation, Diagnostic, Fix, annotated
from gradproof.diagnosis.first_nonfinite import Kind, Nonfinite
from gradproof.diagnosis.flow import Place
from gradproof.ir.span import Span
from gradproof.judge.verdict import Verdict

_SEEN_IN_THE_RUN: Mapping[Verdict, tuple[Kind, ...]] = {
    Verdict.UNVERIFIED: ("masked-branch", "overflow", "underflow"),
    Verdict.UNDEFINED: ("masked-branch",),  # it makes NaN of what would be the slope of one side
    Verdict.INACCURATE: ("overflow",),  # 1/inf is an ordinary 0
}
MOST_STATIONS = 4  # lines of the way that are told; the first and the last matter most


def nonfinite_of(case: Case, kind: Kind) -> Nonfinite | None:
    """How a gradient became NaN or infinite although the true one is finite, if it is of this kind."""
    found = case.irregular.nonfinite
    if found is None or found.kind != kind:
        return None
    # What was seen to go wrong in the run needs no verdict; what a function lacks in exact arithmetic does.
    # A target without a value has no gradient that could be spoilt: that is invalid-domain.
    seen = kind in _SEEN_IN_THE_RUN.get(case.verdict, ()) and not case.lacks_a_value
    return found if seen or case.verdict is Verdict.NONFINITE else None


def diagnose(
    case: Case,
    found: Nonfinite,
    place: Place,
    headline: str,
    label: str,
    why: str,
    fix: Fix | None = None,
    rows: Rows = (),
    secondary: tuple[Annotation, ...] = (),
) -> Iterator[Diagnostic]:
    """The fault is shown at the op of `place`."""
    node = found.program[place.id]
    index = found.trail[-1].index
    primary = annotated(node.span, label)
    yield Diagnostic(
        kind=found.kind,
        severity="error",
        certainty="likely" if found.reruns else "proven" if case.judgement.oracle == "ball" else "measured",
        headline=headline,
        primary=primary,
        secondary=tuple(one for one in secondary if primary is None or one.span != primary.span),
        subject=subject(case, index),
        evidence=(*returned_rows(case, index), *rows),
        why=why,
        fix=case.remedy.fix or fix,  # one that was run before one that is only advice
        op=node.op,
        notes=_notes(case, found),
    )


def returned_rows(case: Case, index: tuple[int, ...]) -> Rows:
    """What came back and what is true, at one entry."""
    rows = [(words.framework_name(case.capture.framework), observed_text(case, index))]
    proven = proven_text(case, index)
    if proven is not None:
        rows.append(("proven" if case.judgement.oracle == "ball" else "expected", proven))
    return tuple(rows)


def way_row(found: Nonfinite) -> Rows:
    """The lines on which the number went from where it arose to the gradient: `line 8 inf, line 7 nan`."""
    stations: list[tuple[int, str]] = []
    for place in found.trail:
        span = found.program[place.id].span
        if span is None:
            continue
        if len(stations) > 1 and stations[-1][0] == span.line:
            stations.pop()  # one number per line: the one it leaves the line with
        station = (span.line, number_at(found.program, place))
        if not stations or stations[-1] != station:
            stations.append(station)
    if len(stations) < 2:
        return ()
    told = [f"line {line}: {value}" for line, value in stations]
    if len(told) > MOST_STATIONS:
        told = [*told[: MOST_STATIONS - 1], "...", told[-1]]
    return (("path", " -> ".join(told)),)


def line_of(span: Span | None) -> str:
    return "this op" if span is None else f"line {span.line}"


def _notes(case: Case, found: Nonfinite) -> tuple[str, ...]:
    notes = []
    observed = case.source.observed
    bad = 0 if observed is None else int((observed != observed).sum() + (abs(observed) == float("inf")).sum())
    if bad > 1:
        notes.append(
            f"{bad:,} of {words.count(observed.size if observed is not None else 0, 'entry', 'entries')} of "
            "this gradient are not finite"
        )
    if found.reruns:
        notes.append("run op by op the program hides this; the compiled program does not")
    return tuple(notes)
