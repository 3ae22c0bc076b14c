"""Reports to render: one for each verdict, and one with everything a report can hold."""

import numpy as np

from gradproof.diagnosis.diagnostic import Annotation, Diagnostic, Fix
from gradproof.diagnosis.report import BudgetLine, GradientReport, Report, Script, Unchecked
from gradproof.ir.span import Span
from gradproof.judge.verdict import Verdict
from tests.render import pictures
from tests.render.samples import (
    CANCELLATION,
    CUSTOM_GRADIENT,
    MASKED_BRANCH,
    NOT_WATCHED,
    SOURCES,
    span_of,
)

F32, F64 = 24 * np.log10(2.0), 53 * np.log10(2.0)
VERSIONS = {"version": "0.1.0", "frameworks": {"tensorflow": "2.21.0"}}


def scalar(value: float) -> np.ndarray:
    return np.array(value)


def gradient(verdict: Verdict, **fields: object) -> GradientReport:
    """A gradient of `loss` for the float32 scalar `x`, unless told otherwise."""
    given = {
        "call": Span("train.py", 12, 8, 12, 29, "step"),
        "framework": "tensorflow",
        "target": "loss",
        "source": "x",
        "shape": (),
        "dtype": "float32",
        "digits_possible": F32,
        "oracle": "ball",
        **fields,
    }
    return GradientReport(verdict=verdict, **given)  # type: ignore[arg-type]


CORRECT = gradient(
    Verdict.CORRECT,
    observed=scalar(2.0),
    reference=scalar(2.0),
    reference_radius=scalar(0.0),
    relative_error=0.0,
    digits=F32,
)

INACCURATE = gradient(
    Verdict.INACCURATE,
    call=span_of("cancellation_tf.py", SOURCES["cancellation_tf.py"], "return z * z"),
    observed=scalar(0.0),
    reference=scalar(2e10),
    reference_radius=scalar(0.0),
    relative_error=1.0,
    digits=0.0,
    diagnostics=(CANCELLATION,),
    budget=(
        BudgetLine(span_of("cancellation_tf.py", SOURCES["cancellation_tf.py"], "y - 1e10"), 0.002, "Sub"),
        BudgetLine(span_of("cancellation_tf.py", SOURCES["cancellation_tf.py"], "x * 1e10"), -0.25, "Mul"),
        BudgetLine(
            span_of("cancellation_tf.py", SOURCES["cancellation_tf.py"], "x * 1e10 + 1.0"), 1.0, "AddV2"
        ),
        BudgetLine(span_of("cancellation_tf.py", SOURCES["cancellation_tf.py"], "z * z"), 0.248, "Mul"),
    ),
    drawing=lambda: pictures.CANCELLATION,
)

WRONG = gradient(
    Verdict.WRONG,
    call=Span("custom_gradient_tf.py", 9),
    target="y",
    dtype="float64",
    digits_possible=F64,
    observed=scalar(-0.416601415864859),
    reference=scalar(-0.4161468365471424),
    reference_radius=scalar(1e-17),
    relative_error=1.09e-3,
    digits=2.96,
    diagnostics=(CUSTOM_GRADIENT,),
    drawing=lambda: pictures.DIFFERENCES,
)

UNDEFINED = gradient(
    Verdict.UNDEFINED,
    observed=scalar(0.0),
    one_sided=(scalar(-1.0), scalar(1.0)),
    drawing=lambda: pictures.KINK,
    diagnostics=(
        Diagnostic(
            kind="kink",
            severity="warning",
            certainty="proven",
            headline="`tf.abs` has two slopes at x = 0, and the gradient is neither",
            primary=Annotation(Span("train.py", 10, 11, 10, 20), "the slope jumps from -1 to 1 here"),
            fix=Fix(
                text="use a smooth length such as `tf.sqrt(x * x + 1e-6)`",
                changes_meaning="the result is larger by at most 1e-3, most of all at x = 0",
            ),
        ),
    ),
)

MISSING = gradient(
    Verdict.MISSING,
    call=Span("not_watched_tf.py", 6, 8, 6, 27),
    target="y",
    dtype="float64",
    digits_possible=F64,
    reference=scalar(-0.4161468365471424),
    reference_radius=scalar(1e-17),
    diagnostics=(NOT_WATCHED,),
)

NONFINITE = gradient(
    Verdict.NONFINITE,
    shape=(2,),
    observed=np.array([0.25, np.nan], np.float32),
    reference=np.array([0.25, 0.0]),
    reference_radius=np.zeros(2),
    digits=0.0,
    diagnostics=(MASKED_BRANCH,),
)

UNVERIFIED = gradient(
    Verdict.UNVERIFIED,
    oracle=None,
    observed=scalar(3.5),
    reason="the op `PyFunc` at line 8 runs code whose meaning is not known",
)

BY_VERDICT = {
    str(each.verdict): Report((each,), sources=SOURCES, **VERSIONS)  # type: ignore[arg-type]
    for each in (CORRECT, INACCURATE, WRONG, UNDEFINED, MISSING, NONFINITE, UNVERIFIED)
}


def _kernel() -> GradientReport:
    """A gradient of 2,400 entries, most of them right, of which three lost digits and one is infinite."""
    reference = np.random.default_rng(5).normal(size=(40, 60))
    observed = reference.astype(np.float32)
    observed[3, 7] *= 1.01
    observed[12, 0] *= 1.0001
    observed[39, 59] = np.inf
    return gradient(
        Verdict.NONFINITE,
        source="sequential/dense/kernel",
        shape=(40, 60),
        occurrence=10,
        observed=observed,
        reference=reference,
        reference_radius=np.full((40, 60), 1e-12),
        digits=0.0,
        relative_error=np.inf,
        diagnostics=(MASKED_BRANCH,),
        drawing=lambda: pictures.LOOP,
    )


RICH = Report(
    gradients=(
        CORRECT,
        INACCURATE,
        WRONG,
        UNDEFINED,
        MISSING,
        NONFINITE,
        _kernel(),
        UNVERIFIED,
        gradient(
            Verdict.UNVERIFIED,
            source="b",
            oracle=None,
            reason="the op `PyFunc` at line 8 runs code whose meaning is not known",
        ),
        gradient(Verdict.WRONG, source="gate", intended=True, observed=scalar(1.0), reference=scalar(0.0)),
        gradient(
            Verdict.CORRECT,
            source="scale",
            digits=6.31,
            diagnostics=(
                Diagnostic(
                    kind="vanishing",
                    severity="note",
                    certainty="measured",
                    headline="the gradient for `scale` is 1e9 times smaller than that for `x`",
                    primary=Annotation(Span("train.py", 12)),
                ),
            ),
        ),
        gradient(Verdict.CORRECT, source="z", order=2, oracle="differences", digits=5.0),
    ),
    script=Script("train.py", "ValueError: no more data", 1),
    unchecked=(Unchecked(Span("train.py", 12), 987, "executed in a loop; checked at 1, 2, 10 and 100"),),
    timing={"script": 1.25, "checks": 0.5},
    notes=("gradients under XLA were judged as XLA computed them",),
    sources=SOURCES,
    **VERSIONS,  # type: ignore[arg-type]
)
