"""PyTorch's own database of ops as samples: every gradient is right, or what is said of it is not a false alarm.

The value witness holds each op's meaning against what its kernel returned, the slope witness the reference against
differences in many digits; here they meet every kind of op. A share of the entries runs with the suite, all at night.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("expecttest")

from gradproof.audit.examine import examine
from gradproof.diagnosis.report import GradientReport
from gradproof.frontends.assemble.captures import to_captures
from gradproof.frontends.record.model import GradientCall
from gradproof.frontends.torch.record.observation import observe
from gradproof.options import Options

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]

SHARES = (
    ("float64", 14, 5),
    ("float32", 40, 7),
    ("complex128", 40, 11),
)  # of the entries: every so manieth, from where
MOST_NUMBERS = 60  # in a sample
SECONDS = 30.0  # for a gradient; what takes longer is unverified, which is no false alarm

# Gradients of PyTorch's that are not the derivative of what the kernel computes.
KNOWN = {
    "as_strided_scatter": "entries that several strides meet",
    "hardsigmoid": "one sixth is rounded to a float32 in its rule",
    "max_unpool": "entries that several indices meet",
    "native_layer_norm": "layers of one or two numbers, whose derivative is a rest of rounding",
    "multi_head_attention_forward": "biases that the softmax takes no notice of",
    "cfloat": "a cast to fewer digits",
}


def _database() -> list[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = importlib.import_module("torch.testing._internal.common_methods_invocations").op_db
    return sorted(
        (one for one in found if one.supports_autograd), key=lambda one: (one.name, one.variant_test_name)
    )


def _tensors(structure: Any) -> Iterator[Any]:
    if isinstance(structure, torch.Tensor):
        yield structure
    elif isinstance(structure, list | tuple):
        for item in structure:
            yield from _tensors(item)
    elif isinstance(structure, dict):
        yield from _tensors(list(structure.values()))


def _sample(entry: Any, dtype: Any) -> Any | None:
    """The largest of the small ones."""
    if dtype not in entry.supported_backward_dtypes("cpu"):
        return None
    torch.manual_seed(0)
    np.random.seed(0)  # the database draws from it
    drawn = list(entry.sample_inputs("cpu", dtype, requires_grad=True))
    sizes = [sum(one.numel() for one in _tensors([s.input, s.args, s.kwargs])) for s in drawn]
    small = [(size, -k) for k, size in enumerate(sizes) if size <= MOST_NUMBERS]
    return drawn[-max(small)[1]] if small else None


class _Scaled(torch.autograd.Function):
    """The identity, with a rule that is off by one part in a hundred thousand."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * (1 + 1e-5)


def _judged(entry: Any, sample: Any, is_planted: bool = False) -> list[GradientReport]:
    reports: list[GradientReport] = []

    def receive(call: GradientCall) -> None:
        captures = to_captures(call)
        reports.extend(one for each in captures for one in examine(each, Options(seconds=SECONDS)))

    with observe(receive, lambda n: True) as observation:
        out = entry.gradcheck_wrapper(entry.get_op(), sample.input, *sample.args, **sample.kwargs)
        draw = torch.Generator().manual_seed(1)
        terms = []
        for one in _tensors(out):
            if one.requires_grad and one.layout is torch.strided:
                weight = 0.5 + torch.rand(one.shape, generator=draw, dtype=torch.float64)
                one = (one.conj() * one).real if one.is_complex() else one
                terms.append((one * weight.to(one.dtype)).sum())
        if terms:
            loss = sum(terms[1:], terms[0])
            (_Scaled.apply(loss) if is_planted else loss).backward()
    assert observation.failures == []
    return reports


def _false_alarms(name: str, reports: list[GradientReport]) -> list[str]:
    if any(known in name for known in KNOWN):
        return []
    told = ("wrong", "inaccurate", "nonfinite")
    return [f"{name}: {one.source} {one.verdict.value}" for one in reports if one.verdict.value in told]


def _run(dtype: str, step: int, first: int) -> tuple[list[str], int, int]:
    alarms, correct, all_of = [], 0, 0
    for entry in _database()[first::step]:
        sample = _sample(entry, getattr(torch, dtype))
        if sample is not None:
            reports = _judged(entry, sample)
            alarms += _false_alarms(entry.name, reports)
            correct += sum(one.verdict.value == "correct" for one in reports)
            all_of += len(reports)
    return alarms, correct, all_of


@pytest.mark.parametrize(("dtype", "step", "first"), SHARES, ids=[one[0] for one in SHARES])
def test_a_share_of_the_database_raises_no_alarm(dtype: str, step: int, first: int) -> None:
    alarms, correct, all_of = _run(dtype, step, first)
    assert alarms == []
    assert correct > all_of / 2 > 0


def test_a_rule_that_is_off_a_little_is_found_behind_every_op() -> None:
    missed, n_tried = [], 0
    for entry in _database()[3::60]:
        sample = _sample(entry, torch.float64)
        right = [] if sample is None else _judged(entry, sample)
        if right and all(one.verdict.value == "correct" and one.oracle == "ball" for one in right):
            planted = _judged(entry, _sample(entry, torch.float64), is_planted=True)
            n_tried += 1
            missed += [
                entry.name
                for one, before in zip(planted, right)
                if one.verdict.value == "correct" and before.observed is not None and before.observed.any()
            ]
    assert missed == []
    assert n_tried > 2


@pytest.mark.nightly
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
def test_the_whole_database_raises_no_alarm(dtype: str) -> None:
    assert _run(dtype, 1, 0)[0] == []
