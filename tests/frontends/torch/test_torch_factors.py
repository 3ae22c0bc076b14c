"""Solutions and determinants of nearly singular matrices: their rules are right, and rounding is to blame."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

import gradproof
from gradproof.frontends.torch.lower import _table

pytestmark = pytest.mark.torch


def _nearly_singular(dtype: Any, distance: float) -> Any:
    rng = torch.Generator().manual_seed(3)
    a = torch.randn(5, 5, dtype=dtype, generator=rng)
    a[4] = a[0] - a[2] + distance * torch.randn(5, dtype=dtype, generator=rng)
    return a


FUNCTIONS = {
    "solve": lambda a: torch.linalg.solve(a, torch.arange(5, dtype=a.dtype)).sum(),
    "solve, transposed": lambda a: torch.linalg.solve(a.mT, torch.ones(5, 2, dtype=a.dtype)).sum(),
    "solve, from the right": lambda a: torch.linalg.solve(
        a, torch.ones(2, 5, dtype=a.dtype), left=False
    ).sum(),
    "slogdet": lambda a: torch.linalg.slogdet(a)[1],
    "det": torch.linalg.det,
    "lu_solve": lambda a: torch.linalg.lu_solve(
        *torch.linalg.lu_factor(a), torch.ones(5, 1, dtype=a.dtype)
    ).sum(),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(("dtype", "distance"), [("float32", 1e-4), ("float64", 1e-9)])
def test_rounding_is_not_called_a_wrong_rule(name: str, dtype: str, distance: float) -> None:
    report = gradproof.check(FUNCTIONS[name], _nearly_singular(getattr(torch, dtype), distance))
    (gradient,) = report.gradients
    assert str(gradient.verdict) in ("inaccurate", "correct", "unverified"), gradient.reason
    assert not any("fault of gradproof" in note for note in report.notes)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_far_from_singular_they_are_proven(name: str) -> None:
    (gradient,) = gradproof.check(FUNCTIONS[name], _nearly_singular(torch.float64, 1.0)).gradients
    assert (str(gradient.verdict), gradient.oracle) == ("correct", "ball")


def test_a_backward_op_without_a_meaning_is_not_taken_for_a_wrong_rule(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(_table.TABLE, "linalg_lu_solve")
    function = FUNCTIONS["solve"]
    (gradient,) = gradproof.check(function, _nearly_singular(torch.float32, 1e-4)).gradients
    assert str(gradient.verdict) == "unverified"
    assert "cannot be told apart" in str(gradient.reason)
