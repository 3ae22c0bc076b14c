"""Derivatives in forward mode: tangents that tensors carry along, and what came out beside a result."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any

import torch
from torch.autograd import forward_ad

from gradproof.frontends.record.model import GradientCall, Observed, Operand
from gradproof.frontends.record.patches import Patch, wrap
from gradproof.frontends.record.sites import Site
from gradproof.frontends.record.source import call_at, first_user_frame, span_of
from gradproof.frontends.torch.record.asked import differentiated
from gradproof.frontends.torch.record.batched import as_columns
from gradproof.frontends.torch.record.engine_run import EngineRun
from gradproof.frontends.torch.record.finish import Finish
from gradproof.frontends.torch.record.given_twice import ALSO_CONSTANT, taken_from_outside
from gradproof.frontends.torch.record.memory import Cell
from gradproof.frontends.torch.record.mode import have_numbers
from gradproof.frontends.torch.record.names import named_in
from gradproof.frontends.torch.record.recorder import TorchRecorder, numbers
from gradproof.frontends.torch.record.transforms import are_batched, plain

MOST_DUALS = 100  # that are remembered


@dataclass(frozen=True, eq=False)
class DualInput:
    """A tensor that was given a tangent, under the user's name."""

    name: str
    cell: Cell
    tangent: Cell
    given: tuple[Any, Any]  # the tensor and its tangent


class ForwardMode:
    """The hooks on `make_dual` and `unpack_dual`; `torch.func.jvp` goes through them as well."""

    def __init__(
        self,
        recorder: TorchRecorder,
        begin: Callable[[FrameType], tuple[Site, bool]],
        deliver: Callable[[GradientCall], None],
        failed: Callable[[], Any],
    ) -> None:
        self._recorder, self._begin, self._deliver, self._failed = recorder, begin, deliver, failed
        self._duals: list[DualInput] = []

    def patches(self) -> list[Patch]:
        return [
            wrap(forward_ad, "make_dual", self._made),
            wrap(forward_ad, "unpack_dual", self._unpacked),
            wrap(forward_ad, "exit_dual_level", self._left),
        ]

    @property
    def _hears(self) -> bool:
        recorder = self._recorder
        return recorder.is_on and not recorder.quiet and not recorder.legacy_batches

    def _left(self, original: Any, *args: Any, **kwargs: Any) -> Any:
        self._duals.clear()
        return original(*args, **kwargs)

    def _made(self, original: Any, tensor: Any, tangent: Any, **kwargs: Any) -> Any:
        frame = first_user_frame(sys._getframe(2))
        if self._hears and frame is not None:
            try:
                with self._recorder.silence(), torch.no_grad():
                    self._remember(frame, tensor, tangent)
            except Exception:
                self._failed()
        return original(tensor, tangent, **kwargs)

    def _remember(self, frame: FrameType, tensor: Any, tangent: Any) -> None:
        if not have_numbers((tensor, tangent)):
            return
        read = self._recorder.memory.read
        cell = read(plain(tensor))
        same = [one.name for one in named_in(frame).values() if _is_same(read, one.tensor, cell)]
        name = same[0] if same else f"input {len(self._duals) + 1}"
        dual = DualInput(name, cell, read(plain(tangent)), (tensor, tangent))
        self._duals = [*self._duals, dual][-MOST_DUALS:]

    def _unpacked(self, original: Any, tensor: Any, **kwargs: Any) -> Any:
        result = original(tensor, **kwargs)
        frame = first_user_frame(sys._getframe(2))
        is_asked = result.tangent is not None and bool(self._duals) and frame is not None
        if is_asked and self._hears and have_numbers((result.primal, result.tangent)):
            try:
                with self._recorder.silence(), torch.no_grad():
                    self._tell(frame, result.primal, result.tangent)
            except Exception:
                self._failed()
        return result

    def _tell(self, frame: Any, primal: Any, tangent: Any) -> None:
        site, wanted = self._begin(frame)
        if not wanted or not self._recorder.is_on:
            return
        read = self._recorder.memory.read
        run = EngineRun(next(numbers), frame, site, (primal,), (), (), False, False, True)
        run.first, run.occurrence, run.targets = next(numbers), site.executions, (read(plain(primal)),)
        out = read(plain(tangent))
        finish = Finish(run, self._recorder, {out.id}, "jvp")
        call = finish.call()
        asking = call_at(span_of((frame.f_code, frame.f_lasti)))
        name = differentiated(asking)
        targets = (replace(call.targets[0], name=name),) if name else call.targets
        call = replace(
            call,
            api="jvp",
            tape=replace(call.tape, kind="accumulator"),
            targets=targets,
            sources=tuple(Operand(dual.name, finish.value(dual.cell)) for dual in self._duals),
            tangents=tuple(finish.value(dual.tangent) for dual in self._duals),
            observed=(Observed(finish.value(out)),),
        )
        outside = {read(plain(one)).id for one in taken_from_outside(frame, asking)}
        if any(dual.cell.id in outside for dual in self._duals):
            call = replace(call, doubt=ALSO_CONSTANT)
        for one in self._told_apart(call, primal, tangent):
            self._deliver(one)

    def _told_apart(self, call: GradientCall, primal: Any, tangent: Any) -> Iterable[GradientCall]:
        given = [dual.given for dual in self._duals]
        if not are_batched((primal, tangent, *(one for pair in given for one in pair))):
            return (call,)
        return as_columns(call, given, (primal, tangent))


def _is_same(read: Callable[[Any], Cell], tensor: Any, cell: Cell) -> bool:
    own = read(plain(tensor))
    return own.id == cell.id or (
        own.memory is not None and (own.memory, own.shape) == (cell.memory, cell.shape)
    )
