"""Whose rounding or rewriting it was: told by the bits that each explanation gives, on programs of a few ops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np

from gradproof.diagnosis.parting import Whose
from gradproof.domains.ieee import Ieee
from gradproof.engine.run import run
from gradproof.ir.program import Builder
from gradproof.modes.differing import Differing
from gradproof.modes.op_seen import exact_result
from gradproof.modes.run_errors import with_values
from gradproof.modes.whose import whose

X = np.random.default_rng(3).normal(size=40).astype(np.float32)
F32 = {"dtype": "float32", "shape": (40,)}


def _whose(build: Callable[[Builder], int], other: Any, single: Any = None) -> Whose:
    """The explanation of the last op's result in another run, its inputs being those of the run op by op."""
    builder = Builder()
    output = build(builder)
    program = builder.build([output])
    ids = [node.id for node in program.nodes]
    values = {id: np.asarray(one) for id, one in run(Ieee(), program.with_outputs(ids)).values.items()}
    single = values[output] if single is None else np.asarray(single)
    ran = with_values(program, {**values, output: np.asarray(other)})
    inputs = [values[id] for id in ran[output].inputs]
    index = tuple(int(k) for k in np.argwhere(single != other)[0])
    exact = exact_result(ran[output], inputs)
    return whose(Differing(ran, ran[output], single, np.asarray(other), inputs, exact, index))


def test_a_division_that_becomes_a_product_may_be_fused_with_a_sum() -> None:
    def build(b: Builder) -> int:
        third = b.add("div", b.input(X), b.constant(np.float32(3.0)), **F32)
        return b.add("sub", third, b.constant(np.float32(0.3)), **F32)

    inverse = np.float64(np.float32(1) / np.float32(3))
    other = (X.astype(np.float64) * inverse - np.float64(np.float32(0.3))).astype(np.float32)
    found = _whose(build, other)
    assert found.kind == "fused-multiply-add"
    assert found.text.startswith("`a / b` was rewritten as `a * (1 / b)`; `a * b` and the sum are one fused")


def test_a_product_with_its_sign_turned_may_be_fused_with_a_sum() -> None:
    def build(b: Builder) -> int:
        x = b.input(X)
        product = b.add("neg", b.add("mul", x, b.constant(np.float32(1.7)), **F32), **F32)
        return b.add("add", product, b.constant(np.float32(0.3)), **F32)

    other = np.float64(np.float32(0.3)) - X.astype(np.float64) * np.float64(np.float32(1.7))
    assert _whose(build, other.astype(np.float32)).kind == "fused-multiply-add"


def test_what_runs_op_by_op_is_rewritten_within_one_op_only() -> None:
    def build(b: Builder) -> int:
        root = b.add("sqrt", b.constant(np.float32(7.0)), dtype="float32", shape=())
        return b.add("div", b.input(X), root, **F32)

    by_op = X * (np.float32(1) / np.sqrt(np.float32(7.0)))
    found = _whose(build, X / np.sqrt(np.float32(7.0)), by_op)
    assert found.text == "`a / b` was rewritten as `a * (1 / b)` op by op, and not here"


def test_a_whole_power_may_be_products() -> None:
    def build(b: Builder) -> int:
        return b.add("power", b.input(X), b.constant(np.float32(3.0)), **F32)

    exact = (X.astype(np.float64) ** 3).astype(np.float32)
    found = _whose(build, X * X * X, exact)
    assert (found.kind, found.text) == ("rewriting", "`x ** 3` was rewritten as products of `x`")


def test_a_rounding_of_the_inputs_that_was_left_out() -> None:
    def build(b: Builder) -> int:
        narrow = {"dtype": "bfloat16", "shape": (40,)}
        x = b.add("cast", b.input(X), params={"dtype": "bfloat16"}, **narrow)
        return b.add("mul", x, x, **narrow)

    found = _whose(build, (X * X).astype(ml_dtypes.bfloat16))
    assert found.kind == "excess-precision" and "not rounded to bfloat16 in between" in found.text


def test_sums_of_products_that_cancel_are_another_order_and_not_another_op() -> None:
    a, b_ = np.float32([[1e4, 1.0, -1e4]]), np.float32([[1.0], [0.1], [1.0]])

    def build(b: Builder) -> int:
        made = {"dtype": "float32", "shape": (1, 1)}
        return b.add("einsum", b.input(a), b.constant(b_), params={"equation": "ij,jk->ik"}, **made)

    assert _whose(build, np.float32([[0.0996]]), np.float32([[0.1]])).kind == "sum-order"


def test_a_mode_with_a_dtype_of_its_own_for_an_op() -> None:
    def build(b: Builder) -> int:
        return b.add("exp", b.input(X), **F32)

    found = _whose(build, np.exp(X).astype(ml_dtypes.bfloat16))
    assert (found.kind, found.text) == ("narrow-inputs", "this mode computes `exp` in bfloat16, 8 bits")


def test_what_is_rounded_once_of_other_inputs_is_no_other_order() -> None:
    from gradproof.modes.parting import partings

    builder = Builder()
    x = builder.input(X)
    total = builder.add("sum", builder.add("exp", x, **F32), params={"axes": (0,)}, dtype="float32", shape=())
    program = builder.build([total])
    _, made, output = (node.id for node in program.nodes)
    single = {
        id: np.asarray(v) for id, v in run(Ieee(), program.with_outputs([x, made, output])).values.items()
    }
    one = np.nextafter(single[made], np.float32(9))
    exact = [np.float32(v.astype(np.float64).sum()) for v in (single[made], one)]
    found = partings(
        program, {**single, output: exact[0]}, {**single, made: one, output: exact[1]}, output, ()
    )
    assert found[0].op == "exp"
    for parting in found[1:]:
        assert parting.whose.text.startswith(
            "`sum` is rounded once in both runs, of inputs that differ already"
        )
        assert ", of inputs for which " in parting.single


def test_a_framework_that_runs_op_by_op_rewrites_no_two_ops() -> None:
    a, b, c = (np.random.default_rng(k).normal(size=40).astype(np.float32) for k in (1, 2, 3))
    builder = Builder()
    x, y, z = (builder.input(one) for one in (a, b, c))
    product = builder.add("mul", builder.add("mul", x, y, **F32), z, **F32)
    program = with_values(
        builder.build([product]), {0: a, 1: b, 2: c, 3: a * b, product: (other := a * (b * c))}
    )
    node, inputs = program[product], [a * b, c]
    index = tuple(int(k) for k in np.argwhere(other != a * b * c)[0])
    seen = Differing(program, node, a * b * c, other, inputs, exact_result(node, inputs), index)
    assert whose(seen).text == "`a * b * c` was rewritten as `a * (b * c)`"
    assert "a * (b * c)" not in whose(replace(seen, beside="in NumPy")).text


BF16 = {"dtype": "bfloat16", "shape": (40,)}


def test_of_several_16_bit_ops_only_the_last_may_be_in_one_piece() -> None:
    narrow = X.astype(ml_dtypes.bfloat16)

    half, third = (np.asarray(one, ml_dtypes.bfloat16) for one in (1.7, 0.3))

    def build(b: Builder) -> int:
        scaled = b.add("mul", b.input(narrow), b.constant(half), **BF16)
        return b.add("square", b.add("sub", scaled, b.constant(third), **BF16), **BF16)

    away = (narrow * half).astype(np.float32) - third.astype(np.float32)
    other = (away * away).astype(ml_dtypes.bfloat16)
    found = _whose(build, other)
    assert found.kind == "excess-precision" and "kept in float32" in found.text


def test_a_square_is_rounded_once_or_it_is_something_else() -> None:
    def build(b: Builder) -> int:
        return b.add("square", b.input(X), **F32)

    other = np.nextafter(X * X, np.float32(np.inf))
    assert _whose(build, other).kind == "rewriting"


def test_quotients_of_exponentials_may_be_the_exponential_of_a_difference() -> None:
    large = np.abs(X) + np.float32(95.0)

    def build(b: Builder) -> int:
        top, low = (b.add("exp", b.input(one), **F32) for one in (large, large[::-1].copy()))
        return b.add("div", top, low, **F32)

    with np.errstate(all="ignore"):
        found = _whose(build, np.exp(large - large[::-1]))
    assert found.text == "`exp(a) / exp(b)` was rewritten as `exp(a - b)`"

    def product(b: Builder) -> int:
        top, low = (b.add("exp", b.input(one), **F32) for one in (large, large[::-1].copy()))
        return b.add("mul", b.add("div", b.constant(np.float32(3)), low, **F32), top, **F32)

    with np.errstate(all="ignore"):
        found = _whose(product, np.float32(3) * np.exp(large - large[::-1]))
    assert found.text == "`a / exp(b) * exp(c)` was rewritten as `a * exp(c - b)`"
