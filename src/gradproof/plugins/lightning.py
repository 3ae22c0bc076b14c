"""A callback for Lightning that audits the gradients of chosen batches while a model is fitted."""

from __future__ import annotations

import os
from typing import Any

from lightning.pytorch.callbacks import Callback

from gradproof.diagnosis.report import FailOn, Report
from gradproof.options import Options
from gradproof.plugins.training import TrainingAudit


class LightningAudit(Callback):  # type: ignore[misc]
    """Audits every gradient that `Trainer.fit` computes in the batches that `checks` chooses.

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
        super().__init__()
        self._audit = TrainingAudit(checks, report, stop_on, budget, options, defer)

    @property
    def report(self) -> Report:
        return self._audit.report

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        if trainer.is_global_zero:
            self._audit.begin()

    def on_train_batch_end(self, trainer: Any, *_: Any) -> None:
        if self._audit.is_to_stop(self._audit.new()):
            trainer.should_stop = True

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        self._audit.write()

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        if trainer.is_global_zero:
            self._audit.end()

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        self._audit.close()
