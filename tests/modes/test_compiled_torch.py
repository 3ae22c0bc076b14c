"""PyTorch's compiled modes: there in a program that compiles itself too, and compiled once for all runs of a mode."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradproof.frontends.check.request import Request
from gradproof.frontends.select import frontend_for, plain_modes
from gradproof.modes.table import compared
from gradproof.options import Options

torch = pytest.importorskip("torch")


def _loss(x: Any) -> Any:
    return torch.sum(torch.exp(x) / torch.sum(torch.exp(x)) * x.detach())


def test_a_compiled_mode_runs_though_the_program_uses_the_compiler_and_is_compiled_once_per_precision(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import torch._dynamo  # as a program does that compiles: our own code is hidden from the compiler then

    n_compiled = 0
    compile_ = torch.compile

    def counted(*args: Any, **kwargs: Any) -> Any:
        nonlocal n_compiled
        n_compiled += 1
        return compile_(*args, **kwargs)

    monkeypatch.setattr(torch, "compile", counted)
    x = torch.tensor(np.float32([0.5, -1.0, 2.0]))
    (capture,) = frontend_for((x,), {}).check(Request(_loss, (x,))).captures
    modes = [mode for mode in plain_modes("torch") if mode.name in ("eager", "compiled, aot_eager")]
    found = compared(capture, modes, [], Options(seconds=None))
    assert found is not None and not found.lacking
    lines = [line for line in found.lines if line.mode == "compiled, aot_eager"]
    assert [line.dtype for line in lines] == ["float32", "float64", "bfloat16", "float16"]
    assert all(line.repeats for line in lines) and lines[0].rethreads and not lines[0].cells[0].gap_ulps
    assert n_compiled == len(lines) + 1  # and once more for another number of threads
