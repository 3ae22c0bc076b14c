"""Numbers too small for float16 on their way back: scaling the loss is tried in the framework before it is advised."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from gradproof.diagnosis.diagnostic import Fix
from gradproof.diagnosis.report import Report
from tests.frontends.torch.seen import audited

pytestmark = pytest.mark.torch


def _half(size: float, weight: float = 1.0) -> Report:
    def program() -> None:
        w = torch.tensor([weight, weight / 2], requires_grad=True)
        half = w.to(torch.float16) * torch.tensor([size, 2 * size], dtype=torch.float16)
        loss = (half.to(torch.float32) ** 2).sum()
        loss.backward()

    return audited(program)


def _fix(report: Report) -> Fix:
    (found,) = [one for one in report.diagnostics if one.kind == "underflow"]
    assert found.fix is not None
    return found.fix


def test_a_gradient_that_16_bits_lose_is_kept_by_scaling_the_loss() -> None:
    fix = _fix(_half(1e-4))
    assert fix.text.startswith("scale the loss: multiply it by 1,024 and divide the gradients by 1,024")
    assert "`torch.amp.GradScaler`" in fix.text
    assert fix.checked.startswith(
        "with the loss times 1,024 PyTorch returns 1,024 times the gradient, right to"
    )


def test_a_scale_that_does_not_help_is_not_claimed() -> None:
    report = _half(1e-4, weight=1e-4)  # lost already on the way forward
    assert report.diagnostics
    assert not any(one.fix and "times the gradient" in one.fix.checked for one in report.diagnostics)
