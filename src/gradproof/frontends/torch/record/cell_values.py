"""Cells as values of a record. They know nothing of the call they are read for: its tensors go when it is told."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from gradproof.frontends.record.model import Value
from gradproof.frontends.torch.record.memory import Cell
from gradproof.frontends.torch.record.recorder import TorchRecorder
from gradproof.ir.types import Array


class CellValues:
    """Each is made once, when it is first asked for."""

    def __init__(self, recorder: TorchRecorder) -> None:
        self._recorder = recorder
        self._cells: list[Cell] = []
        self.known: dict[int, Value] = {}

    def of(self, cell: Cell) -> Value:
        value = self.known.get(cell.id)
        if value is None:
            fetch = partial(_numbers, self._recorder, cell)
            value = self.known[cell.id] = Value(cell.id, cell.dtype, cell.shape, fetch)
            self._cells.append(cell)
        return value

    def read(self) -> None:
        """All numbers, now: the program goes on."""
        for value in list(self.known.values()):
            value.array  # noqa: B018

    def later(self) -> Callable[[], bool]:
        """Reads all numbers when it is called, if they are still what they are now: most are never asked for."""
        seen = [(cell, _version(cell)) for cell in self._cells]

        def read() -> bool:
            if any(cell.tensor is not None and _version(cell) != version for cell, version in seen):
                return False
            self.read()
            return True

        return read


def _version(cell: Cell) -> int:
    """How often PyTorch has seen a tensor change; it does not count for those that are made for inference only."""
    tensor = cell.tensor
    return -1 if tensor is None or tensor.is_inference() else int(tensor._version)


def _numbers(recorder: TorchRecorder, cell: Cell) -> Array:
    with recorder.silence():
        found: Array = cell.array()
        return found
