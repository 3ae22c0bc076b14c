"""Every op at its samples, carried over to each framework: its value and its gradient are those of the op."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from gradproof.domains.ieee import Ieee
from gradproof.engine.run import run
from gradproof.engine.trace import Traced, Tracer
from gradproof.fixes.verify import rounded_gradient
from gradproof.frontends.select import plain_modes
from gradproof.ir.program import Builder, Program
from gradproof.modes.model import NotRun
from gradproof.modes.rows import gradients_in
from gradproof.ops import TABLE, Op, Sample

# What a framework has no way to compute, neither by a function of its own nor by the definition of the op.
_PARTIAL = {"gamma_density", "igamma_da", "beta_density", "betainc_da", "betainc_db", "zeta_ds", "adjugate"}
_RARE = {"lstsq", "matrix_sqrt", "bessel_i_scaled", "hyp0f1", "hyp1f1", "hyp2f1", "sinc"}
_RARE |= {"sin_integral", "cos_integral"}
WITHOUT = {
    "tensorflow": {"gamma", "polygamma", "erfcx", "log_ndtr", "exp1", "softmax 1", "log_softmax 1", "det", "einsum 8",
                   "gather_nd 2"},
    "torch": {"bessel_j", "bessel_k", "bessel_k_scaled", "bessel_y", "cbrt", "gamma", "polygamma", "igamma", "igammac",
              "betainc", "zeta", "softmax 1", "log_softmax 1", "cumlogsumexp", "erfcinv", "dawson", "expint", "exp1",
              "fresnel_sin", "fresnel_cos", "spence"},
    "jax": {"bessel_j", "bessel_k", "bessel_k_scaled", "bessel_y", "betainc", "erfcinv", "dawson", "fresnel_sin",
            "fresnel_cos"},
}  # fmt: skip
# Samples at which the framework's own rule returns something else: ties, zeros, writes that are overwritten.
OWN_RULE = {
    "tensorflow": {"integer_power 12", "power 3", "xdivy 1", "xlogy 1", "xlog1py 1", "bessel_i 3", "logaddexp 1",
                   "betainc 0", "betainc 1", "zeta 0", "zeta 1", "scatter_update 0", "scatter_update 2", "recurrence 2",
                   "cumprod 1", "cumprod 2", "cumprod 3", "pad 1", "pad 2", "expint 1"},
    "torch": {"xdivy 1", "det 2", "scatter_update 0", "scatter_update 2", "recurrence 2", "cast 1"},
    "jax": {"xdivy 1", "bessel_i 1", "spence 1"},
}  # fmt: skip


def _program(op: Op, sample: Sample) -> Program | None:
    """The op on its sample, its entries weighted and summed; None where its numbers are not real."""
    builder = Builder()
    tracer = Tracer(builder, phase="forward")
    arguments = []
    for value in sample.inputs:
        array = np.asarray(value)
        if array.dtype.kind == "c":
            return None
        id = builder.input(array) if array.dtype.kind == "f" else builder.constant(array)
        arguments.append(Traced(tracer, id, array))
    y = getattr(tracer, op.name)(*arguments, **sample.params)
    if not builder.inputs or isinstance(y, tuple) or y.value.dtype.kind != "f" or y.value.size == 0:
        return None
    weights = tracer.constant(np.linspace(0.5, 1.5, y.value.size).reshape(y.shape).astype(y.value.dtype))
    total = tracer.sum(tracer.mul(y, weights), axes=tuple(range(y.value.ndim)))
    return builder.build([total.id])


PROGRAMS = {
    f"{name} {k}": program
    for name, op in TABLE.items()
    if not op.is_decision
    for k, sample in enumerate(op.samples)
    if (program := _program(op, sample)) is not None
}


# JAX compiles every step for every shape, and takes a hundred times as long as the others: one sample of each op, whose
# steps are compiled together.
SMALL_IN_JAX = {name: program for name, program in PROGRAMS.items() if name.endswith(" 0")}


def _gradients(framework: str, modes: Sequence[str], program: Program) -> tuple[Any, Sequence[Any]] | None:
    """In the first mode that can: where places are computed, nothing can be compiled."""
    by_name = {mode.name: mode for mode in plain_modes(framework)}
    for name in modes:
        with suppress(NotRun):
            return gradients_in(by_name[name], program, program.inputs)
    return None


@pytest.mark.parametrize(
    ("framework", "programs", "modes"),
    [
        pytest.param("tensorflow", PROGRAMS, ("eager",), id="tensorflow"),
        pytest.param("torch", PROGRAMS, ("eager",), id="torch"),
        pytest.param("jax", SMALL_IN_JAX, ("jit", "op by op"), id="jax"),
        pytest.param("jax", PROGRAMS, ("op by op",), id="jax-all-samples", marks=pytest.mark.nightly),
    ],
)
def test_ops_carried_over_to_a_framework_keep_their_value_and_gradient(
    framework: str, programs: dict[str, Program], modes: Sequence[str]
) -> None:
    pytest.importorskip(framework)
    refused, off = set(), set()
    for op, program in programs.items():
        gradients = _gradients(framework, modes, program)
        if gradients is None:
            refused.add(op)
            continue
        value, found = gradients
        (true,) = run(Ieee(), program).outputs()
        expected = [rounded_gradient(program, id) for id in program.inputs]
        pairs = zip((value, *found), (true, *expected), strict=True)
        if any(a is None or b is None or not np.allclose(a, b, rtol=1e-8, atol=1e-10) for a, b in pairs):
            off.add(op)
    assert off <= OWN_RULE[framework]
    known = _PARTIAL | _RARE | WITHOUT[framework]
    assert {name for name in refused if not {name, name.partition(" ")[0]} & known} == set()
