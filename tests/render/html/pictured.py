"""Reports that are hard on a page: a hostile one, one of the size of a real model, one with thousands of rows."""

from dataclasses import replace

import numpy as np

from gradproof.diagnosis.diagnostic import Annotation, Diagnostic, Fix
from gradproof.diagnosis.entries import EntryTable, tabulate
from gradproof.diagnosis.figures import Figures, ModeRow, NodeView, Passage, ProgramView, Slice, StepCurve
from gradproof.diagnosis.report import BudgetLine, GradientReport, Report, Script, Unchecked
from gradproof.ir.span import Span
from gradproof.judge.verdict import Verdict
from tests.render.pictures import CANCELLATION
from tests.render.reports import F32, RICH, gradient

HOSTILE = (
    '</script><script>window.broken = true</script>"\'><img src=x onerror="window.broken = true">\u202e`&amp;'
)


def hostile_report() -> Report:
    """Every string that comes from outside tries to run a script, to end one, or to reverse the text."""
    file, link = f"{HOSTILE}.py", "javascript:window.broken=true"
    source = f'x = "{HOSTILE}"  # {HOSTILE}\ny = f(x)\n'
    span = Span(file, 1, 4, 1, 30, HOSTILE)
    fault = Diagnostic(
        kind=HOSTILE,
        severity="error",
        certainty="proven",
        headline=HOSTILE,
        primary=Annotation(span, HOSTILE),
        secondary=(Annotation(Span(file, 2), link),),
        subject=HOSTILE,
        evidence=((HOSTILE, HOSTILE), (link, link)),
        why=HOSTILE,
        fix=Fix(HOSTILE, f"- {HOSTILE}\n+ {link}\n", HOSTILE, HOSTILE),
        notes=(HOSTILE,),
    )
    node = NodeView(0, HOSTILE, (), HOSTILE, (), "forward", HOSTILE, span, HOSTILE)
    figures = Figures(
        slice=replace(CANCELLATION.slice, direction=HOSTILE, computed_by=HOSTILE),
        steps=replace(CANCELLATION.steps, direction=HOSTILE),
        passages=(Passage(span, HOSTILE, (1.0, 2.0)),),
        modes=(ModeRow(HOSTILE, HOSTILE, HOSTILE, 1.0),),
        program=ProgramView((node, replace(node, id=1, inputs=(0, 7)))),
        guilty=frozenset({0}),
        shares={0: 0.5},
        lacking={HOSTILE: HOSTILE},
    )
    bad = gradient(
        Verdict.WRONG,
        call=span,
        framework=HOSTILE,
        target=HOSTILE,
        source=HOSTILE,
        dtype=HOSTILE,
        oracle=HOSTILE,
        reason=HOSTILE,
        observed=np.array([1.0, 2.0]),
        reference=np.array([1.0, 3.0]),
        digits=1.0,
        diagnostics=(fault,),
        budget=(BudgetLine(span, 0.7, HOSTILE),),
        drawing=lambda: figures,
    )
    return Report(
        (bad, bad),
        version=HOSTILE,
        frameworks={HOSTILE: HOSTILE},
        script=Script(link, HOSTILE, 1, fault),
        unchecked=(Unchecked(span, 3, HOSTILE),),
        timing={HOSTILE: 1.0},
        notes=(HOSTILE, link),
        sources={file: source},
    )


N_LAYERS, N_OPS = 50, 5_000


def _large_program(file: str) -> ProgramView:
    """Ops of a deep model: each layer multiplies, adds, and bends, on twenty source lines, there and back."""
    nodes = [NodeView(0, "input", (), "float32", (64, 450), "forward", "-3.1 to 3.2", Span(file, 1), "batch")]
    for k in range(1, N_OPS):
        op = ("matmul", "add", "tanh", "constant")[k % 4]
        inputs = () if op == "constant" else tuple({k - 1, max(k - 4, 0), max(k - 9, 0)})
        phase = "forward" if k < N_OPS // 2 else "backward"
        span = Span(file, 20 + k // 25 % 20, 4, 20 + k // 25 % 20, 40, "call")
        value = f"{-k / 700:.4f} to {k / 900:.4f}"
        nodes.append(NodeView(k, op, inputs, "float32", (64, 450), phase, value, span, f"h{k}"))  # type: ignore[arg-type]
    return ProgramView(tuple(nodes))


def _pictures() -> Figures:
    """Pictures with as many points as a real run draws."""
    t = np.linspace(-1.0, 1.0, 201)
    steps = 10.0 ** np.arange(-12, 1.25, 0.25)
    errors = np.maximum(steps**2 / 6, 1e-16 / steps)
    return Figures(
        slice=Slice("along the gradient", "TensorFlow, float32", t, t**2, 2 * t, t**2 + 1e-3, 2 * t + 1e-3),
        steps=StepCurve("along the gradient", steps, errors, (2e-7, 1e-4), 1e-9, 1e-2),
        passages=(Passage(Span("model.py", 21), "matmul", tuple(0.9**k for k in range(200))),),
        modes=CANCELLATION.modes,
    )


def _layer(k: int, program: ProgramView, table: EntryTable, file: str) -> GradientReport:
    is_bad = k % 10 == 3
    shares = dict.fromkeys(range(2000, 2040), 1 / 40)
    figures = replace(_pictures(), program=program, guilty=frozenset(range(2000, 2100)), shares=shares)
    return gradient(
        Verdict.INACCURATE if is_bad else Verdict.CORRECT,
        call=Span(file, 60, 8, 60, 40, "train"),
        source=f"model/dense_{k // 2}/{'kernel' if k % 2 else 'bias'}",
        shape=(450, 450),
        digits=1.5 if is_bad else F32,
        entries=table,
        budget=tuple(BudgetLine(Span(file, 20 + n), 0.05, "matmul") for n in range(20)),
        drawing=lambda: figures,
    )


def large_report() -> Report:
    """10 million parameters in 100 gradients, 5,000 ops; what is large is summarised, as a run does it."""
    file = "model.py"
    source = "".join(f"    h = tf.tanh(tf.matmul(h, w[{n}]) + b[{n}])\n" for n in range(1, 400))
    program = _large_program(file)
    reference = np.random.default_rng(1).normal(size=(450, 450))
    table = tabulate(reference.astype(np.float32), reference, None, F32)
    gradients = tuple(_layer(k, program, table, file) for k in range(2 * N_LAYERS))
    return Report(gradients, "0.1.0", {"tensorflow": "2.21.0"}, Script("model.py"), sources={file: source})


def many_gradients(n: int) -> Report:
    """Thousands of rows, as a long audit makes them."""
    each = [gradient(Verdict.CORRECT, source=f"w{k}", digits=F32 - k % 7, occurrence=k + 1) for k in range(n)]
    return replace(RICH, gradients=(*RICH.gradients, *each))


def trained(last: int = 10) -> Report:
    """A step whose kernel loses its digits in its last execution, and a penalty that is computed once."""
    runs = (1, 2, last) if last == 10 else tuple(range(1, last + 1))
    step, once = Span("step.py", 7, 4, 7, 30), Span("step.py", 9, 4, 9, 30)
    found = [
        gradient(
            Verdict.INACCURATE if (run, source) == (last, "kernel") else Verdict.CORRECT,
            call=step,
            source=source,
            occurrence=run,
            digits=0.5 if (run, source) == (last, "kernel") else F32,
        )
        for run in runs
        for source in ("kernel", "bias")
    ]
    return Report(
        (*found, gradient(Verdict.CORRECT, call=once, target="penalty", source="kernel", digits=F32))
    )
