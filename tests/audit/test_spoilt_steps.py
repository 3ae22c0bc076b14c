"""A NaN that an update has left behind is told as what follows from the earlier gradient, not as a second error."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from tests.frontends.torch.seen import audited

pytestmark = pytest.mark.torch


def test_the_step_after_a_nan_is_a_note() -> None:
    def program() -> None:
        w = torch.tensor([100.0, 1.0], requires_grad=True)
        for _ in range(2):
            (g,) = torch.autograd.grad(torch.log(torch.exp(w).sum()), w)
            w = (w - 0.1 * g).detach().requires_grad_()

    report = audited(program)
    assert [str(verdict) for verdict in report.verdicts] == ["nonfinite", "unverified"]
    levels = [(one.severity, "since an earlier step" in one.headline) for one in report.diagnostics]
    assert levels == [("error", False), ("note", True)]


def test_nan_that_was_given_is_an_error_where_no_earlier_gradient_explains_it() -> None:
    def program() -> None:
        w = torch.tensor([float("nan"), 1.0], requires_grad=True)
        torch.autograd.grad((w * w).sum(), w)

    (found,) = audited(program).diagnostics
    assert (found.severity, found.kind) == ("error", "invalid-domain")


def test_nan_in_other_entries_is_no_consequence() -> None:
    def program() -> None:
        w = torch.tensor([0.0, 1.0], requires_grad=True)
        for step in range(2):
            data = torch.tensor([1.0, 1.0 if step == 0 else float("nan")])
            loss = torch.sqrt(w * w).sum() if step == 0 else (w * w * data).sum()
            (g,) = torch.autograd.grad(loss, w)
            assert g.isnan().tolist() == ([True, False] if step == 0 else [False, True])

    told = [one for one in audited(program).diagnostics if one.kind == "invalid-domain"]
    assert [(one.severity, "since an earlier step" in one.headline) for one in told] == [("error", False)]


def test_what_was_computed_from_spoilt_weights_elsewhere_is_a_consequence() -> None:
    def program() -> None:
        w = torch.tensor([100.0, 1.0], requires_grad=True)
        u = torch.tensor([0.5, 2.0], requires_grad=True)
        (g,) = torch.autograd.grad(torch.log(torch.exp(w).sum()), w)
        made = ((w - 0.1 * g).detach() @ torch.ones(2, 3)).numpy().copy()
        torch.autograd.grad((u.sum() * torch.tensor(made)).sum(), u)

    told = [one for one in audited(program).diagnostics if one.kind == "invalid-domain"]
    assert [(one.severity, "since an earlier step" in one.headline) for one in told] == [("note", True)]
