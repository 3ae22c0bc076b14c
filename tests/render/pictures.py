"""Pictures for the reports to render: small ones, with everything a picture can hold."""

import numpy as np

from gradproof.diagnosis.figures import Figures, ModeRow, NodeView, Passage, ProgramView, Slice, StepCurve
from gradproof.ir.span import Span
from tests.render.samples import SOURCES, span_of

_CANCELLATION = ("cancellation_tf.py", SOURCES["cancellation_tf.py"])
_SCALED = span_of(*_CANCELLATION, "x * 1e10 + 1.0")
_CANCELLED = span_of(*_CANCELLATION, "y - 1e10")
_SQUARED = span_of(*_CANCELLATION, "z * z")


def node(id: int, op: str, inputs: tuple[int, ...], value: str, **fields: object) -> NodeView:
    given = {"dtype": "float32", "shape": (), "phase": "forward", **fields}
    return NodeView(id=id, op=op, inputs=inputs, value=value, **given)  # type: ignore[arg-type]


# ((1e10 x + 1) - 1e10)**2 at x = 1, with what TensorFlow runs for its gradient.
PROGRAM = ProgramView(
    (
        node(0, "input", (), "1.0", name="x"),
        node(1, "constant", (), "1.0e10", span=_SCALED),
        node(2, "mul", (0, 1), "1.0e10", span=_SCALED),
        node(3, "constant", (), "1.0", span=_SCALED),
        node(4, "add", (2, 3), "1.0e10", span=_SCALED),
        node(5, "sub", (4, 1), "0.0", span=_CANCELLED),
        node(6, "mul", (5, 5), "0.0", span=_SQUARED),
        node(7, "constant", (), "2.0", phase="backward"),
        node(8, "mul", (7, 5), "0.0", phase="backward", span=_SQUARED),
        node(9, "mul", (8, 1), "0.0", phase="backward", span=_SCALED),
        node(12, "sum", (9,), "0.0 to 2.0; 1 of 4 not finite", phase="backward", shape=(2, 2)),
    ),
    omitted=2,
)

# In steps of 2**-17: float32 has no numbers between 1e10 and 1e10 + 1024.
_T = np.arange(-4.0, 5.0) * 2.0**-17
_EXACT = 1e10 * _T + 1.0
_ROUNDED = np.round(1e10 * _T / 1024.0) * 1024.0

CANCELLATION = Figures(
    slice=Slice(
        direction="along `x`",
        computed_by="the recorded ops, forward and backward, run again by NumPy in float32",
        t=_T,
        proven_value=_EXACT**2,
        proven_slope=2e10 * _EXACT,
        computed_value=_ROUNDED**2,
        computed_slope=2e10 * _ROUNDED,
    ),
    steps=StepCurve(
        direction="along `x`",
        steps=np.array([1e-8, 1e-6, 1e-4, 1e-2, 1.0]),
        errors=np.array([1.0, 511.7, 1.0, 3.5e-3, np.nan]),
        usable=None,
        usable_to=1e-3,
        used=1e-6,
    ),
    modes=(
        ModeRow("TensorFlow, as it ran", "float32", "0.0", 0.0),
        ModeRow("the recorded ops, by NumPy", "float16", "nan", 0.0),
        ModeRow("the recorded ops, by NumPy", "float64", "2.0e10", 15.95),
        ModeRow("`step` in XLA", "", "2.0e10"),
        ModeRow("proven", "real numbers", "2.0e10"),
    ),
    program=PROGRAM,
    guilty=frozenset({4, 5, 8, 9}),
    shares={2: -0.25, 4: 1.0, 5: 0.002, 6: 0.248},
)

# |x| at 0.
KINK = Figures(
    slice=Slice(
        direction="along `x`",
        computed_by="the recorded ops, forward and backward, run again by NumPy in float32",
        t=np.array([-1.0, -0.5, 0.0, 0.5, 1.0]),
        proven_value=np.array([1.0, 0.5, 0.0, 0.5, 1.0]),
        proven_slope=np.array([-1.0, -1.0, np.nan, 1.0, 1.0]),
        computed_value=np.array([1.0, 0.5, 0.0, 0.5, 1.0]),
        computed_slope=np.array([-1.0, -1.0, 0.0, 1.0, 1.0]),
    ),
    lacking={
        "steps": "there is no proven slope that differences could be measured against",
        "program": "no program was recorded",
    },
)

# A sine, checked with a step that is too small: the differences fall, reach the bottom and rise again.
DIFFERENCES = Figures(
    steps=StepCurve(
        direction="along `x`",
        steps=10.0 ** np.arange(-14.0, 1.0, 2.0),
        errors=np.array([2e-2, 1e-4, 1e-6, 1e-8, 2e-11, 1.7e-9, 1.7e-5, 0.16]),
        usable=(1e-10, 1e-4),
        usable_to=1e-6,
        used=1e-14,
    ),
    lacking={
        "slice": "only calls of the function are known",
        "program": "only calls of the function are known",
    },
)

# A line in a loop that triples the gradient each time, in the same program as CANCELLATION.
LOOP = Figures(
    passages=(
        Passage(Span("train.py", 9, 8, 9, 26), "mul", tuple(3.0**k for k in range(9, -1, -1))),
        Passage(Span("train.py", 8), "matmul", (0.5,) * 8),
    ),
    modes=(ModeRow("TensorFlow, as it ran", "float32", "1.0", None),),
    program=PROGRAM,
    lacking={
        "slice": "a program of 12,000 ops and 3,000,000 numbers is too large to be run many times",
        "steps": "a program of 12,000 ops and 3,000,000 numbers is too large to be run many times",
    },
)
