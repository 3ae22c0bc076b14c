"""What a traced function has read of Python, and whether it is still so."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("tensorflow")

from tests.audit.crashing import audited

pytestmark = pytest.mark.tensorflow

SCRIPT = """
import random
import numpy as np
import tensorflow as tf

class Settings:
    weight = 0.3

class Model:
    def __init__(self):
        self.settings = Settings()
        self.x = tf.Variable(2.0)
    @tf.function
    def loss(self):
        return self.x ** 2 * self.settings.weight

settings, table, rng = Settings(), {"weight": 0.3, "rates": [0.3, 0.4]}, np.random.default_rng(1)
epoch = 1
kept = []
model, x = Model(), tf.Variable(2.0)

def called_back(a):
    return a * np.float32(settings.weight)

@tf.function
def f():
    print("traced in epoch", epoch)
    return x ** 2 * BODY

for turn in range(2):
    with tf.GradientTape() as tape:
        y = LOSS
    tape.gradient(y, [x, model.x], unconnected_gradients="zero")
    CHANGE
"""


def warnings(folder: Path, body: str, change: str, loss: str = "f()") -> list[str]:
    text = SCRIPT.replace("BODY", body).replace("CHANGE", change).replace("LOSS", loss)
    found = audited(folder, text).gradients
    assert {str(gradient.verdict) for gradient in found} == {"correct"}
    return sorted({one.headline for gradient in found for one in gradient.diagnostics})


@pytest.mark.parametrize(
    ("body", "change", "name"),
    [
        ("settings.weight", "settings.weight = 0.7", "settings.weight"),
        ('table["weight"]', 'table["weight"] = 0.7', "table['weight']"),
        ('table["rates"][0]', 'table["rates"][0] = 0.7', "table['rates'][0]"),
    ],
)
def test_attributes_and_items_that_have_changed_are_told(
    body: str, change: str, name: str, tmp_path: Path
) -> None:
    assert f"`f` still uses {name} = 0.3, which is 0.7 by now" in warnings(tmp_path, body, change)


def test_so_is_what_a_method_reads_of_its_own_object(tmp_path: Path) -> None:
    found = warnings(tmp_path, "1.0", "model.settings.weight = 0.7", "model.loss()")
    assert found == ["`loss` still uses self.settings.weight = 0.3, which is 0.7 by now"]


@pytest.mark.parametrize("draw", ["random.random()", "np.random.rand()", "rng.normal()"])
def test_random_numbers_drawn_while_tracing_are_told_at_the_second_call(draw: str, tmp_path: Path) -> None:
    assert warnings(tmp_path, draw, "pass") == ["`f` uses the same random numbers in every call"]


@pytest.mark.parametrize(
    ("body", "change"),
    [
        ("settings.weight", "settings.other = 0.7"),
        ('table["weight"]', "table = dict(table)"),
        ("1.5", "epoch += 1"),
        ("1.5", "random.random(), np.random.rand(), rng.normal()"),
        ("tf.constant(0.5)", "settings.weight = 0.7"),
        ("(1.5 + len(kept))", "kept.append(7.0)"),
        ("(0.3 + tf.py_function(called_back, [0.0], tf.float32))", "settings.weight = 0.7"),
        ("(0.3 + tf.numpy_function(called_back, [0.0], tf.float32))", "settings.weight = 0.7"),
    ],
)
def test_what_has_not_changed_or_leaves_no_trace_is_not_spoken_of(
    body: str, change: str, tmp_path: Path
) -> None:
    assert warnings(tmp_path, body, change) == []
