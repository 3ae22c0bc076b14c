"""Blocks of `torch.autocast`: inside an op nobody can tell whether one is open, for it is off there."""

from __future__ import annotations

from typing import Any

import torch

from gradproof.frontends.record.patches import Patch, wrap
from gradproof.frontends.torch.record.recorder import TorchRecorder


def patches(recorder: TorchRecorder) -> list[Patch]:
    def entered(original: Any, cast: Any) -> Any:
        recorder.autocasts += bool(cast._enabled)
        return original(cast)

    def left(original: Any, cast: Any, *args: Any) -> Any:
        recorder.autocasts -= bool(cast._enabled)
        return original(cast, *args)

    return [wrap(torch.autocast, "__enter__", entered), wrap(torch.autocast, "__exit__", left)]
