"""Ops without an exact meaning are computed again by themselves, and their derivative is measured."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests.frontends.torch.seen import audited, recorded

from gradproof.frontends.torch.kernels import kernel_of
from gradproof.frontends.torch.lower._table import _apart, _largest

pytestmark = pytest.mark.torch


def _fitted() -> None:
    torch.manual_seed(0)
    a = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    torch.linalg.lstsq(a, torch.randn(4, 2, dtype=torch.float64)).solution.square().sum().backward()


def _event(program: Any, op: str) -> Any:
    (call,) = recorded(program)
    return next(event for event in (*call.older, *call.events) if event.op.startswith(op))


def _sparse() -> None:
    places = torch.tensor([[0, 1], [1, 0]])
    numbers = torch.tensor([2.0, 3.0], dtype=torch.float64, requires_grad=True)
    matrix = torch.sparse_coo_tensor(places, numbers, (2, 2), check_invariants=True)
    torch.sparse.mm(matrix, torch.ones(2, 2, dtype=torch.float64)).square().sum().backward()


def test_a_derivative_without_an_exact_meaning_is_measured_and_says_so() -> None:
    (one,) = audited(_sparse).gradients
    assert (one.verdict.value, one.oracle) == ("correct", "differences")
    assert "torch.sparse.mm" in str(one.reason)


def test_an_op_computed_again_gives_what_it_gave_and_its_own_rule() -> None:
    event = _event(_fitted, "aten.linalg_lstsq")
    kernel = kernel_of(event, 0)
    assert kernel is not None
    xs = [value.array for value in event.inputs]
    np.testing.assert_allclose(kernel(*xs), event.outputs[0].array)
    rule = kernel.rule(np.ones(event.outputs[0].shape), *xs)
    assert rule is not None
    assert rule[0].shape == xs[0].shape


def test_an_op_that_gives_something_else_is_not_asked() -> None:
    event = _event(_fitted, "aten.linalg_lstsq")
    far = replace(event.outputs[0], fetch=lambda: np.full(event.outputs[0].shape, 1e3))
    kernel = kernel_of(replace(event, outputs=(far, *event.outputs[1:])), 0)
    assert kernel is not None
    with pytest.raises(ValueError, match="something else"):
        kernel(*[value.array for value in event.inputs])


def test_random_numbers_and_code_of_the_programs_are_not_run_again() -> None:
    def program() -> None:
        w = torch.tensor([1.5, 2.0], requires_grad=True)
        torch.distributions.Gamma(w, 1.0).rsample().sum().backward()

    assert kernel_of(_event(program, "aten._standard_gamma"), 0) is None
    assert kernel_of(replace(_event(_fitted, "aten.linalg_lstsq"), op="mine.op.default"), 0) is None


def test_the_largest_difference_is_found_whatever_the_numbers_are() -> None:
    """What overflows its dtype, and entries that are no numbers, must not hide that a meaning is another."""
    nan, inf = np.float32("nan"), np.float32("inf")
    assert _largest(np.array([1.0, nan, -3.0], np.float32)) == 3.0
    assert _largest(np.array([inf, 2.0], np.float32)) == 2.0
    assert _largest(np.zeros(0)) == 0.0
    assert _apart(np.array([3e38], np.float32), np.array([-3e38], np.float32)) > 5e38
    assert _apart(np.array([nan, 1.0], np.float32), np.array([nan, 2.5], np.float32)) == 1.5
    assert _apart(np.array([1.0, 2.0], np.float16), np.array([1.0, -2.0], np.float32)) == 4.0


def test_an_op_that_means_more_than_its_numbers_is_no_fault_of_ours() -> None:
    def program() -> None:
        x = torch.arange(6.0, dtype=torch.float64).requires_grad_()
        part = x[1:5].as_strided((2, 2), (2, 1), 0)  # looks into memory outside of what it is given
        (part * 2).sum().backward()

    report = audited(program)
    assert report.notes == ()
    (one,) = report.gradients
    assert one.verdict.value == "unverified"
    assert "cannot be computed again by itself" in str(one.reason)
