"""Only what returns the bits of the user's run is called that; what ran in other pieces has a line of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gradproof.audit.collected import Collector
from gradproof.frontends.select import attach_all, plain_modes
from gradproof.modes.model import CallModes
from gradproof.modes.table import compared
from gradproof.options import Options

jax = pytest.importorskip("jax")
jnp = jax.numpy

X = np.random.default_rng(20).normal(size=20).astype(np.float32)


def _cubes(x: Any) -> Any:
    return jnp.sum((x * 1.7 + 0.3) ** 3)


_product = jax.jit(lambda x: x * 1.7)


def _partly(x: Any) -> Any:
    return jnp.sum((_product(x) + 0.3) ** 3)


RUNS = {
    "op by op": jax.value_and_grad(_cubes),
    "grad of jit": jax.value_and_grad(jax.jit(_cubes)),
    "jit": jax.jit(jax.value_and_grad(_cubes)),
    "parts, as it ran": jax.value_and_grad(_partly),
}


def _in_all_modes(run: Any) -> tuple[CallModes, Any]:
    collector = Collector()
    attached = attach_all(collector.receive, lambda occurrence: True)
    try:
        returned = run(jnp.asarray(X))
    finally:
        for one in attached:
            one.ended()
            one.remove()
    (capture,) = collector.captures
    modes = [replace(mode, precisions=()) for mode in plain_modes("jax")]
    found = compared(capture, modes, [], Options())
    assert found is not None
    return found, returned


@pytest.mark.parametrize("name", RUNS)
def test_the_own_run_is_the_one_that_has_its_bits(name: str) -> None:
    call, (value, gradient) = _in_all_modes(RUNS[name])
    (own,) = (line for line in call.lines if line.is_own)
    assert own.mode == name
    assert np.array_equal(own.value, value)
    assert own.cells[0].gradient is not None and np.array_equal(own.cells[0].gradient, gradient)


def test_a_compiled_function_that_is_differentiated_is_explained_like_a_compiled_gradient() -> None:
    call, _ = _in_all_modes(RUNS["grad of jit"])
    (own,) = (line for line in call.lines if line.is_own)
    assert ("add", "fused-multiply-add") in [(one.op, one.whose.kind) for one in own.cells[0].partings]
