"""Exceptions of PyTorch from before its engine runs: explained at the user's line."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from gradproof.frontends.torch.crash import explain
from gradproof.frontends.torch.prevented import prevented
from gradproof.ir.capture import Capture

pytestmark = pytest.mark.torch


def _leaf() -> Any:
    return torch.tensor([1.0, 2.0], requires_grad=True)


def _in_place_of_a_leaf() -> None:
    w = _leaf()
    w -= 0.1


def _entry_of_a_leaf() -> None:
    w = _leaf()
    w[0] = 1.0


def _one_of_several_views() -> None:
    first, _ = (_leaf() * 2).unbind()
    first.add_(1.0)


def _inference() -> None:
    with torch.inference_mode():
        given = torch.ones(2)
    _leaf() * given


class _Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 2

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return gradient * 2


class _Apart(torch.autograd.Function):
    @staticmethod
    def forward(x: Any) -> Any:
        return x * 2

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return gradient * 2


class _OldStyle(torch.autograd.Function):
    def forward(self, x: Any) -> Any:
        return x * 2


class _KeepsANumber(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any, scale: float) -> Any:
        ctx.save_for_backward(x, scale)
        return x * scale


class _ChangesInPlace(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.mark_dirty(x.mul_(2))
        return x.clone()


def _view_without_graph() -> None:
    x = _leaf() * 2
    with torch.no_grad():
        view = x[:1]
    view.add_(1.0)


def _inference_leaf() -> None:
    with torch.inference_mode():
        x = torch.ones(2)
    x.requires_grad_()


def _replaced_parameter() -> None:
    model = torch.nn.Linear(2, 1)
    model.weight = model.weight * 2


def _assigned_gradient() -> None:
    _leaf().grad = torch.ones(3)


def _scaler(model: Any) -> None:
    scaler = torch.amp.GradScaler("cpu")
    given = torch.ones(1, 2, dtype=model.weight.dtype)
    loss = scaler.scale(model(given).sum())
    if model.weight.dtype == torch.float16:
        loss.backward()
    scaler.step(torch.optim.SGD(model.parameters(), lr=0.1))


def _written_in_vmap(x: Any) -> Any:
    total = torch.zeros(2)
    total[0] = x[0] ** 2
    return total.sum()


def _own_backward(x: Any) -> Any:
    y = (x**2).sum()
    y.backward()
    return y


def _strict() -> None:
    torch.autograd.functional.jacobian(lambda x: torch.ones(2), torch.ones(2), strict=True)


def _mapped(function: Callable[[Any], Any]) -> Any:
    return torch.func.vmap(torch.func.grad(function))(torch.ones(3, 2))


NEW: dict[str, tuple[Callable[[], Any], str]] = {
    "view without graph": (_view_without_graph, "reassigned-variable"),
    "inference leaf": (_inference_leaf, "outside-tape"),
    "detached view": (lambda: (_leaf() * 2)[:1].detach_(), "stop-gradient"),
    "backward of a float": (lambda: _leaf().sum().item().backward(), "left-framework"),
    "backward of NumPy": (lambda: _leaf().detach().numpy().mean().backward(), "left-framework"),
    "a parameter that is replaced": (_replaced_parameter, "reassigned-variable"),
    "grad that does not fit": (_assigned_gradient, "crash"),
    "no parameters": (lambda: torch.optim.SGD([], lr=0.1), "not-connected"),
    "old style": (lambda: _OldStyle()(_leaf()), "custom-gradient"),
    "no setup_context": (lambda: torch.func.grad(_Twice.apply)(torch.ones(())), "no-gradient-registered"),
    "no vmap": (lambda: torch.func.vmap(_Apart.apply)(torch.ones(2, 2)), "no-gradient-registered"),
    "no jvp": (lambda: torch.func.jvp(_Apart.apply, (torch.ones(2),), (torch.ones(2),)), "no-gradient-registered"),
    "a number is kept": (lambda: _KeepsANumber.apply(_leaf(), 2.0), "custom-gradient"),
    "dirty": (lambda: _ChangesInPlace.apply(_leaf() * 1), "custom-gradient"),
    "func.grad of several": (lambda: torch.func.grad(lambda x: x**2)(torch.ones(2)), "crash"),
    "func.grad of a float": (lambda: torch.func.grad(lambda x: x.sum().item())(torch.ones(2)), "left-framework"),
    "func.grad and numpy": (lambda: torch.func.jacrev(lambda x: x.detach().numpy())(torch.ones(2)), "left-framework"),
    "backward inside": (lambda: torch.func.grad(_own_backward)(torch.ones(2)), "crash"),
    "requires_grad_ inside": (lambda: torch.func.grad(lambda x: x.requires_grad_().sum())(torch.ones(2)), "crash"),
    "item in vmap": (lambda: _mapped(lambda x: x.sum() * x[0].item()), "crash"),
    "random in vmap": (lambda: _mapped(lambda x: (x * torch.randn(2)).sum()), "crash"),
    "in place in vmap": (lambda: _mapped(_written_in_vmap), "reassigned-variable"),
    "hessian of several": (lambda: torch.autograd.functional.hessian(lambda x: x**2, torch.ones(2)), "crash"),
    "jacobian of a float": (lambda: torch.autograd.functional.jacobian(lambda x: 1.0, torch.ones(2)), "left-framework"),
    "strict": (_strict, "not-connected"),
    "gradcheck without leaves": (lambda: torch.autograd.gradcheck(lambda x: x, torch.ones(2)), "not-watched"),
    "scaler without gradients": (lambda: _scaler(torch.nn.Linear(2, 1)), "not-connected"),
    "scaler of float16": (lambda: _scaler(torch.nn.Linear(2, 1).half()), "crash"),
}  # fmt: skip

CASES: dict[str, tuple[Callable[[], Any], str]] = {
    **NEW,
    "several numbers": (lambda: (_leaf() * 2).backward(), "crash"),
    "other weights": (lambda: (_leaf() * 2).backward(torch.ones(3)), "crash"),
    "integers": (lambda: torch.tensor([1, 2], requires_grad=True), "integer-dtype"),
    "in place": (_in_place_of_a_leaf, "reassigned-variable"),
    "an entry": (_entry_of_a_leaf, "reassigned-variable"),
    "a view": (_one_of_several_views, "reassigned-variable"),
    "numpy": (lambda: _leaf().numpy(), "left-framework"),
    "retain_grad": (lambda: torch.ones(2).retain_grad(), "not-watched"),
    "hook": (lambda: torch.ones(2).register_hook(print), "not-watched"),
    "flag": (lambda: (_leaf() * 2).requires_grad_(False), "reassigned-variable"),
    "optimizer": (lambda: torch.optim.SGD([_leaf() * 2], lr=0.1), "reassigned-variable"),
    "inference": (_inference, "outside-tape"),
    "deepcopy": (lambda: copy.deepcopy(_leaf() * 2), "reassigned-variable"),
}


@pytest.mark.parametrize("name", CASES)
def test_it_is_explained_at_the_users_line(name: str) -> None:
    program, kind = CASES[name]
    with pytest.raises((RuntimeError, ValueError, TypeError, AttributeError, AssertionError)) as caught:
        program()
    crash = explain(caught.value)
    assert crash is not None, str(caught.value)
    assert crash.diagnostic is not None
    assert crash.diagnostic.kind == kind
    assert crash.diagnostic.primary is not None
    assert crash.diagnostic.primary.span.file == __file__


def test_other_exceptions_are_left_alone() -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.ones(2) @ torch.ones(3)
    assert explain(caught.value) is None


def _overwritten() -> None:
    w = _leaf()
    loss = (w**2).sum()
    w -= 0.1
    loss.backward()


def _integers() -> None:
    w = torch.tensor([1, 2], requires_grad=True)
    loss = (w**2).sum()
    loss.backward()


def _to_numpy() -> None:
    w = _leaf()
    loss = torch.from_numpy((w * 2).numpy()).sum()
    loss.backward()


def _cast() -> None:
    w = _leaf().to(torch.float64)
    torch.optim.SGD([w], lr=0.1)
    loss = (w**2).sum()
    loss.backward()


def _updated() -> None:
    w = _leaf()
    loss = (w**2).sum()
    loss.backward()
    w -= 0.1 * w.grad


def _prevented(program: Callable[[], None]) -> Capture | None:
    with pytest.raises((RuntimeError, ValueError)) as caught:
        program()
    crash = explain(caught.value)
    assert crash is not None
    assert crash.diagnostic is not None
    return prevented(caught.value, crash.diagnostic)


@pytest.mark.parametrize(
    ("program", "kind"),
    [
        (_overwritten, "reassigned-variable"),
        (_integers, "integer-dtype"),
        (_to_numpy, "left-framework"),
        (_cast, "reassigned-variable"),
    ],
)
def test_the_gradient_that_was_not_reached_has_an_entry(program: Callable[[], None], kind: str) -> None:
    capture = _prevented(program)
    assert capture is not None
    assert capture.target == "loss"
    assert capture.call.line == max(line for *_, line in program.__code__.co_lines() if line)
    (source,) = capture.sources
    assert source.name == "w"
    assert source.missing is not None
    assert source.missing.kind == kind


def test_a_gradient_that_came_back_is_not_missing_because_of_what_came_after() -> None:
    assert _prevented(_updated) is None


def _second_time() -> None:
    loss = (_leaf() ** 2).sum()
    loss.backward()
    loss.backward()


def _changed_in_place() -> None:
    y = _leaf().exp()
    y.mul_(2)
    y.sum().backward()


def _nan() -> None:
    x = torch.tensor([0.0, 1.0], requires_grad=True)
    with torch.autograd.set_detect_anomaly(True):
        (torch.sqrt(x) * torch.tensor([0.0, 1.0])).sum().backward()


UNHEARD: dict[str, tuple[Callable[[], Any], str]] = {
    "a second time": (_second_time, "graph-grows"),
    "in place": (_changed_in_place, "reassigned-variable"),
    "no graph": (lambda: torch.ones(()).backward(), "not-watched"),
    "unused": (lambda: torch.autograd.grad(_leaf().sum(), _leaf()), "not-connected"),
    "nan": (_nan, "singular-point"),
    "no derivative": (
        lambda: torch.special.zeta(_leaf(), _leaf()).sum().backward(),
        "no-gradient-registered",
    ),
}


@pytest.mark.parametrize("name", UNHEARD)
@pytest.mark.filterwarnings("ignore")
def test_the_engine_is_explained_where_nobody_listened(name: str) -> None:
    program, kind = UNHEARD[name]
    with pytest.raises(RuntimeError) as caught:
        program()
    crash = explain(caught.value)
    assert crash is not None
    assert crash.diagnostic is not None
    assert crash.diagnostic.kind == kind


def test_what_is_told_with_its_gradients_is_not_told_again() -> None:
    with pytest.raises(RuntimeError) as caught:
        _second_time()
    assert explain(caught.value, was_heard=True) is None
