"""The real libraries as a sweep sees them: calls are found, known faults too, and scripts print what was observed."""

from __future__ import annotations

import contextlib
import importlib.util
import io
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gradproof.frontends.select import library_of
from gradproof.sweep.one_op import sweep_op
from gradproof.sweep.plan import Plan
from gradproof.sweep.script import script_of

NEEDS = {"torch": ("torch", "expecttest"), "jax": ("jax",), "tensorflow": ("tensorflow",)}


def needed(framework: str) -> Any:
    missing = any(importlib.util.find_spec(name) is None for name in NEEDS[framework])
    own = {"torch": [pytest.mark.torch], "tensorflow": [pytest.mark.tensorflow]}.get(framework, [])
    return pytest.param(framework, marks=[*own, pytest.mark.skipif(missing, reason=f"no {framework}")])


ALL = pytest.mark.parametrize("framework", [needed(name) for name in NEEDS])
# An op, a point, and what is known there; what a library may mend has none.
FAULTY = {
    "torch": ("torch.acosh", "huge", "inaccurate"),
    "jax": ("jnp.unique", "ordinary", "wrong"),
    "tensorflow": ("tf.math.xlogy", "zeros", "wrong"),
}
SMOOTH = {"torch": "torch.sin", "jax": "jnp.sin", "tensorflow": "tf.sin"}


MISSING = {"torch": "torch.native_layer_norm", "tensorflow": "tf.math.zeta"}


def printed(script: str) -> float:
    return float(printed_text(script))


def printed_text(script: str) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(script, {})
    return out.getvalue().strip()


@ALL
def test_a_known_fault_is_found_and_its_script_prints_it(framework: str) -> None:
    op, point, kind = FAULTY[framework]
    faults = sweep_op(framework, op, Plan(points=(point,)))["faults"]
    assert {fault["kind"] for fault in faults} >= ({kind} if kind else set())
    for fault in faults:
        assert printed(fault["script"]) == pytest.approx(float(fault["observed"]), nan_ok=True)


@pytest.mark.parametrize("framework", [needed(name) for name in MISSING])
def test_the_script_of_a_gradient_that_is_missing_prints_none(framework: str) -> None:
    plan = Plan(dtypes=("float32",), points=("ordinary",), samples=1)
    faults = sweep_op(framework, MISSING[framework], plan)["faults"]
    assert {fault["kind"] for fault in faults} == {"missing"}
    assert {printed_text(fault["script"]) for fault in faults} == {"None"}


@ALL
def test_a_smooth_function_has_no_fault_in_any_mode_and_each_mode_has_a_script(framework: str) -> None:
    plan = Plan(dtypes=("float64",), points=("ordinary", "zeros"), samples=1)
    found = sweep_op(framework, SMOOTH[framework], plan)
    assert (found["faults"], found["reasons"]) == ([], {})
    assert found["verdicts"] == {"correct": 2}
    library = library_of(framework)
    op = next(op for op in library.ops() if op.name == SMOOTH[framework])
    sample = replace(next(op.samples("float64")), arrays={"x": np.array([0.25, -1.5, 3.0])})
    for mode in (None, *library.modes):
        text = script_of(library, sample, "x", (2,), mode)
        assert printed(text) == pytest.approx(np.cos(3.0)), mode


@pytest.mark.torch
@pytest.mark.tensorflow
def test_tracing_one_call_after_the_other_is_no_warning(caplog: pytest.LogCaptureFixture) -> None:
    tf = pytest.importorskip("tensorflow")
    library = library_of("tensorflow")
    assert library is not None
    at_one = tf.constant([1.0], tf.float64)
    for _ in range(12):
        assert library.modes["graph"](lambda x: tf.square(x), [at_one], 0, [(0,)]) == [2.0]
    assert not caplog.records


def test_dtypes_that_numpy_does_not_have_are_judged_too() -> None:
    pytest.importorskip("expecttest")
    for op in ("torch.Tensor.bfloat16", "torch.Tensor.half"):
        found = sweep_op("torch", op, Plan(dtypes=("float32",), points=("ordinary", "ones")))
        assert found["verdicts"].get("correct", 0) >= 3, op
        assert not any("TypeError" in reason for reason in found["reasons"]), op


@pytest.mark.torch
def test_ops_that_are_not_meant_for_programs_are_left_out() -> None:
    pytest.importorskip("expecttest")
    names = [op.name for op in library_of("torch").ops()]
    assert "torch.Tensor.__rmod__" in names
    assert not any(name.split(".")[-1].startswith("_native") for name in names)


@pytest.mark.torch
def test_calls_whose_result_the_documentation_leaves_open_are_not_tried() -> None:
    import torch

    from gradproof.frontends.torch.library import is_left_open

    twice, once = torch.tensor([[[0, 2], [1, 1]]]), torch.tensor([[[0, 2], [1, 0]]])
    assert is_left_open("torch.nn.functional.max_unpool1d", (twice,), {})
    assert not is_left_open("torch.nn.functional.max_unpool1d", (once,), {})
    assert not is_left_open("torch.gather", (twice,), {})
    assert is_left_open("torch.masked.cumprod", (), {"mask": torch.tensor([True, False])})


@pytest.mark.tensorflow
def test_gradients_that_the_documentation_leaves_open_are_not_tried() -> None:
    pytest.importorskip("tensorflow")
    from gradproof.frontends.tensorflow.library import is_left_open

    assert is_left_open("tf.nn.softmax_cross_entropy_with_logits")
    assert is_left_open("tf.raw_ops.QuantizeAndDequantizeV4")
    assert not is_left_open("tf.nn.sparse_softmax_cross_entropy_with_logits")
