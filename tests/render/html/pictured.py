"""Reports with pictures: the rich one, a hostile one, and one of the size of a real model."""

from dataclasses import replace

import numpy as np

from gradproof.diagnosis.diagnostic import Annotation, Diagnostic, Fix
from gradproof.diagnosis.entries import EntryTable, tabulate
from gradproof.diagnosis.figures import Figures, ModeRow, NodeView, Passage, ProgramView, Slice, StepCurve
from gradproof.diagnosis.report import BudgetLine, GradientReport, Report, Script, Unchecked
from gradproof.ir.span import Span
from gradproof.judge.verdict import Verdict
from tests.render.reports import F32, RICH, gradient

FILE = "cancellation_tf.py"


def _node(id: int, op: str, inputs: tuple[int, ...], line: int | None, **fields: object) -> NodeView:
    given = {
        "dtype": "float32",
        "shape": (),
        "phase": "forward",
        "value": "1.0",
        "span": None if line is None else Span(FILE, line),
        **fields,
    }
    return NodeView(id=id, op=op, inputs=inputs, **given)  # type: ignore[arg-type]


PROGRAM = ProgramView(
    (
        _node(0, "input", (), None, name="x", value="1.0"),
        _node(1, "constant", (), 5, value="1.0e10"),
        _node(2, "mul", (0, 1), 5, value="1.0e10"),
        _node(3, "constant", (), 5, value="1.0"),
        _node(4, "add", (2, 3), 5, value="1.0e10"),
        _node(5, "sub", (4, 1), 6, value="0.0"),
        _node(6, "mul", (5, 5), 7, value="0.0", name="loss"),
        _node(7, "mul", (5, 1), 7, phase="backward", value="0.0"),
        _node(8, "add", (7, 7), 7, phase="backward", value="0.0", name="d loss / d x"),
    )
)


def slice_of_a_subtraction() -> Slice:
    t = np.linspace(-2e-7, 2e-7, 81)
    proven = (1e10 * t + 1) ** 2
    step = np.float32(1024)
    noisy = np.round((1e10 * (1 + t) + 1) / step) * step - 1e10
    return Slice(
        direction="x",
        computed_by="TensorFlow, float32",
        t=t,
        proven_value=proven,
        proven_slope=2e10 * (1e10 * t + 1),
        computed_value=noisy**2,
        computed_slope=np.where(np.arange(81) == 7, np.inf, 2e10 * noisy),
    )


def step_curve() -> StepCurve:
    steps = 10.0 ** np.arange(-12, 1.25, 0.25)
    errors = np.maximum(steps**2 / 6, 1e-16 / steps)
    return StepCurve("x", steps, errors, (2e-7, 1e-4), 1e-9, 1e-2)


PICTURES = Figures(
    slice=slice_of_a_subtraction(),
    steps=step_curve(),
    passages=(Passage(Span(FILE, 6), "sub", tuple(float(0.6**k) for k in range(60))),),
    modes=(
        ModeRow("eager", "float32", "0.0", 0.0),
        ModeRow("graph", "float32", "0.0", 0.0),
        ModeRow("XLA", "float32", "nan", 0.0),
        ModeRow("eager", "float64", "2.0e10", 16.0),
    ),
    program=PROGRAM,
    guilty=frozenset({4, 5, 7, 8}),
    shares={4: 1.0, 5: 0.002},
    lacking={},
)

LACKING = Figures(
    lacking={
        "slice": "the op `PyFunc` at line 8 runs code whose meaning is not known",
        "steps": "the gradient was returned by a custom rule, and no difference was taken",
    }
)


def pictured(report: Report, pictures: dict[int, Figures]) -> Report:
    """The report with these figures at the gradients of these numbers."""
    gradients = [
        replace(each, drawing=lambda figures=pictures[k]: figures) if k in pictures else each
        for k, each in enumerate(report.gradients)
    ]
    return replace(report, gradients=tuple(gradients))


RICH_PICTURED = pictured(RICH, {1: PICTURES, 2: LACKING})

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
        slice=replace(slice_of_a_subtraction(), direction=HOSTILE, computed_by=HOSTILE),
        steps=replace(step_curve(), direction=HOSTILE),
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


def _layer(k: int, program: ProgramView, table: EntryTable, file: str) -> GradientReport:
    is_bad = k % 10 == 3
    shares = {n: 1 / 40 for n in range(2000, 2040)}
    figures = replace(PICTURES, program=program, guilty=frozenset(range(2000, 2100)), shares=shares)
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
