"""From a script with a fault to a patched script without it: what the fix promised is what the patch delivers."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from gradproof.diagnosis import words
from gradproof.diagnosis.report import GradientReport
from tests.fixes.patched import audited, changed, patched

# What is computed, the start, the kind of the cause, and the lines that the patch adds.
NUMPY = {
    "abs at 0": ("loss = np.sum(np.abs(x))", "[0.0, 3.0]", "kink", ["loss = np.sum(np.sqrt(np.square(x) + 1e-6))"]),
    "relu at 0": (
        "loss = np.sum(np.maximum(x, 0.0))",
        "[0.0, 3.0]",
        "kink",
        ["loss = np.sum(0.001 * np.logaddexp(0, x / 0.001))"],
    ),
    "a maximum inside a product": (
        "loss = np.sum(np.maximum(x, 2.0) * 3.0)",
        "[2.0, 3.0]",
        "kink",
        ["loss = np.sum((2.0 + 0.001 * np.logaddexp(0, (x - 2.0) / 0.001)) * 3.0)"],
    ),
    "a minimum": (
        "loss = np.sum(np.minimum(x, 2.0))",
        "[2.0, 3.0]",
        "kink",
        ["loss = np.sum(x - 0.001 * np.logaddexp(0, (x - 2.0) / 0.001))"],
    ),
    "clipping": (
        "loss = np.sum(np.clip(x, 0.0, 1.0))",
        "[1.0, 0.3]",
        "kink",
        ["loss = np.sum(0.001 * (np.logaddexp(0, x / 0.001) - np.logaddexp(0, (x - 1.0) / 0.001)))"],
    ),
    "the largest of two": (
        "loss = np.max(x)",
        "[2.0, 2.0]",
        "kink",
        ["loss = 0.001 * np.logaddexp.reduce(x / 0.001)"],
    ),
    "a switch": (
        "loss = np.where(x >= 1.0, 2.0 * x, 0.0)",
        "1.0",
        "jump",
        ["loss = 2.0 * x * (1 + np.tanh((x - 1.0) / 0.001)) / 2"],
    ),
    "sqrt at 0": ("loss = np.sum(np.sqrt(x))", "[0.0, 4.0]", "singular-point", ["loss = np.sum(np.sqrt(x + 1e-6))"]),
    "a length of 0": (
        "loss = np.linalg.norm(x)",
        "[0.0, 0.0]",
        "singular-point",
        ["loss = np.sqrt(np.sum(np.square(x)) + 1e-6)"],
    ),
    "a direction without a length": (
        "n = np.sqrt(np.sum(x * x))\nloss = np.sum(x / n)",
        "[0.0, 0.0]",
        "invalid-domain",
        ["n = np.sqrt(np.sum(x * x) + 1e-6)"],
    ),
    "a length squared": (
        "n = np.sqrt(np.sum(x * x))\nloss = n * n",
        "[0.0, 0.0]",
        "singular-point",
        ["loss = np.sum(x * x)"],
    ),
    "arccos at 1": ("loss = np.arccos(x)", "1.0", "singular-point", ["loss = np.arccos(x * 0.999999)"]),
    "a power with base 0": (
        "loss = np.sum(x ** 0.3)",
        "[0.0, 2.0]",
        "singular-point",
        ["loss = np.sum((x + 1e-6) ** 0.3)"],
    ),
    "a masked logarithm": (
        "w = np.array([0.0, 1.0])\nloss = np.sum(w * np.log(x))",
        "[0.0, 2.0]",
        "masked-branch",
        ["safe = np.where(w != 0, x, 1.0)", "loss = np.sum(w * np.log(safe))"],
    ),
    "a slice": ("loss = np.log(x)[0]", "[4.0, 0.0]", "masked-branch", ["loss = np.log(x[0])"]),
    "an exponential too large": (
        "loss = np.where(x < 20.0, np.exp(x), 1.0 + x)",
        "np.float32(100.0)",
        "masked-branch",
        ["safe = np.where(x < 20.0, x, 1.0)", "loss = np.where(x < 20.0, np.exp(safe), 1.0 + x)"],
    ),
    "a narrow cast": (
        "h = x.astype(np.float16)\nloss = (h * h).astype(np.float64)",
        "1.2345678",
        "low-precision",
        ["h = x.astype(np.float64)"],
    ),
    "a column and a row": (
        "y = np.array([1.0, 2.0, 4.0])\nloss = np.mean((x - y) ** 2)",
        "[[1.0], [2.0], [3.0]]",
        "silent-broadcast",
        ["loss = np.mean((x[:, 0] - y) ** 2)"],
    ),
    "two corners": (
        "h = np.maximum(x, 0.0)\nloss = np.sum(h) + np.abs(x[0])",
        "[0.0, 3.0]",
        "kink",
        ["h = 0.001 * np.logaddexp(0, x / 0.001)", "loss = np.sum(h) + np.sqrt(np.square(x[0]) + 1e-6)"],
    ),
    "a logarithm of a sum of exponentials": (
        "loss = np.log(np.sum(np.exp(x)))",
        "[1000.0, 999.0]",
        "overflow",
        ["loss = np.logaddexp.reduce(x)"],
    ),
}  # fmt: skip
TENSORFLOW = {
    "abs at 0": (
        "loss = tf.reduce_sum(tf.abs(x))",
        "[0.0, 3.0]",
        "kink",
        ["loss = tf.reduce_sum(tf.sqrt(tf.square(x) + 1e-6))"],
    ),
    "relu at 0": (
        "loss = tf.reduce_sum(tf.nn.relu(x))",
        "[0.0, 3.0]",
        "kink",
        ["loss = tf.reduce_sum(0.001 * tf.nn.softplus(x / 0.001))"],
    ),
    "clipping": (
        "loss = tf.reduce_sum(tf.clip_by_value(x, 0.5, 1.0))",
        "[1.0, 0.7]",
        "kink",
        ["loss = tf.reduce_sum(0.5 + 0.001 * (tf.nn.softplus((x - 0.5) / 0.001) - tf.nn.softplus((x - 1) / 0.001)))"],
    ),
    "a switch": (
        "loss = tf.where(x >= 1.0, 2.0 * x, 0.0)",
        "1.0",
        "jump",
        ["loss = 2.0 * x * tf.sigmoid((x - 1.0) / 0.001)"],
    ),
    "a length of 0": (
        "loss = tf.norm(x)",
        "[0.0, 0.0]",
        "singular-point",
        ["loss = tf.sqrt(tf.reduce_sum(tf.square(x)) + 1e-6)"],
    ),
    "the largest of two": (
        "loss = tf.reduce_max(x)",
        "[2.0, 2.0]",
        "kink",
        ["loss = 0.001 * tf.reduce_logsumexp(x / 0.001)"],
    ),
    "a masked logarithm": (
        "w = tf.constant([0.0, 1.0])\nloss = tf.reduce_sum(w * tf.math.log(x))",
        "[0.0, 2.0]",
        "masked-branch",
        ["safe = tf.where(w != 0, x, 1.0)", "loss = tf.reduce_sum(w * tf.math.log(safe))"],
    ),
    "a step": (
        "loss = tf.reduce_sum(tf.cast(x > 1.5, tf.float32))",
        "[1.0, 2.0]",
        "discrete-op",
        ["loss = tf.reduce_sum(tf.sigmoid((x - 1.5) / 0.1))"],
    ),
    "an argmax": (
        "loss = tf.cast(tf.argmax(x), tf.float32) * 2.0",
        "[1.0, 2.0]",
        "discrete-op",
        ["loss = tf.reduce_sum(tf.nn.softmax(x) * tf.range(2.0)) * 2.0"],
    ),
    "a function of NumPy": (
        "loss = tf.constant(np.sin(x.numpy()) + 1.0) * 3.0",
        "2.0",
        "left-framework",
        ["loss = (tf.sin(x) + 1.0) * 3.0"],
    ),
    "a stopped way": ("loss = tf.stop_gradient(x + 1.0) * 2.0", "2.0", "stop-gradient", ["loss = (x + 1.0) * 2.0"]),
    "a column and a row": (
        "loss = tf.reduce_mean((x - tf.constant([1.0, 2.0, 4.0])) ** 2)",
        "[[1.0], [2.0], [3.0]]",
        "silent-broadcast",
        ["loss = tf.reduce_mean((x[:, 0] - tf.constant([1.0, 2.0, 4.0])) ** 2)"],
    ),
}  # fmt: skip
RULES = {
    "a finite difference": ("tf.sin(x)", "up * (tf.sin(x + 0.01) - tf.sin(x)) / 0.01", "up * tf.cos(x)"),
    "a missing term": ("x * tf.sin(x)", "up * tf.sin(x)", "up * tf.sin(x) + up * x * tf.cos(x)"),
    "a missing factor": ("tf.exp(tf.sin(x))", "up * tf.exp(tf.sin(x))", "up * y * tf.cos(x)"),
    "not linear": ("tf.sin(x)", "up * up * tf.cos(x)", "up * tf.cos(x)"),
    "some entries": ("tf.sin(x)", "up * tf.cos(x) * tf.constant([1.0, 1.5])", "up * tf.cos(x)"),
    "NaN": ("tf.sin(x)", "up * tf.cos(x) * float('nan')", "up * tf.cos(x)"),
    "the sign": ("tf.sin(x)", "-up * tf.cos(x)", "-(-up * tf.cos(x))"),
    "a factor": ("x ** 2", "up * x", "2 * (up * x)"),
    "the upstream gradient": ("tf.sin(x)", "tf.cos(x)", "up * tf.cos(x)"),
}
_NUMPY_HEAD = "import numpy as np\nimport gradproof as gp\nx = gp.Variable(np.array({start}))\n"
_TENSORFLOW_HEAD = "import numpy as np\nimport tensorflow as tf\nx = tf.Variable({start})\n"
_NO_TENSORFLOW = importlib.util.find_spec("tensorflow") is None


def _script(head: str, tape: str, body: str, start: str) -> str:
    inside = "".join(f"    {line}\n" for line in body.split("\n"))
    return head.format(start=start) + f"with {tape}() as tape:\n{inside}print(tape.gradient(loss, x))\n"


def _holds(before: GradientReport, after: GradientReport, kind: str) -> None:
    """The cause is gone, the verdict is right, and the numbers are those that the fix had promised."""
    assert kind in {one.kind for one in before.diagnostics}
    assert str(after.verdict) == "correct"
    assert kind not in {one.kind for one in after.diagnostics}
    fix = next(one.fix for one in before.diagnostics if one.kind == kind)
    assert fix is not None
    assert after.observed is not None
    if after.observed.ndim < 2:
        assert words.array_text(after.observed, after.dtype) in fix.checked


@pytest.mark.parametrize("name", NUMPY)
def test_a_patched_script_on_numpy_is_mended(name: str, tmp_path: Path) -> None:
    body, start, kind, added = NUMPY[name]
    before, diff, after = patched(_script(_NUMPY_HEAD, "gp.GradientTape", body, start), tmp_path)
    assert [line[1:] for line in changed(diff) if line[0] == "+"] == added
    _holds(before, after, kind)


@pytest.mark.tensorflow
@pytest.mark.skipif(_NO_TENSORFLOW, reason="tensorflow is not installed")
@pytest.mark.parametrize("name", TENSORFLOW)
def test_a_patched_script_on_tensorflow_is_mended(name: str, tmp_path: Path) -> None:
    body, start, kind, added = TENSORFLOW[name]
    before, diff, after = patched(_script(_TENSORFLOW_HEAD, "tf.GradientTape", body, start), tmp_path)
    assert [line[1:] for line in changed(diff) if line[0] == "+"] == added
    _holds(before, after, kind)


@pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="jax is not installed")
def test_a_comparison_that_a_method_casts_is_written_smooth(tmp_path: Path) -> None:
    source = (
        "import jax\nimport jax.numpy as jnp\ndef open_gates(a):\n    return (a > 0.0).astype(jnp.float32)\n"
        "print(jax.grad(lambda a: jnp.sum(jnp.arange(1.0, 4.0) * open_gates(a)))(jnp.array([5.0, -3.0, 2.0])))\n"
    )
    before, diff, after = patched(source, tmp_path)
    assert changed(diff) == ["-return (a > 0.0).astype(jnp.float32)", "+return jax.nn.sigmoid(a)"]
    _holds(before, after, "discrete-op")


@pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="jax is not installed")
def test_what_a_call_is_handed_is_guarded_with_all_its_axes(tmp_path: Path) -> None:
    """The root in a norm takes one number where the text hands over two: its condition did not fit the text."""
    source = (
        "import jax\nimport jax.numpy as jnp\ndef energy(p):\n"
        "    d = jnp.linalg.norm(p[:, None] - p[None, :], axis=-1)\n"
        "    return jnp.sum(jnp.where(jnp.eye(3) > 0, 0.0, 1.0 / (d + 1.0)))\n"
        "print(jax.grad(energy)(jnp.array([[0.0, 0.0], [1.0, 0.0], [1.0, 2.0]])))\n"
    )
    before, diff, after = patched(source, tmp_path)
    assert changed(diff)[1:] == [
        "+safe = jnp.where((jnp.eye(3) > 0)[..., None], 1.0, p[:, None] - p[None, :])",
        "+d = jnp.linalg.norm(safe, axis=-1)",
    ]
    _holds(before, after, "masked-branch")


@pytest.mark.tensorflow
@pytest.mark.skipif(_NO_TENSORFLOW, reason="tensorflow is not installed")
@pytest.mark.parametrize("name", RULES)
def test_a_patched_rule_returns_the_derivative(name: str, tmp_path: Path) -> None:
    forward, rule, mended = RULES[name]
    source = (
        "import tensorflow as tf\n@tf.custom_gradient\ndef f(x):\n    y = "
        + forward
        + "\n    def rule(up):\n"
        f"        return {rule}\n    return y, rule\nx = tf.Variable([1.0, 2.0])\n"
        "with tf.GradientTape() as tape:\n    loss = tf.reduce_sum(f(x) ** 2)\nprint(tape.gradient(loss, x))\n"
    )
    before, diff, after = patched(source, tmp_path)
    assert [one.kind for one in before.diagnostics] == ["custom-gradient"]
    assert changed(diff) == [f"-return {rule}", f"+return {mended}"]
    assert str(after.verdict) == "correct"


@pytest.mark.tensorflow
@pytest.mark.skipif(_NO_TENSORFLOW, reason="tensorflow is not installed")
def test_a_step_that_depends_on_a_condition_is_not_rewritten(tmp_path: Path) -> None:
    """`w -= w` is not what the other branch of `w = w - step if ready else w` does."""
    path = tmp_path / "script.py"
    path.write_text(
        "import tensorflow as tf\nready = True\nw = tf.Variable(2.0)\nw = w - 0.1 if ready else w\n"
        "with tf.GradientTape() as tape:\n    y = w * w\nprint(tape.gradient(y, w))\n",
        encoding="utf-8",
    )
    (gradient,) = audited(path).gradients
    assert [one.kind for one in gradient.diagnostics] == ["reassigned-variable"]
    assert gradient.diagnostics[0].fix is not None
    assert gradient.diagnostics[0].fix.patch == ""


@pytest.mark.tensorflow
@pytest.mark.skipif(_NO_TENSORFLOW, reason="tensorflow is not installed")
def test_a_function_is_not_written_out_where_its_line_says_the_change(tmp_path: Path) -> None:
    """Written out at its call it said what was there before: the lines did not do what was called checked."""
    source = (
        "import tensorflow as tf\ne = tf.Variable([[1.0, 2.0], [1.0, 2.0], [0.0, -1.0]])\ndef triplet(e):\n"
        "    near = tf.norm(e[0] - e[1])\n"
        "    return tf.maximum(near - tf.norm(e[0] - e[2]) + 1.0, 0.0) + 0.1 * near\n"
        "with tf.GradientTape() as tape:\n    loss = triplet(e)\nprint(tape.gradient(loss, e))\n"
    )
    before, diff, after = patched(source, tmp_path)
    assert changed(diff) == [
        "-near = tf.norm(e[0] - e[1])",
        "+near = tf.sqrt(tf.reduce_sum(tf.square(e[0] - e[1])) + 1e-6)",
    ]
    _holds(before, after, "singular-point")
