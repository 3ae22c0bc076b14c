"""The callback for Lightning: audits chosen batches, reports, stops, and leaves the training as it is."""

from __future__ import annotations

import json
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from gradproof.judge.verdict import Verdict

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore"),
    # It takes longer to import than torch, and not every worker needs it.
    pytest.mark.skipif(find_spec("lightning") is None, reason="Lightning is not installed"),
]


class Half(torch.autograd.Function):  # type: ignore[misc]
    """Hands a number on, and half of its gradient squared back: a mistake."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g * x


@cache
def net_class() -> Any:
    import lightning

    class Net(lightning.LightningModule):
        def __init__(self, is_wrong: bool) -> None:
            super().__init__()
            self.hidden, self.out, self.is_wrong = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1), is_wrong

        def training_step(self, batch: Any, index: int) -> Any:
            x, y = batch
            h = torch.tanh(self.hidden(x))
            h = Half.apply(h) if self.is_wrong else torch.nn.functional.dropout(h, 0.5)
            return torch.nn.functional.mse_loss(self.out(h), y)

        def configure_optimizers(self) -> Any:
            return torch.optim.Adam(self.parameters(), lr=0.1)

    return Net


def auditing(**settings: Any) -> Any:
    from gradproof.lightning import GradientAudit

    return GradientAudit(**settings)


def fitted(*callbacks: Any, is_wrong: bool = False) -> tuple[Any, Any]:
    import lightning

    torch.manual_seed(0)
    data = torch.utils.data.TensorDataset(torch.randn(24, 3), torch.randn(24, 1))
    net = net_class()(is_wrong)
    trainer = lightning.Trainer(
        max_epochs=1, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
        enable_model_summary=False, callbacks=list(callbacks),
    )  # fmt: skip
    trainer.fit(net, torch.utils.data.DataLoader(data, batch_size=8))
    return net, trainer


def test_chosen_batches_are_audited_and_the_weights_stay_the_same(tmp_path: Path, no_pictures: None) -> None:
    audit = auditing(checks="1,3", report=tmp_path / "audit.json")
    seen, _ = fitted(audit)
    plain, _ = fitted()
    assert [g.occurrence for g in audit.report.gradients] == [1] * 4 + [3] * 4
    assert {g.verdict for g in audit.report.gradients} == {Verdict.CORRECT}
    names = {g["source"]["name"] for g in json.loads((tmp_path / "audit.json").read_text())["gradients"]}
    assert names == {name for name, _ in seen.named_parameters()}
    assert all(torch.equal(a, b) for a, b in zip(plain.parameters(), seen.parameters()))


def test_a_fault_is_told_and_ends_the_training_if_wanted() -> None:
    audit = auditing(checks="all", stop_on="error")
    _, trainer = fitted(audit, is_wrong=True)
    assert "custom-gradient" in {d.kind for g in audit.report.gradients for d in g.diagnostics}
    assert trainer.global_step == 1
