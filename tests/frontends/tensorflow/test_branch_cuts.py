"""Functions of the complex plane on their cuts: there they jump, and beside them they are smooth."""

from __future__ import annotations

from typing import Any

import pytest

tf = pytest.importorskip("tensorflow")

import gradproof

pytestmark = pytest.mark.tensorflow


def complex_of(real: float, imag: float) -> Any:
    return tf.complex(tf.constant(real, tf.float64), tf.constant(imag, tf.float64))


def told(function: Any, point: Any) -> tuple[str, list[str]]:
    x = tf.Variable(point)
    with gradproof.watch() as report:
        with tf.GradientTape() as tape:
            y = function(x)
        tape.gradient(y, x)
    (row,) = report.gradients
    return str(row.verdict), [one.kind for one in row.diagnostics]


ON_THE_CUT = {
    "atan2": (lambda y: tf.atan2(y, -1.0), 0.0),
    "one entry": (lambda y: tf.reduce_sum(tf.atan2(y, [-1.0, 1.0])), [0.0, 0.5]),
    "angle": (tf.math.angle, complex_of(-2.0, 0.0)),
    "log": (lambda z: tf.math.imag(tf.math.log(z)), complex_of(-2.0, 0.0)),
    "sqrt": (lambda z: tf.math.imag(tf.sqrt(z)) ** 3, complex_of(-4.0, 0.0)),
    "asin": (lambda z: tf.math.imag(tf.math.asin(z)), complex_of(3.0, 0.0)),
    "atan": (lambda z: tf.math.real(tf.math.atan(z)), complex_of(0.0, 3.0)),
    "power": (lambda z: tf.math.real(z ** complex_of(0.5, 0.3)), complex_of(-3.0, 0.0)),
}
SMOOTH = {
    "atan2 ahead": (lambda y: tf.atan2(y, 1.0), 0.0),
    "nothing crosses": (lambda x: tf.atan2(tf.constant(0.0), x), -1.0),
    "the part that is one function": (lambda z: tf.math.real(tf.math.log(z)), complex_of(-2.0, 0.0)),
    "beside it": (lambda z: tf.math.imag(tf.sqrt(z)) ** 3, complex_of(-4.0, 1.0)),
    "a whole power": (lambda z: tf.math.real(z ** complex_of(2.0, 0.0)), complex_of(-3.0, 0.0)),
}


@pytest.mark.parametrize("name", ON_THE_CUT)
def test_on_a_cut_the_value_jumps_and_there_is_no_derivative(name: str) -> None:
    assert told(*ON_THE_CUT[name]) == ("undefined", ["jump"])


@pytest.mark.parametrize("name", SMOOTH)
def test_where_no_side_differs_the_derivative_stands(name: str) -> None:
    assert told(*SMOOTH[name]) == ("correct", [])
