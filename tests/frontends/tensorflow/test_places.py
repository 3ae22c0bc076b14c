"""Where the ops of a traced function stand in the text that was written by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

tf = pytest.importorskip("tensorflow")

from tests.audited import audited

from gradproof.frontends.tensorflow.traced import autograph

pytestmark = pytest.mark.tensorflow

LONG = """
import tensorflow as tf

x = tf.Variable(0.5)


@tf.function
def orbit(x):
    for _ in range(200):
        x = 2.0 * x * (1.0 - tf.sin(x))
    return x + 1.0


with tf.GradientTape() as tape:
    y = orbit(x)
tape.gradient(y, x)
"""


def test_a_place_is_looked_for_once_however_many_ops_stand_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    original = autograph._expressions_at

    def counted(node: object, line: int) -> object:
        asked.append(line)
        return original(node, line)

    monkeypatch.setattr(autograph, "_expressions_at", counted)
    path = tmp_path / "script.py"
    path.write_text(LONG, encoding="utf-8")
    report, faults = audited(path)
    assert not faults
    assert [str(one.verdict) for one in report.gradients] == ["correct"]
    # Each level of the tree is asked once for a place, and the 800 ops stand at five places.
    assert 0 < len(asked) < 200
