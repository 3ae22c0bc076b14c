"""Every lowering that takes complex numbers is tried with them, against differences of PyTorch itself."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests.frontends.torch.complex_samples import SAMPLES
from tests.frontends.torch.seen import audited

from gradproof.frontends.assemble.captures import to_captures
from gradproof.frontends.record.model import GradientCall
from gradproof.frontends.record.sites import always
from gradproof.frontends.torch.lower._kinds import COMPLEX
from gradproof.frontends.torch.lower._table import TABLE, entry_of
from gradproof.frontends.torch.record.observation import observe
from gradproof.ir.capture import Capture
from gradproof.judge.judge import Evidence, judge
from gradproof.judge.verdict import Verdict
from gradproof.options import Options

pytestmark = pytest.mark.torch
STEP, AGREEMENT = 1e-3, 1e-6


def _outputs(name: str, xs: Any) -> list[Any]:
    results = SAMPLES[name][0](*xs)
    return list(results) if isinstance(results, tuple | list) else [results]


@cache
def _asked(name: str) -> tuple[list[Any], list[Any], GradientCall, Capture]:
    """The points, the upstream gradients, and the call as it was heard."""
    calls: list[GradientCall] = []
    leaves = [x.detach().clone().requires_grad_() for x in SAMPLES[name][1]]
    draw = torch.Generator().manual_seed(3)
    with observe(calls.append, always) as observation:
        ys = _outputs(name, leaves)
        seeds = [torch.randn(y.shape, dtype=y.dtype, generator=draw) for y in ys]
        torch.autograd.grad(ys, leaves, seeds)
        (capture,) = to_captures(calls[-1])
    assert observation.failures == []
    return leaves, seeds, calls[-1], capture


def _slope(name: str, k: int, direction: Any) -> float:
    """Of the real number that the upstream gradients ask for, by differences of PyTorch's own calls."""
    leaves, seeds, _, _ = _asked(name)

    def moved(step: float) -> float:
        points = [
            (x.detach() + (step * direction if i == k else 0)).requires_grad_() for i, x in enumerate(leaves)
        ]
        ys = [y.detach() for y in _outputs(name, points)]
        return sum(float((seed.conj() * y).real.sum()) for seed, y in zip(seeds, ys, strict=True))

    wide, narrow = ((moved(h) - moved(-h)) / (2 * h) for h in (STEP, STEP / 2))
    return (4 * narrow - wide) / 3


@pytest.mark.filterwarnings("ignore:Casting complex")
@pytest.mark.parametrize("name", SAMPLES)
def test_references_agree_with_differences_of_pytorch(name: str) -> None:
    leaves, _, _, capture = _asked(name)
    assert capture.program is not None
    sources = capture.sources
    evidence = Evidence(
        capture.program,
        tuple(source.node for source in sources),
        tuple(source.observed for source in sources),
        tuple(source.recorded for source in sources),
        capture.gradient_program,
    )
    draw = torch.Generator().manual_seed(4)
    for k, judgement in enumerate(judge(evidence, Options())):
        assert judgement.verdict is Verdict.CORRECT, judgement.reason
        direction = torch.randn(leaves[k].shape, dtype=leaves[k].dtype, generator=draw)
        slope = _slope(name, k, direction)
        along = float(np.sum(np.real(np.conj(judgement.enclosure.mid) * direction.numpy())))
        assert abs(along - slope) <= AGREEMENT * (abs(along) + abs(slope) + 1e-3)


@pytest.mark.filterwarnings("ignore:Casting complex")
def test_every_lowering_that_takes_complex_numbers_was_tried_with_them() -> None:
    met = {
        entry_of(event.op)
        for name in SAMPLES
        for event in _asked(name)[2].events
        if any(value.dtype.startswith("complex") for value in event.inputs)
    }
    assert sorted(COMPLEX - set(TABLE)) == []
    assert sorted(COMPLEX - met) == []


def test_an_op_that_was_never_tried_with_complex_numbers_has_no_meaning_for_them() -> None:
    assert "logcumsumexp" not in COMPLEX

    def program() -> None:
        x = torch.tensor([0.5 + 1.0j, 0.25 - 0.5j], requires_grad=True)
        torch.logcumsumexp(x, 0).abs().sum().backward()

    (one,) = audited(program).gradients
    assert one.verdict is Verdict.UNVERIFIED
    assert "logcumsumexp" in str(one.reason)
