"""The function is not the same function when it is called again.

What it finds
    A target that was computed from freshly drawn random numbers; where `check` calls a function twice, another
    result or changed arguments at the second call; and a checkpoint that computes other numbers the second time.

Why it spoils a gradient
    A gradient belongs to one function at one point. If the next call computes another function, the gradient says
    nothing about it, a finite-difference check must fail, and two runs cannot be compared.

Example
    noise = tf.random.normal([2])           # new numbers in each call
    loss = tf.reduce_sum(((x + noise) * w) ** 2)

Write instead
    draw the numbers outside and pass them in, or use `tf.random.stateless_normal` with a seed

Stays silent when
    the numbers follow from a seed that is passed in; or
    they were drawn before and are data to this computation; or
    they do not reach the target. In a line that runs again and again, as a training does, it is only noted; so are
    samples of a distribution whose parameters are learnt, as in `mean + exp(log_variance / 2) * noise`.
"""

from __future__ import annotations

from collections.abc import Iterator

from gradproof.causes._evidence import comparison_rows, subject
from gradproof.causes._source import line_of
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.cause import Cause
from gradproof.diagnosis.diagnostic import Annotation, Diagnostic, Fix, Severity, annotated
from gradproof.diagnosis.occasion import Occasion
from gradproof.ir.capture import Break
from gradproof.ir.surroundings import Drawn

_SPELLED_OUT = ("random", "normal(", "uniform(", "bernoulli", "gamma(", "poisson", "shuffle")


def find(case: Case) -> Iterator[Diagnostic]:
    change = case.source.overwritten
    if case.was_overwritten and change is not None and change.kind == "impure":
        yield _again(case, change)
    seen: set[tuple[str, int]] = set()
    for drawn in case.capture.around.drawn:
        place = (drawn.span.file, drawn.span.line)
        if place not in seen:
            seen.add(place)
            yield _diagnose(case, drawn)


def _again(case: Case, change: Break) -> Diagnostic:
    """A checkpoint that computes another function in the backward pass than in the forward."""
    return Diagnostic(
        kind="impure",
        severity="error",
        certainty="measured",
        headline="the checkpoint computes other numbers when it is run again in the backward pass",
        primary=annotated(change.span, change.label),
        secondary=tuple(Annotation(span, label) for span, label in change.contributing),
        subject=subject(case),
        evidence=comparison_rows(case),
        why=(
            "A checkpoint keeps no numbers for the derivative, and computes them once more when they are needed. Here "
            "they came out otherwise, as with new random numbers, and the gradient is that of neither run."
        ),
        fix=Fix(
            "keep the state of the random numbers (`preserve_rng_state`), and compute the same in both runs"
        ),
    )


def _diagnose(case: Case, drawn: Drawn) -> Diagnostic:
    # Layers such as dropout draw numbers as part of what they are, and so does a model that samples; a line that
    # asks for noise has a choice.
    line = line_of(case, drawn.span)
    is_explicit = any(word in line for word in _SPELLED_OUT)
    severity: Severity = "warning" if is_explicit and not drawn.is_sample else "note"
    target = case.capture.target
    return Diagnostic(
        kind="impure",
        severity=severity,
        certainty="measured",
        headline=f"`{target}` is computed from random numbers that are drawn anew each time",
        primary=Annotation(drawn.span, "new random numbers in every call"),
        why=(
            f"The gradient belongs to the numbers that were drawn this time, and for them it was judged. The next "
            f"computation of `{target}` draws others and is another function, so two calls cannot be compared."
        ),
        fix=Fix("draw the numbers outside and pass them in, or draw them from a seed that is an argument"),
        op=drawn.op,
    )


CAUSE = Cause(name="impure", find=find, doc=__doc__ or "", on=(Occasion.AROUND,))
