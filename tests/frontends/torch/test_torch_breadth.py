"""What the ops of PyTorch mean: proven derivatives over many of them, in float64, at ordinary points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from tests.frontends.torch.seen import audited
from torch.nn import functional as F

import gradproof
from gradproof.frontends.torch import coverage as counting
from gradproof.frontends.torch.lower import TABLE

pytestmark = pytest.mark.torch

POINT = [[0.3, 1.7, -0.4], [0.9, -1.2, 0.55]]
_PLUS = [[0.3, 0.7, 0.4], [0.9, 0.2, 0.55]]

ENTRYWISE: dict[str, Callable[[Any], Any]] = {
    name: getattr(torch, name)
    for name in (
        "exp", "exp2", "expm1", "sin", "cos", "tan", "atan", "sinh", "cosh", "tanh", "asinh", "sigmoid", "erf", "erfc",
        "abs", "sinc", "neg", "square", "relu", "frac",
    )
}  # fmt: skip
ENTRYWISE |= {
    name: getattr(F, name)
    for name in (
        "gelu", "silu", "mish", "elu", "celu", "selu", "softplus", "logsigmoid", "hardswish", "hardtanh",
        "leaky_relu", "softsign", "tanhshrink", "softshrink", "hardshrink", "relu6",
    )
}  # fmt: skip
OF_POSITIVE: dict[str, Callable[[Any], Any]] = {
    name: getattr(torch, name)
    for name in (
        "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal", "asin", "acos", "atanh", "lgamma", "digamma",
        "logit", "erfinv",
    )
}  # fmt: skip
OF_POSITIVE |= {
    f"special.{name}": getattr(torch.special, name)
    for name in ("i0", "i1", "i0e", "i1e", "ndtr", "log_ndtr", "ndtri", "entr", "erfcx")
}
OTHERS: dict[str, Callable[[Any], Any]] = {
    "amax": lambda x: x.amax(1),
    "bilinear": lambda x: F.interpolate(x[None, None], scale_factor=2, mode="bilinear"),
    "cat": lambda x: torch.cat([x, x.T.reshape(2, 3)], 1),
    "cdist": lambda x: torch.cdist(x, x + 1.0),
    "cummax": lambda x: x.cummax(1)[0],
    "cumprod": lambda x: x.cumprod(1),
    "cumsum": lambda x: x.cumsum(0),
    "diag_embed": lambda x: x.diag_embed(),
    "einsum": lambda x: torch.einsum("ij,kj->ik", x, x),
    "embedding_bag": lambda x: F.embedding_bag(torch.tensor([0, 1, 1]), x, torch.tensor([0, 1]), mode="sum"),
    "fft": lambda x: torch.fft.rfft(x).abs(),
    "gather": lambda x: x.gather(1, torch.tensor([[0, 2], [1, 1]])),
    "glu": lambda x: F.glu(torch.cat([x, x], 1)),
    "grid_sample": lambda x: F.grid_sample(x[None, None], x[None, :, :2, None].mT * 0.5, align_corners=False),
    "index_put": lambda x: x.clone().index_put((torch.tensor([0, 1]), torch.tensor([2, 0])), x[:, 1], True),
    "inverse": lambda x: torch.linalg.inv(x @ x.T + torch.eye(2, dtype=x.dtype)),
    "cholesky": lambda x: torch.linalg.cholesky(x @ x.T + torch.eye(2, dtype=x.dtype)),
    "det": lambda x: torch.linalg.det(x[:, :2]),
    "eigvalsh": lambda x: torch.linalg.eigvalsh(x @ x.T),
    "kron": lambda x: torch.kron(x, x),
    "layer_norm": lambda x: F.layer_norm(x, (3,)),
    "logsumexp": lambda x: x.logsumexp(1),
    "masked_fill": lambda x: x.masked_fill(x > 0.5, -1.0),
    "norm": lambda x: x.norm(dim=1),
    "prod": lambda x: x.prod(1),
    "qr": lambda x: torch.linalg.qr(x.T)[1],
    "scatter_add": lambda x: torch.zeros(2, 4, dtype=x.dtype).scatter_add(
        1, torch.tensor([[0, 0, 3], [1, 2, 2]]), x
    ),
    "softmax": lambda x: x.softmax(1) * torch.arange(3.0),
    "sort": lambda x: x.sort(1)[0],
    "std": lambda x: x.std(1),
    "svdvals": lambda x: torch.linalg.svdvals(x),
    "topk": lambda x: x.topk(2, 1)[0],
    "unfold": lambda x: F.unfold(x[None, None], 2),
    "where": lambda x: torch.where(x > 0, x.exp(), x.sin()),
}


def _verdict(function: Callable[[Any], Any], point: Any) -> str:
    x = torch.tensor(point, dtype=torch.float64)

    def weighted(x: Any) -> Any:
        y = function(x)
        return (y * torch.linspace(0.5, 1.5, y.numel(), dtype=torch.float64).reshape(y.shape)).sum()

    (one,) = gradproof.check(weighted, x).gradients
    return f"{one.verdict.value} {one.oracle} {one.reason or ''}".strip()


@pytest.mark.parametrize("name", ENTRYWISE)
def test_functions_of_any_number(name: str) -> None:
    assert _verdict(ENTRYWISE[name], POINT) == "correct ball"


@pytest.mark.parametrize("name", OF_POSITIVE)
def test_functions_of_positive_numbers(name: str) -> None:
    assert _verdict(OF_POSITIVE[name], _PLUS) == "correct ball"


@pytest.mark.parametrize("name", OTHERS)
def test_functions_of_arrays(name: str) -> None:
    assert _verdict(OTHERS[name], POINT) == "correct ball"


def test_a_meaning_that_is_not_what_the_kernel_returned_is_no_meaning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The planted lowering says cos where sin ran: nothing is judged by it, and the op itself is asked."""
    monkeypatch.setitem(TABLE, "sin", lambda m, e, x: m.cos(x))
    assert _verdict(torch.sin, POINT).startswith("correct differences `torch.sin`")


def test_hooks_that_change_a_gradient_are_named() -> None:
    def program() -> None:
        w = torch.tensor([2.0, -1.0], requires_grad=True)
        h = w * 2
        h.register_hook(lambda g: g * 0.5)
        (h**2).sum().backward()

    (one,) = audited(program).gradients
    assert one.verdict.value == "wrong"
    assert [cause.kind for cause in one.diagnostics] == ["straight-through"]


@pytest.mark.timeout(600)
def test_nearly_all_ops_that_the_database_runs_have_a_meaning(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every sixth entry of it, so that it takes seconds; all of it is what `doctor --coverage torch` counts."""
    pytest.importorskip("expecttest")
    every = counting.database()
    monkeypatch.setattr(counting, "database", lambda: every[::6])
    covered, opaque, _, _, partly, counted = counting.coverage()
    assert "entries of its op database" in counted
    assert len(covered) >= 140
    assert len(covered) / (len(covered) + len(opaque)) >= 0.95
    assert set(partly) <= set(covered)


def test_a_meaning_that_does_not_give_what_the_kernel_returned_is_not_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("expecttest")
    own = [entry for entry in counting.database() if entry.name in ("sin", "exp")]
    monkeypatch.setattr(counting, "database", lambda: own)
    monkeypatch.setitem(TABLE, "sin", lambda m, e, x: m.cos(x))
    covered, opaque, *_ = counting.coverage()
    assert "exp" in covered
    assert "sin" in opaque
