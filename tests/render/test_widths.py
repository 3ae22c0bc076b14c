"""Text fits the screen, whatever names, paths and messages a report holds."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradproof.diagnosis.diagnostic import Annotation, Diagnostic, Fix
from gradproof.diagnosis.report import BudgetLine, GradientReport, Report, Script, Unchecked
from gradproof.diagnosis.words import columns
from gradproof.ir.span import Span
from gradproof.judge.verdict import Verdict
from gradproof.render.to_text import Detail, to_text
from tests.render.reports import RICH, gradient
from tests.render.snapshot import assert_snapshot

LONGEST_WORD = 24  # words that are longer cannot be folded, and stand out of a narrow screen

words = st.text("abcxyz_./[]0123456789λ变数é", min_size=1, max_size=LONGEST_WORD)
prose = st.lists(words, min_size=1, max_size=30).map(" ".join)
names = st.text("abcxyz_/.:0变", min_size=1, max_size=LONGEST_WORD)
sources = st.lists(st.text("abc +*()变\t", max_size=150), min_size=1, max_size=4).map("\n".join)


@st.composite
def spans(draw: st.DrawFn) -> Span:
    line, column = draw(st.integers(1, 4)), draw(st.integers(0, 120))
    return Span("train.py", line, column, line + draw(st.integers(0, 2)), column + draw(st.integers(1, 60)))


@st.composite
def diagnostics(draw: st.DrawFn) -> Diagnostic:
    return Diagnostic(
        draw(st.sampled_from(["kink", "cancellation", "no-gradient-registered"])),
        draw(st.sampled_from(["error", "warning", "note"])),
        "proven",
        draw(prose),
        primary=Annotation(draw(spans()), draw(prose)),
        secondary=tuple(Annotation(span, draw(prose)) for span in draw(st.lists(spans(), max_size=2))),
        subject=f"d {draw(names)} / d {draw(names)}",
        evidence=tuple((label, draw(prose)) for label in draw(st.lists(words, max_size=3))),
        why=draw(prose),
        fix=draw(st.none() | st.builds(Fix, prose)),
        notes=tuple(draw(st.lists(prose, max_size=1))),
    )


@st.composite
def gradients(draw: st.DrawFn) -> GradientReport:
    return gradient(
        draw(st.sampled_from(list(Verdict))),
        source=draw(names),
        target=draw(names),
        call=draw(spans()),
        reason=draw(st.none() | prose),
        diagnostics=tuple(draw(st.lists(diagnostics(), max_size=2))),
        budget=tuple(BudgetLine(span, 0.5, "add") for span in draw(st.lists(spans(), max_size=2))),
        occurrence=draw(st.sampled_from([1, 100])),
    )


@st.composite
def reports(draw: st.DrawFn) -> Report:
    return Report(
        tuple(draw(st.lists(gradients(), max_size=3))),
        script=draw(st.none() | st.builds(Script, st.just("train.py"), prose)),
        unchecked=tuple(Unchecked(span, 3, draw(prose)) for span in draw(st.lists(spans(), max_size=1))),
        notes=tuple(draw(st.lists(prose, max_size=1))),
        sources={"train.py": draw(sources)},
    )


@settings(max_examples=150, deadline=None, derandomize=True)
@given(reports(), st.integers(60, 200), st.sampled_from(["normal", "verbose"]))
def test_no_line_is_wider_than_the_screen(report: Report, width: int, detail: Detail) -> None:
    *lines, _ = to_text(report, width=width, detail=detail).splitlines()  # the last is one line on purpose
    assert [line for line in lines if columns(line) > width] == []


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_a_rich_report_reads_as_expected_at_each_width(width: int) -> None:
    assert_snapshot(f"rich_{width}.txt", to_text(RICH, width=width))


@pytest.mark.parametrize("width", range(60, 201, 20))
def test_only_code_to_copy_is_never_folded(width: int) -> None:
    code = "+ " + "x" * 300
    fault = Diagnostic("kink", "error", "proven", "a kink", fix=Fix("mend it", patch=code))
    text = to_text(Report((gradient(Verdict.WRONG, diagnostics=(fault,)),)), width=width)
    assert re.search(rf"^ +{re.escape(code)}$", text, re.M)
