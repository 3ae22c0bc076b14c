"""A callback for the Trainer of Hugging Face that audits the gradients of chosen steps while a model is trained."""

from __future__ import annotations

import os
from typing import Any

from transformers import TrainerCallback

from gradproof.diagnosis.report import FailOn, Report
from gradproof.options import Options
from gradproof.plugins.training import TrainingAudit


class TransformersAudit(TrainerCallback):  # type: ignore[misc]
    """Audits every gradient that `Trainer.train` computes in the steps that `checks` chooses.

    The arguments are those of `gradproof.keras.GradientAudit`. Of several processes the first one audits.
    """

    def __init__(
        self,
        checks: str = "powers",
        report: str | os.PathLike[str] | None = None,
        stop_on: FailOn = "never",
        budget: float | None = None,
        options: Options | None = None,
        defer: str | os.PathLike[str] | None = None,
    ) -> None:
        self._audit = TrainingAudit(checks, report, stop_on, budget, options, defer)

    @property
    def report(self) -> Report:
        return self._audit.report

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if state.is_world_process_zero:
            self._audit.begin()

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if self._audit.is_to_stop(self._audit.new()):
            control.should_training_stop = True

    def on_epoch_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._audit.write()

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if state.is_world_process_zero:
            self._audit.end()
