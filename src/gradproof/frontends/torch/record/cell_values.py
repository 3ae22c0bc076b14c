"""Cells as values of a record. They know nothing of the call they are read for: its tensors go when it is told."""

from __future__ import annotations

from functools import partial

from gradproof.frontends.record.model import Value
from gradproof.frontends.torch.record.memory import Cell
from gradproof.frontends.torch.record.recorder import TorchRecorder
from gradproof.ir.types import Array


class CellValues:
    """Each is made once, when it is first asked for."""

    def __init__(self, recorder: TorchRecorder) -> None:
        self._recorder = recorder
        self.known: dict[int, Value] = {}

    def of(self, cell: Cell) -> Value:
        value = self.known.get(cell.id)
        if value is None:
            fetch = partial(_numbers, self._recorder, cell)
            value = self.known[cell.id] = Value(cell.id, cell.dtype, cell.shape, fetch)
        return value


def _numbers(recorder: TorchRecorder, cell: Cell) -> Array:
    with recorder.silence():
        found: Array = cell.array()
        return found
