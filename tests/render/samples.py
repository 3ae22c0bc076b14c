"""The four sample diagnostics of the style guide, as data: what the renderer must turn into their text."""

from gradproof.diagnosis.diagnostic import Annotation, Diagnostic, Fix
from gradproof.ir.span import Span

CANCELLATION_SOURCE = """\
import tensorflow as tf

@tf.function
def loss(x):
    y = x * 1e10 + 1.0
    z = y - 1e10
    return z * z
"""

MASKED_BRANCH_SOURCE = """\
import tensorflow as tf


def loss(x):
    logs = tf.where(x > 1e-6, tf.math.log(x), 0.0)
    return tf.reduce_sum(logs)
"""

NOT_WATCHED_SOURCE = """\
import tensorflow as tf

x = tf.constant(2.0, dtype=tf.float64)
with tf.GradientTape() as tape:
    y = tf.sin(x)
dy_dx = tape.gradient(y, x)
"""

CUSTOM_GRADIENT_SOURCE = """\
import tensorflow as tf


@tf.custom_gradient
def my_op(x):
    y = tf.sin(x)

    def gradient(dy):
        return dy * (tf.sin(x + 0.001) - tf.sin(x)) / 0.001

    return y, gradient
"""


def span_of(file: str, source: str, fragment: str, function: str = "") -> Span:
    """The span of the first occurrence of a fragment in a source."""
    start = source.index(fragment)
    line = source.count("\n", 0, start) + 1
    column = len(source[source.rfind("\n", 0, start) + 1 : start].encode())
    last = fragment.split("\n")[-1]
    end_line = line + fragment.count("\n")
    end_column = len(last.encode()) + (column if end_line == line else 0)
    return Span(file, line, column, end_line, end_column, function)


def note(file: str, source: str, fragment: str, label: str) -> Annotation:
    return Annotation(span_of(file, source, fragment), label)


CANCELLATION = Diagnostic(
    kind="cancellation",
    severity="error",
    certainty="proven",
    headline="a subtraction leaves 0 of 7 correct digits, and the gradient is built on it",
    primary=note("cancellation_tf.py", CANCELLATION_SOURCE, "y - 1e10", "computed 0, proven 1"),
    secondary=(
        note(
            "cancellation_tf.py",
            CANCELLATION_SOURCE,
            "x * 1e10 + 1.0",
            "float32 has no number between 1e10 and 1e10 + 1024",
        ),
    ),
    subject="d loss / d x",
    evidence=(
        ("TensorFlow", "0.0"),
        ("proven", "2.0e10"),
        ("agreement", "0 of 7 digits"),
        ("lost at", "line 6: the operands are 1e10 times larger than their difference"),
    ),
    why="Line 5 adds 1 to a number near 1e10. A float32 carries about 7 digits, so the 1 is rounded away. "
    "Line 6 then removes the 1e10, and what is left is that rounding. The chain rule multiplies by it, so "
    "the whole gradient becomes 0.",
    fix=Fix(
        text="subtract before you scale, so that the small number is never added to the large one",
        patch="- y = x * 1e10 + 1.0\n- z = y - 1e10\n+ z = (x - 1.0) * 1e10 + 1.0\n",
        checked="with this change TensorFlow returns 2.0e10 in float32, the proven value to 7 of 7 digits.",
    ),
    op="Sub",
    share=1.0,
)

MASKED_BRANCH = Diagnostic(
    kind="masked-branch",
    severity="error",
    certainty="measured",
    headline="the branch that `tf.where` throws away still sends NaN into the gradient",
    primary=note(
        "masked_branch_tf.py",
        MASKED_BRANCH_SOURCE,
        "tf.math.log(x)",
        "slope 1/x is infinite at x[1] = 0",
    ),
    subject="d loss / d x[1]",
    evidence=(
        ("TensorFlow", "nan"),
        ("proven", "0"),
        ("made of", "0 (not selected) * inf (slope of log at 0) = nan"),
    ),
    why="`tf.where` selects values, not computations. Going forward, the log of 0 is computed and dropped. "
    "Going backward, it receives gradient 0 and multiplies it by its own slope. At x = 0 that slope is "
    "infinite, and 0 times infinity is NaN.",
    fix=Fix(
        text="give the unselected branch an input on which it is harmless",
        patch="--- a/masked_branch_tf.py\n+++ b/masked_branch_tf.py\n@@ -5,1 +5,2 @@\n"
        "+    safe = tf.where(x > 1e-6, x, 1.0)\n"
        "-    logs = tf.where(x > 1e-6, tf.math.log(x), 0.0)\n"
        "+    logs = tf.where(x > 1e-6, tf.math.log(safe), 0.0)\n",
        checked="with this change TensorFlow returns [0.25, 0.0], the proven value in both entries.",
    ),
    op="Log",
)

NOT_WATCHED = Diagnostic(
    kind="not-watched",
    severity="error",
    certainty="measured",
    headline="the gradient for `x` is None because the tape never watched `x`",
    primary=note("not_watched_tf.py", NOT_WATCHED_SOURCE, "tape.gradient(y, x)", "returns None"),
    secondary=(
        note(
            "not_watched_tf.py",
            NOT_WATCHED_SOURCE,
            "tf.constant(2.0, dtype=tf.float64)",
            "`x` is a constant",
        ),
        note("not_watched_tf.py", NOT_WATCHED_SOURCE, "tf.GradientTape()", "this tape watched nothing"),
    ),
    subject="d y / d x",
    evidence=(("TensorFlow", "None"), ("proven", "-0.4161468365471424")),
    why="None does not mean zero. `y` does depend on `x` (line 5), but a tape records only what it watches: "
    "trainable variables, and tensors passed to `tape.watch`. So there is no recorded path from `y` back "
    "to `x`.",
    fix=Fix(
        text="watch the constant before you use it; if `x` is a parameter, make it a tf.Variable",
        patch="  with tf.GradientTape() as tape:\n+     tape.watch(x)\n      y = tf.sin(x)\n",
        checked="with this change TensorFlow returns -0.4161468365471424, the proven value to 16 of 16 "
        "digits.",
    ),
)

CUSTOM_GRADIENT = Diagnostic(
    kind="custom-gradient",
    severity="error",
    certainty="proven",
    headline="the hand-written gradient of `my_op` is not the derivative of its forward",
    primary=note(
        "custom_gradient_tf.py",
        CUSTOM_GRADIENT_SOURCE,
        "(tf.sin(x + 0.001) - tf.sin(x)) / 0.001",
        "a forward difference",
    ),
    secondary=(
        note(
            "custom_gradient_tf.py",
            CUSTOM_GRADIENT_SOURCE,
            "tf.sin(x)",
            "the forward; its derivative is cos(x)",
        ),
    ),
    subject="d y / d x at x = 2",
    evidence=(
        ("TensorFlow", "-0.4166014158648590"),
        ("proven", "-0.4161468365471424"),
        ("agreement", "2 of 16 digits"),
        ("difference", "-4.546e-4; a step of 0.001 predicts step/2 * y'' = -4.546e-4"),
    ),
    why="A forward difference over a step h misses the derivative by about h/2 times the second derivative. "
    "Here that prediction equals the observed difference, so the step is the cause, not rounding. A smaller "
    "step trades this error for cancellation; no step gives 16 digits.",
    fix=Fix(
        text="return the exact derivative",
        patch="-        return dy * (tf.sin(x + 0.001) - tf.sin(x)) / 0.001\n"
        "+        return dy * tf.cos(x)\n",
        checked="with this change TensorFlow returns -0.4161468365471424, the proven value to 16 of 16 "
        "digits.",
    ),
    op="Mul",
)

SAMPLES = {
    "cancellation": CANCELLATION,
    "masked_branch": MASKED_BRANCH,
    "not_watched": NOT_WATCHED,
    "custom_gradient": CUSTOM_GRADIENT,
}

SOURCES = {
    "cancellation_tf.py": CANCELLATION_SOURCE,
    "masked_branch_tf.py": MASKED_BRANCH_SOURCE,
    "not_watched_tf.py": NOT_WATCHED_SOURCE,
    "custom_gradient_tf.py": CUSTOM_GRADIENT_SOURCE,
}
