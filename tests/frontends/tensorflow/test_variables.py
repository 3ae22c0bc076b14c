"""Which variable a tensor was read from, where TensorFlow does not say."""

from __future__ import annotations

from pathlib import Path

import pytest

tf = pytest.importorskip("tensorflow")

from tests.audited import audited

from gradproof.frontends.tensorflow.variables import Variables, address_of
from gradproof.judge.verdict import Verdict

pytestmark = pytest.mark.tensorflow


def test_a_buffer_belongs_to_the_variable_that_had_it_last() -> None:
    variable = tf.Variable([1.5, 2.5])
    read = variable.read_value()
    place = address_of(read)
    assert place is not None
    gone, own = 1, variable.handle._id
    variables = Variables(history={gone: [(2, place, 0)], own: [(7, place, 0)]})
    assert variables.sources_of(read, 9, is_fresh=False) == [own]
    assert variables.sources_of(read, 5, is_fresh=False) == [gone]


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
def test_a_single_number_of_any_dtype_is_known_as_its_variable(dtype: str, tmp_path: Path) -> None:
    script = tmp_path / "single.py"
    script.write_text(
        "import tensorflow as tf\n"
        f"x = tf.Variable(0.5, dtype=tf.{dtype})\n"
        "with tf.GradientTape() as tape:\n"
        "    y = tf.math.tanh(x)\n"
        "g = tape.gradient(y, x)\n",
        encoding="utf-8",
    )
    report, faults = audited(script)
    assert report.verdicts == (Verdict.CORRECT,) and not faults
