"""A fault of ours is told in the report as one, wherever it happens: what was being done, and how to report it."""

from __future__ import annotations

import gc
import importlib
import weakref
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradproof
from gradproof import causes
from gradproof.audit import examine
from gradproof.cli import output
from gradproof.cli.main import main
from gradproof.diagnosis.cause import Cause
from gradproof.fixes import choose, kinds
from gradproof.fixes.kind import FixKind
from gradproof.judge.verdict import Verdict
from gradproof.render.to_text import to_text


def _fail(*_: Any, **__: Any) -> Any:
    raise RuntimeError("planted")


def _lossy(x: Any) -> Any:
    return np.sum(((1e18 * x + 1.0) - 1e18) ** 2)


def _assert_told(report: Any, verdict: Verdict) -> None:
    (gradient,) = report.gradients
    assert gradient.verdict is verdict
    text = " ".join(to_text(report).split())  # however it is wrapped
    assert "a fault of gradproof" in text
    assert "planted" in text
    assert "please report it" in text


def test_a_fault_in_a_detector_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    found = tuple(
        Cause(one.name, _fail, one.doc) if one.name == "cancellation" else one for one in causes.causes()
    )
    monkeypatch.setattr(causes, "causes", lambda: found)
    _assert_told(gradproof.check(_lossy, np.array([1.0])), Verdict.INACCURATE)


def test_a_fault_in_the_search_for_a_fix_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examine, "with_fix", _fail)
    _assert_told(gradproof.check(_lossy, np.array([1.0])), Verdict.INACCURATE)


def test_a_fault_in_a_kind_of_fix_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def planted(cause: str) -> list[FixKind]:
        return [replace(kind, offer=_fail) for kind in kinds.serving(cause)]

    monkeypatch.setattr(choose, "serving", planted)
    report = gradproof.check(lambda x: np.sqrt(np.sum(x * x)), np.zeros(2))
    _assert_told(report, Verdict.UNDEFINED)


SCRIPT = """
import numpy as np
import gradproof

x = gradproof.Variable(1.0)
with gradproof.GradientTape() as tape:
    y = np.sin(x)
print(float(tape.gradient(y, x)))
"""


@pytest.mark.parametrize("renderer", ["to_html", "to_json", "to_text"])
def test_a_fault_in_a_renderer_is_told_and_costs_only_what_it_renders(
    renderer: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("script.py").write_text(SCRIPT, encoding="utf-8")
    monkeypatch.setattr(output, renderer, _fail)
    status = main(["run", "--html", "told.html", "--json", "told.json", "script.py"])
    printed = capfd.readouterr()
    assert status == output.NOT_WRITTEN
    assert printed.out.startswith("0.5403")
    assert (
        "a fault of gradproof" in printed.err
        and "planted" in printed.err
        and "please report it" in printed.err
    )
    assert "d y / d x" in printed.err and "correct" in printed.err  # the verdict, however it is told
    written = {path.name for path in tmp_path.glob("told.*")}
    assert written == {"told.html", "told.json"} - {f"told.{renderer.removeprefix('to_')}"}


def _of_tensorflow() -> tuple[Any, Any]:
    tf = pytest.importorskip("tensorflow")
    return lambda x: tf.reduce_sum(tf.atan(x)), tf.constant([0.5])


def _of_torch() -> tuple[Any, Any]:
    torch = pytest.importorskip("torch")
    return lambda x: torch.atan(x).sum(), torch.tensor([0.5])


def _of_jax() -> tuple[Any, Any]:
    jnp = pytest.importorskip("jax.numpy")
    return lambda x: jnp.arctan(x).sum(), jnp.array([0.5])


@pytest.mark.parametrize(
    ("framework", "made", "op"),
    [
        pytest.param("tensorflow", _of_tensorflow, "Atan", marks=pytest.mark.tensorflow),
        pytest.param("torch", _of_torch, "atan", marks=pytest.mark.torch),
        ("jax", _of_jax, "atan"),
    ],
)
def test_a_fault_in_a_lowering_is_told_with_the_op(
    framework: str, made: Callable[[], tuple[Any, Any]], op: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    function, x = made()
    importlib.import_module(f"gradproof.frontends.{framework}.dialect")  # which fills the table
    table = importlib.import_module(f"gradproof.frontends.{framework}.lower._table").TABLE
    monkeypatch.setitem(table, op, _fail)
    report = gradproof.check(function, x)
    _assert_told(report, report.gradients[0].verdict)
    assert report.gradients[0].oracle != "ball"
    assert any("the meaning of " in note and op in note for note in report.notes)


@pytest.mark.tensorflow
def test_no_tensor_outlives_the_reading_of_its_call() -> None:
    tf = pytest.importorskip("tensorflow")
    with gradproof.watch() as report:
        x = tf.constant([0.5, 2.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.exp(x))
        gradient = tape.gradient(y, x)
        alive = [weakref.ref(one) for one in (x, y, gradient)]
    assert report.gradients[0].verdict is Verdict.CORRECT
    del x, y, gradient, tape
    gc.collect()
    assert [one() for one in alive] == [None, None, None]
