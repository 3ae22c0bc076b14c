"""The callback for the Trainer of Hugging Face: audits chosen steps, stops, and leaves the training as it is."""

from __future__ import annotations

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
    pytest.mark.skipif(
        None in (find_spec("transformers"), find_spec("accelerate")), reason="Transformers is not installed"
    ),
]


class Net(torch.nn.Module):  # type: ignore[misc]
    """With `is_wrong` a label column is broadcast against a row: right gradients of a loss that nobody meant."""

    def __init__(self, is_wrong: bool) -> None:
        super().__init__()
        self.hidden, self.out, self.is_wrong = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1), is_wrong

    def forward(self, x: Any, labels: Any) -> Any:
        y = self.out(torch.tanh(self.hidden(x)))
        labels = labels[:, 0] if self.is_wrong else labels
        return {"loss": torch.nn.functional.mse_loss(y, labels), "logits": y}


def auditing(**settings: Any) -> Any:
    from gradproof.transformers import GradientAudit

    return GradientAudit(**settings)


def trained(folder: Path, *callbacks: Any, is_wrong: bool = False) -> tuple[Any, Any]:
    import transformers

    torch.manual_seed(0)
    data = [{"x": torch.randn(3), "labels": torch.randn(1)} for _ in range(24)]
    net = Net(is_wrong)
    arguments = transformers.TrainingArguments(
        str(folder), num_train_epochs=1, per_device_train_batch_size=8, use_cpu=True, report_to=[],
        save_strategy="no", disable_tqdm=True, seed=0,
    )  # fmt: skip
    trainer = transformers.Trainer(net, arguments, train_dataset=data, callbacks=list(callbacks))
    trainer.train()
    return net, trainer


def test_chosen_steps_are_audited_and_the_weights_stay_the_same(tmp_path: Path) -> None:
    audit = auditing(checks="1,3")
    seen, _ = trained(tmp_path, audit)
    plain, _ = trained(tmp_path)
    assert [g.occurrence for g in audit.report.gradients] == [1] * 4 + [3] * 4
    assert {g.verdict for g in audit.report.gradients} == {Verdict.CORRECT}
    assert {g.source for g in audit.report.gradients} == {name for name, _ in seen.named_parameters()}
    assert all(torch.equal(a, b) for a, b in zip(plain.parameters(), seen.parameters()))


def test_a_language_model_of_the_library_is_judged(tmp_path: Path) -> None:
    """Attention, embeddings, dropout and the loss as the library writes them; no weights are fetched."""
    import transformers

    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=11, n_positions=4, n_embd=4, n_layer=1, n_head=2, bos_token_id=0, eos_token_id=0
    )
    net = transformers.GPT2LMHeadModel(config)
    words = torch.randint(0, 11, (4, 4))
    data = [{"input_ids": row, "labels": row} for row in words]
    audit = auditing(checks="1")
    arguments = transformers.TrainingArguments(
        str(tmp_path), max_steps=1, per_device_train_batch_size=4, use_cpu=True, report_to=[], save_strategy="no",
        disable_tqdm=True,
    )  # fmt: skip
    transformers.Trainer(net, arguments, train_dataset=data, callbacks=[audit]).train()
    assert {g.source for g in audit.report.gradients} == {name for name, _ in net.named_parameters()}
    assert {g.verdict for g in audit.report.gradients} == {Verdict.CORRECT}


def test_a_warning_ends_the_training_if_wanted(tmp_path: Path) -> None:
    audit = auditing(checks="all", stop_on="warning")
    _, trainer = trained(tmp_path, audit, is_wrong=True)
    assert "silent-broadcast" in {d.kind for g in audit.report.gradients for d in g.diagnostics}
    assert trainer.state.global_step == 1
