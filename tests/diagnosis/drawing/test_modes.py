"""The same program in other precisions and modes: only what was run, and told apart."""

from __future__ import annotations

import numpy as np
import pytest

from gradproof.diagnosis.figures import ModeRow
from tests.diagnosis.drawing.drawn import figures_of


def lossy(x):  # type: ignore[no-untyped-def]
    return ((x * np.float32(1e10) + np.float32(1.0)) - np.float32(1e10)) ** 2


def by_dtype(rows: tuple[ModeRow, ...]) -> dict[str, ModeRow]:
    return {row.dtype: row for row in rows if "by NumPy" in row.mode}


def test_more_precision_mends_what_rounding_lost_and_less_does_not() -> None:
    rows = figures_of(lossy, np.float32(1.0)).modes
    assert rows[0] == ModeRow("NumPy, as it ran", "float32", "0.0", 0.0)
    assert rows[-1] == ModeRow("proven", "real numbers", "2.0e10")
    reruns = by_dtype(rows)
    assert set(reruns) == {"bfloat16", "float16", "float32", "float64"}
    assert reruns["float32"].value == "0.0"
    assert reruns["float64"].value == "2.0e10"
    assert reruns["float16"].value == "nan"
    assert reruns["float32"].digits == 0.0
    assert reruns["float64"].digits is not None
    assert reruns["float64"].digits > 15


def test_the_digits_of_each_precision_are_its_own() -> None:
    reruns = by_dtype(figures_of(np.exp, np.float32(0.7)).modes)
    digits = [reruns[dtype].digits for dtype in ("bfloat16", "float16", "float32", "float64")]
    assert digits == sorted(digits)  # type: ignore[type-var]
    assert len(set(digits)) == 4


def test_where_there_is_no_derivative_none_is_proven() -> None:
    rows = figures_of(np.abs, 0.0).modes
    assert all(row.mode != "proven" for row in rows)
    assert all(row.digits is None for row in rows)


def test_tensorflow_runs_its_own_modes() -> None:
    tf = pytest.importorskip("tensorflow")
    figures = figures_of(lambda x: ((x * 1e10 + 1.0) - 1e10) ** 2, tf.constant(1.0))
    modes = {row.mode: row.value for row in figures.modes}
    assert modes["TensorFlow, as it ran"] == "0.0"
    for mode in ("eager", "as a graph", "under XLA"):
        assert modes[f"the forward ops, by TensorFlow, {mode}"] == "0.0"
    assert figures.program is not None
    assert figures.program.nodes[0].name == "x"
    assert figures.slice is not None


def test_a_custom_gradient_is_not_replaced_by_the_rules_of_tensorflow() -> None:
    tf = pytest.importorskip("tensorflow")

    @tf.custom_gradient
    def doubled(x):  # type: ignore[no-untyped-def]
        return tf.sin(x), lambda dy: 2.0 * dy * tf.cos(x)

    figures = figures_of(doubled, tf.constant(1.0))
    assert not any("forward ops" in row.mode for row in figures.modes)
    found = figures.slice
    assert found is not None
    np.testing.assert_allclose(found.computed_slope, 2.0 * found.proven_slope, atol=1e-5)
