"""Shared words: a Jacobian example by example, of a function whose examples are not independent."""

from __future__ import annotations

from collections.abc import Iterator

from gradproof.causes._evidence import comparison_rows, subject
from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.diagnostic import Annotation, Diagnostic, Fix
from gradproof.diagnosis.mixed_rows import mixing_ops
from gradproof.judge.verdict import Verdict


def mixed_rows(case: Case) -> Iterator[Diagnostic]:
    for node in mixing_ops(case.capture) if case.verdict is Verdict.WRONG else ():
        framework = words.framework_name(case.capture.framework)
        span = None if node is None else node.span
        call = Annotation(case.capture.call, "takes the examples for independent")
        yield Diagnostic(
            kind="framework-rule",
            severity="error",
            certainty="proven",
            headline=f"the examples of `{case.source.name}` depend on each other, and this Jacobian takes them apart",
            primary=call
            if span is None
            else Annotation(span, "an example depends on the others from here on"),
            secondary=() if span is None else (call,),
            subject=subject(case),
            evidence=comparison_rows(case),
            why=(
                f"{framework} computes a Jacobian example by example as the gradient of a sum over all examples. That "
                "is the same only if no example depends on another. Here one does, as in a normalisation over the "
                "batch, and what comes back is the sum over all of them."
            ),
            fix=Fix(
                "use `jacobian` and take its diagonal, or let the layer run with statistics of its own "
                "(`training=False`)"
            ),
            op="" if node is None else node.op,
        )
