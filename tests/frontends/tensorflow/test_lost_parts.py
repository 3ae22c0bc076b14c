"""Parts of a target that its gradient does not contain are never passed over in silence."""

from __future__ import annotations

from pathlib import Path

import pytest

tf = pytest.importorskip("tensorflow")

from tests.audited import audited

from gradproof.judge.verdict import Verdict
from gradproof.render.summary_text import last_line

pytestmark = pytest.mark.tensorflow

HEAD = "import math\nimport numpy as np\nimport tensorflow as tf\n"
VARIABLE = "x = tf.Variable([1.7, 0.3])\n"
WATCHED = "x = tf.constant([1.7, 0.3])\n"
TAPE = "with tf.GradientTape() as tape:\n    tape.watch(x)\n"
END = "g = tape.gradient(z, x)\n"

SHOWN = {
    "math.pow": "    y = tf.reduce_sum(x * x)\n    z = y + math.pow(float(y), 2.0)\n",
    "pow": "    y = tf.reduce_sum(x * x)\n    z = y + pow(float(y), 3)\n",
    "math.hypot": "    y = tf.reduce_sum(x * x)\n    z = y * math.hypot(float(y), 2.0)\n",
    "np.power": "    y = x * x\n    z = tf.reduce_sum(y) + tf.reduce_sum(np.power(y.numpy(), 3))\n",
    "np.multiply": "    y = x * x\n    z = tf.reduce_sum(y * np.multiply(y, np.sin(y)))\n",
    "np.dot": "    y = x * x\n    z = tf.reduce_sum(y) * np.dot(y.numpy(), y.numpy())\n",
    "the source itself": "    z = tf.reduce_sum(x * np.sin(x.numpy()))\n",
    "the source, read by NumPy": "    z = tf.reduce_sum(x * np.sin(x))\n",
    "a power of the source": "    z = tf.reduce_sum(x * np.power(x, 2))\n",
    "a root of a sum": "    z = tf.reduce_sum(x) * np.sqrt(np.sum(x))\n",
    "a name between": "    w = np.exp(x)\n    z = tf.reduce_sum(x * w)\n",
}
POSSIBLE = {
    "cross": "    y = x * x\n    w = np.cross(np.append(y.numpy(), 1.0), [1.0, 2.0, 3.0]).astype('f')\n"
    "    z = tf.reduce_sum(y) + tf.reduce_sum(w)\n",
    "a list": "    w = [math.exp(v) for v in x.numpy().tolist()]\n    z = tf.reduce_sum(x * tf.constant(w))\n",
    "a loop": "    s = 0.0\n    for v in x.numpy():\n        s += math.cosh(v)\n    z = tf.reduce_sum(x) * s\n",
    "filled one by one": "    w = []\n    for k in range(2):\n        w.append(math.sin(x[k]))\n"
    "    z = tf.reduce_sum(x * np.array(w, 'f'))\n",
    "changed in place": "    w = np.array(x)\n    w[1] *= w[1]\n    z = tf.reduce_sum(x * w)\n",
    "an attribute": "    box.scale = float(tf.norm(x)) * 0.77\n    z = tf.reduce_sum(x * x) * box.scale\n",
    "numpy_function": "    z = tf.reduce_sum(x * tf.numpy_function(lambda v: v**2, [x], tf.float32))\n",
    "helper": "    y = x * x\n    z = tf.reduce_sum(y * helper(y))\n",
}
BOX = "class box:\n    scale = 1.0\n"
HELPER = "def helper(a):\n    b = np.asarray(a)\n    return np.convolve(b, b[::-1], 'same').astype('f')\n"
SILENT = {
    "only printed": "    y = x * x\n    print(float(tf.reduce_sum(y)))\n    z = tf.reduce_sum((y - data) ** 2) * 0.3\n",
    "a size": "    y = x * x\n    z = tf.reduce_sum(y) / float(y.shape[0]) + tf.cast(tf.size(y), tf.float32)\n",
    "data": "    y = x * x\n    z = tf.reduce_sum(tf.matmul(y[None], data[:, None]))\n",
    "its own losses": "    past = [0.7123]\n    past.append(float(tf.reduce_sum(x)))\n"
    "    z = tf.reduce_sum(x * data)\n",
    "a root of a size": "    z = tf.reduce_sum(x * math.sqrt(x.shape[0] + 1)) / len(data)\n",
    "numbers of a line whose caller reads": "    z = cubed(np.asarray(x), 3.0)\n",
    "a stop": "    y = x * x\n    z = tf.reduce_sum(y * tf.stop_gradient(y))\n",
}
CUBED = "def cubed(start, k):\n    y = 2.0 * x ** 3 / k\n    return tf.reduce_sum(y)\n"
DATA = "data = np.sin(np.arange(2.0)).astype('f') * 0.7123\n"


def judged(script: str, folder: Path) -> tuple[list[tuple[str, str, int | None]], str]:
    path = folder / "script.py"
    path.write_text(script, encoding="utf-8")
    report, faults = audited(path)
    assert not faults and set(report.verdicts) == {Verdict.CORRECT}
    found = [(one.kind, one.severity, one.span and one.span.line) for one in report.diagnostics]
    return found, last_line(report)


@pytest.mark.parametrize("source", [VARIABLE, WATCHED], ids=["variable", "constant"])
@pytest.mark.parametrize("body", SHOWN.values(), ids=SHOWN)
def test_a_part_that_is_shown_to_be_lost_is_a_warning(body: str, source: str, tmp_path: Path) -> None:
    found, last = judged(HEAD + source + TAPE + body + END, tmp_path)
    assert [(kind, severity) for kind, severity, _ in found] == [("left-framework", "warning")]
    assert "nothing to fix" not in last


@pytest.mark.parametrize("source", [VARIABLE, WATCHED], ids=["variable", "constant"])
@pytest.mark.parametrize("body", POSSIBLE.values(), ids=POSSIBLE)
def test_a_part_that_may_be_lost_is_a_note(body: str, source: str, tmp_path: Path) -> None:
    found, last = judged(HEAD + BOX + HELPER + source + TAPE + body + END, tmp_path)
    assert [(kind, severity) for kind, severity, _ in found] == [("left-framework", "note")]
    assert "may be plain numbers that were computed from `x`" in last


def test_what_was_computed_before_the_tape_is_a_note(tmp_path: Path) -> None:
    script = HEAD + VARIABLE + "y = x * x\n" + TAPE + "    z = tf.reduce_sum(x * y)\n" + END
    found, last = judged(script, tmp_path)
    assert found == [("outside-tape", "note", 5)]
    assert "was computed from `x` outside the tape and counts as constant" in last


def test_what_went_through_another_variable_is_a_note(tmp_path: Path) -> None:
    body = "    m.assign(x * x)\n    z = tf.reduce_sum(x * m)\n"
    found, last = judged(HEAD + VARIABLE + "m = tf.Variable([0.0, 0.0])\n" + TAPE + body + END, tmp_path)
    assert found == [("outside-tape", "note", 8)]
    assert "passes through a variable that holds what was computed from `x`" in last


KEPT = {
    "places of a variable": (
        "m = tf.Variable([0.0, 0.0])\n",
        "    m.scatter_nd_update([[0]], [x[0] * x[1]])\n",
        "m",
    ),
    "a slice of a variable": ("m = tf.Variable(tf.zeros([3, 2]))\n", "    m[1].assign(x * 3.0)\n", "m"),
    "a queue": ("m = tf.queue.FIFOQueue(2, [tf.float32])\n", "    m.enqueue(x * 2.0)\n", "m.dequeue()"),
    "a table": (
        "m = tf.lookup.experimental.MutableHashTable(tf.int64, tf.float32, 0.0)\nk = tf.range(2, dtype=tf.int64)\n",
        "    m.insert(k, x)\n",
        "m.lookup(k)",
    ),
}


@pytest.mark.parametrize(("before", "put", "taken"), KEPT.values(), ids=KEPT)
def test_what_was_kept_in_places_is_a_note(before: str, put: str, taken: str, tmp_path: Path) -> None:
    found, last = judged(
        HEAD + VARIABLE + before + TAPE + put + f"    z = tf.reduce_sum(x * {taken})\n" + END, tmp_path
    )
    assert [(kind, severity) for kind, severity, _ in found] == [("outside-tape", "note")]
    assert "passes through a variable that holds what was computed from `x`" in last


DISGUISED = {
    "text": "tf.strings.to_number(tf.strings.as_string(x))",
    "bytes": "tf.io.parse_tensor(tf.io.serialize_tensor(x), tf.float32)",
    "bits": "tf.bitcast(tf.bitcast(x, tf.int32), tf.float32)",
}


@pytest.mark.parametrize("way", DISGUISED.values(), ids=DISGUISED)
def test_numbers_that_go_on_as_text_or_bits_are_a_note(way: str, tmp_path: Path) -> None:
    found, last = judged(HEAD + VARIABLE + TAPE + f"    z = tf.reduce_sum(x * {way})\n" + END, tmp_path)
    assert [(kind, severity) for kind, severity, _ in found] == [("no-gradient-registered", "note")]
    assert "which has no gradient" in last


def test_numbers_that_come_back_as_they_were_read_are_a_note(tmp_path: Path) -> None:
    body = "    past.append((x * data).numpy().tolist())\n    z = tf.reduce_sum(x * tf.constant(past[-1]))\n"
    found, _ = judged(HEAD + DATA + "past = []\n" + VARIABLE + TAPE + body + END, tmp_path)
    assert [(kind, severity) for kind, severity, _ in found] == [("left-framework", "note")]


@pytest.mark.parametrize("body", SILENT.values(), ids=SILENT)
def test_constants_that_are_none_of_the_sources_are_no_matter(body: str, tmp_path: Path) -> None:
    found, last = judged(HEAD + CUBED + DATA + VARIABLE + TAPE + body + END, tmp_path)
    assert not found and last.endswith("nothing to fix")
