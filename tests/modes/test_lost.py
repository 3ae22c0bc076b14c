"""From which op on a mode is off: named also where the run op by op is off itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gradproof.frontends.check.request import Request
from gradproof.frontends.select import frontend_for, plain_modes
from gradproof.judge.verdict import Verdict
from gradproof.modes.model import CallModes
from gradproof.modes.table import compared
from gradproof.options import Options

tf = pytest.importorskip("tensorflow")
torch = pytest.importorskip("torch")
jax = pytest.importorskip("jax")


def _call(function: Any, x: Any, names: tuple[str, ...]) -> CallModes:
    (capture,) = frontend_for((x,), {}).check(Request(function, (x,))).captures
    modes = [mode for mode in plain_modes(capture.framework) if mode.name in names]
    found = compared(capture, [replace(mode, precisions=("float64",)) for mode in modes], [], Options())
    assert found is not None
    return found


def test_the_op_that_loses_the_digits_op_by_op_is_named() -> None:
    def shifted(x: Any) -> Any:
        y = x + 1e8
        return (y - 1e8) ** 2

    call = _call(shifted, torch.tensor(3.3), ("eager", "one thread"))
    lost = call.lines[0].cells[0].lost
    assert lost is not None and lost.span is not None
    assert (lost.op, lost.phase, lost.span.line) == ("add", "forward", shifted.__code__.co_firstlineno + 1)
    assert lost.exact.startswith("1.00000003299999") and lost.other == "1.0e8"
    assert lost.share is not None and lost.share > 0.99
    assert f"are inaccurate, from `add` in line {lost.span.line} on" in call.conclusion.verdict
    assert {line.mode: line.cells[0].lost for line in call.lines if line.dtype == "float32"} == {
        "eager": lost,
        "one thread": lost,
    }


def test_errors_that_cancel_in_part_have_shares_below_one() -> None:
    call = _call(lambda x: torch.log(torch.exp(x) + 1) - x, torch.tensor(14.0), ("eager",))
    lost = call.lines[0].cells[0].lost
    assert lost is not None and lost.phase == "backward" and lost.share is not None
    assert 0.3 < lost.share <= 1.0
    assert "which later ops enlarge 1e6 times" in lost.whose.text


def test_the_first_op_that_is_no_number_is_named() -> None:
    call = _call(lambda x: jax.numpy.log(jax.numpy.exp(x)), jax.numpy.asarray(100.0), ("op by op",))
    cell = call.lines[0].cells[0]
    assert cell.verdict is Verdict.NONFINITE and cell.lost is not None
    assert (cell.lost.op, cell.lost.phase, cell.lost.other) == ("exp", "forward", "inf")
    assert cell.lost.inputs == ("100.0",)
    assert "not finite (0.0 of 7.2 digits), from `exp` in line" in call.conclusion.verdict


def test_what_rounding_does_not_explain_has_no_such_op() -> None:
    @tf.custom_gradient
    def off(x: Any) -> Any:
        return x * x, lambda upstream: upstream * 3.0 * x

    call = _call(lambda x: off(x) * 2.0, tf.constant(1.5), ("eager",))
    assert call.lines[0].verdict is Verdict.WRONG
    assert call.lines[0].cells[0].lost is None and " from " not in call.conclusion.verdict


def test_matrix_products_show_no_single_number_of_their_inputs() -> None:
    from gradproof.ir.program import Node
    from gradproof.modes.op_seen import inputs_shown

    x = np.ones((4, 4), np.float32)
    product = Node(0, "matmul", (1, 2), "float32", (4, 4))
    assert inputs_shown(product, [x, x], (0, 1)) == ("16 numbers of shape (4, 4)",) * 2
    assert inputs_shown(replace(product, op="mul"), [x, x], (0, 1)) == ("1.0", "1.0")


def test_large_errors_of_16_bits_are_taken_one_by_one() -> None:
    def normed(x: Any) -> Any:
        m = jax.numpy.mean(x)
        v = jax.numpy.mean((x - m) ** 2)
        return jax.numpy.sum(((x - m) / jax.numpy.sqrt(v + 1e-5)) ** 3)

    x = jax.numpy.array(np.random.RandomState(0).randn(32), jax.numpy.bfloat16)
    cell = _call(normed, x, ("op by op",)).lines[0].cells[0]
    assert cell.verdict is Verdict.INACCURATE and cell.lost is not None and cell.lost.span is not None
    assert cell.lost.share is not None and 0 < cell.lost.share <= 1


def test_what_each_op_adds_to_an_error_adds_up_however_large_it_is() -> None:
    from gradproof.domains.ieee import Ieee
    from gradproof.engine.run import run
    from gradproof.ir.program import Builder
    from gradproof.modes.run_errors import one_by_one, run_errors, with_values

    b, of = Builder(), {"dtype": "float16", "shape": ()}
    x = b.input(np.float16(0.1))
    difference = b.add(
        "sub", b.add("add", x, b.constant(np.float16(100)), **of), b.constant(np.float16(100)), **of
    )
    last = b.add("exp", b.add("mul", difference, b.constant(np.float16(80)), **of), **of)
    program = b.build([last])
    values = {id: np.asarray(one) for id, one in run(Ieee(), program).values.items()}
    error = float(values[last]) - np.exp(80 * float(np.float16(0.1)))
    shares = one_by_one(with_values(program, values), values, last, ())
    assert (
        np.isclose(sum(shares.values()), error) and program[max(shares, key=shares.__getitem__)].op == "add"
    )
    linear = sum(run_errors(program, values, last, ()).shares.values())
    assert abs(linear - error) > 0.25 * abs(error)


def test_what_is_computed_twice_from_the_same_numbers_is_one_op() -> None:
    from gradproof.ir.program import Builder
    from gradproof.modes.same_computations import same_computations

    b, of = Builder(), {"dtype": "float32", "shape": ()}
    x, y = b.input(np.float32(3)), b.input(np.float32(3))
    ones = [b.constant(np.float32(1)) for _ in range(3)]
    first, again, other = (b.add("div", one, at, **of) for one, at in zip(ones, (x, x, y)))
    deeper = [b.add("exp", one, **of) for one in (first, again, other)]
    found = same_computations(b.build([deeper[-1]]))
    assert found[again] == first and found[deeper[1]] == deeper[0]
    assert found[other] == other and found[deeper[2]] == deeper[2]
