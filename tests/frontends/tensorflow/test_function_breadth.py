"""Every function of the samples is judged correct, by a tape around it and by one inside a traced function.

CI takes one function in five; with `GRADPROOF_NIGHTLY` set it is all of them.
"""

from __future__ import annotations

import os
from typing import Any

import pytest

import gradproof

tf = pytest.importorskip("tensorflow")

from tests.frontends.tensorflow.function_samples import SAMPLES, number

pytestmark = pytest.mark.tensorflow

SHARE = 1 if "GRADPROOF_NIGHTLY" in os.environ else 5


@pytest.mark.parametrize("name", list(SAMPLES)[::SHARE])
@pytest.mark.parametrize("traced", [False, True], ids=["eager", "function"])
def test_a_gradient_of_tensorflow_is_judged_correct(name: str, traced: bool) -> None:
    function, point = SAMPLES[name]
    x = tf.Variable(point)

    def gradient() -> Any:
        with tf.GradientTape() as tape:
            y = number(function, x)
        return tape.gradient(y, x)

    with gradproof.watch() as report:
        (tf.function(gradient) if traced else gradient)()
    assert [(row.source, str(row.verdict), row.reason) for row in report.gradients] == [
        ("x", "correct", None)
    ]
    assert report.notes == ()
