"""A Keras callback that audits the gradients of chosen batches while a model is fitted."""

from __future__ import annotations

import os
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from tensorflow.core.framework import summary_pb2

from gradproof.diagnosis.report import FailOn, GradientReport, Report
from gradproof.errors import InvalidInput
from gradproof.options import Options
from gradproof.plugins.training import TrainingAudit


class GradientAudit(keras.callbacks.Callback):  # type: ignore[misc]
    """Audits every gradient that `fit` computes in the batches that `checks` chooses.

    `checks` is `powers` (the 1st, 2nd, 10th, 100th batch ...), `all`, `first`, or a list such as `1,5,20`; batches
    that are not chosen run as if the callback were not there. `report` is a file: JSON if its name ends so, text
    otherwise; it is written after every epoch and at the end. `log_dir` is a folder for TensorBoard: digits and norm
    of the gradient of each variable. With `stop_on`, training ends after a batch with a fault of that level.
    `budget` are the seconds that all checks together may take. `self.report` has what is known. With `defer` nothing is
    judged while the model trains: it is kept in that folder, for `gradproof examine`.
    """

    def __init__(
        self,
        checks: str = "powers",
        report: str | os.PathLike[str] | None = None,
        log_dir: str | os.PathLike[str] | None = None,
        stop_on: FailOn = "never",
        budget: float | None = None,
        options: Options | None = None,
        defer: str | os.PathLike[str] | None = None,
    ) -> None:
        super().__init__()
        if keras.backend.backend() != "tensorflow":
            raise InvalidInput(
                f"GradientAudit works with the TensorFlow backend of Keras, not with {keras.backend.backend()}"
            )
        self._audit = TrainingAudit(checks, report, stop_on, budget, options, defer)
        self._log_dir = None if log_dir is None else os.fspath(log_dir)
        self._writer: Any = None

    @property
    def report(self) -> Report:
        return self._audit.report

    def on_train_begin(self, logs: Any = None) -> None:
        del logs
        self._close()
        self._audit.begin()
        # A step that was traced in an earlier `fit` was traced out of sight.
        self.model.make_train_function(force=True)
        if self._log_dir is not None:
            self._writer = tf.summary.create_file_writer(self._log_dir)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        del batch, logs
        new = self._audit.new()
        if self._writer is not None and new:
            self._summarise(new, int(self.model.optimizer.iterations))
        if self._audit.is_to_stop(new):
            self.model.stop_training = True

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        del epoch, logs
        self._audit.write()

    def on_train_end(self, logs: Any = None) -> None:
        del logs
        self._close()
        self._audit.end()

    def _close(self) -> None:
        self._audit.close()
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _summarise(self, gradients: list[GradientReport], step: int) -> None:
        with self._writer.as_default(step=step):
            for gradient in gradients:
                name = f"gradproof/{gradient.source}"
                if gradient.digits is not None:
                    _write_scalar(f"{name}/digits", gradient.digits)
                for which, array in (("norm", gradient.observed), ("true_norm", gradient.reference)):
                    if array is not None:
                        _write_scalar(f"{name}/{which}", np.linalg.norm(np.asarray(array, np.float64)))
        self._writer.flush()


def _write_scalar(tag: str, value: Any) -> None:
    """As `tf.summary.scalar` does, which needs TensorBoard to be installed where the model is trained."""
    metadata = summary_pb2.SummaryMetadata(
        plugin_data=summary_pb2.SummaryMetadata.PluginData(plugin_name="scalars"),
        data_class=summary_pb2.DATA_CLASS_SCALAR,
    )
    tf.summary.write(tag, tf.constant(value, tf.float32), metadata=metadata)
