"""Every way of asking PyTorch for a derivative is seen, under the user's names."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from tests.frontends.torch.seen import assert_all_correct, audited
from torch.autograd import forward_ad, functional

from gradproof.frontends.torch.record import observation
from gradproof.frontends.torch.record.observation import observe

pytestmark = pytest.mark.torch


def cube(x: Any) -> Any:
    return (x**3).sum()


def _told(report: Any) -> set[tuple[str, str]]:
    return {(one.target, one.source) for one in report.gradients}


def test_one_line_that_runs_the_engine_several_times_is_one_execution() -> None:
    def program() -> None:
        x, v = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 0.5])
        functional.hvp(cube, x, v)
        functional.hessian(cube, x)

    report = audited(program)
    assert_all_correct(report)
    assert {one.occurrence for one in report.gradients} == {1}
    assert ("cube", "x") in _told(report)
    assert len({one.call.line for one in report.gradients}) == 2


def test_tangents_in_forward_mode() -> None:
    def program() -> None:
        x, t = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 0.5])
        with forward_ad.dual_level():
            y = torch.sin(forward_ad.make_dual(x, t)) * 2.0
            forward_ad.unpack_dual(y)
        torch.func.jvp(cube, (x,), (t,))

    report = audited(program)
    assert_all_correct(report, 2)
    assert ("cube", "x") in _told(report)


class _Halved(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):  # type: ignore[no-untyped-def]
        return x * 2.0

    @staticmethod
    def backward(ctx, g):  # type: ignore[no-untyped-def]
        return g * 2.0

    @staticmethod
    def jvp(ctx, t):  # type: ignore[no-untyped-def]
        return t * 1.5


def test_a_wrong_tangent_is_found() -> None:
    def program() -> None:
        x, t = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 0.5])
        with forward_ad.dual_level():
            forward_ad.unpack_dual(_Halved.apply(forward_ad.make_dual(x, t)))

    (one,) = audited(program).gradients
    assert one.verdict.value == "wrong"


def test_names_in_transforms() -> None:
    def program() -> None:
        w = torch.tensor([1.0, 2.0])
        torch.func.grad(cube)(w)

    assert _told(audited(program)) == {("cube", "w")}


def test_names_of_what_a_module_holds_without_pytorch_knowing() -> None:
    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = [torch.nn.Linear(2, 2, bias=False)]
            self.scale = torch.tensor(2.0, requires_grad=True)
            self.head = torch.nn.Linear(2, 1, bias=False)

        def forward(self, x: Any) -> Any:
            return (self.head(self.layers[0](x)) * self.scale).sum()

    def program() -> None:
        net = Net()
        net(torch.ones(1, 2)).backward()

    assert {one.source for one in audited(program).gradients} == {
        "net.layers[0].weight", "net.scale", "net.head.weight",
    }  # fmt: skip


def test_a_leaf_of_a_function_that_has_returned_is_called_as_it_was_there() -> None:
    def penalty(x: Any) -> Any:
        mix = x * 0.5
        mix.requires_grad_(True)
        return (mix**2).sum()

    def program() -> None:
        penalty(torch.tensor([1.0, 2.0])).backward()

    assert {one.source for one in audited(program).gradients} == {"mix"}


@pytest.mark.parametrize("seconds", [1e9, 0.0])
def test_a_gradient_behind_a_short_loop_is_heard(seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observation, "LINGER", seconds)

    def program() -> None:
        w = torch.tensor([1.0, 2.0], requires_grad=True)
        for _ in range(4):
            (w**2).sum().backward()
            w.grad = None
        torch.autograd.grad((w**3).sum(), w)

    *looped, behind = audited(program).gradients
    assert [one.verdict.value for one in looped] == ["correct", "correct"]
    assert behind.verdict.value == ("correct" if seconds else "unverified")


def test_a_laplacian_of_a_network_in_a_loss() -> None:
    """Parameters are detached first, and the last bias has no part in a second derivative: its gradient is zeros."""
    net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
    points = torch.rand(4, 2)

    def value(p: Any, x: Any) -> Any:
        return torch.func.functional_call(net, p, (x[None],))[0, 0]

    def laplacian(p: Any, x: Any) -> Any:
        return torch.trace(torch.func.jacrev(torch.func.grad(value, argnums=1), argnums=1)(p, x))

    def loss(p: Any) -> Any:
        return (torch.func.vmap(laplacian, (None, 0))(p, points) ** 2).mean()

    report = audited(lambda: torch.func.grad(loss)({k: v.detach() for k, v in net.named_parameters()}))
    found = {one.source: one.verdict.value for one in report.gradients if one.source.startswith("net.")}
    assert found == dict.fromkeys(("net.0.weight", "net.0.bias", "net.2.weight", "net.2.bias"), "correct")
    assert report.notes == ()


def test_zeros_that_pytorch_fills_in_are_gradients() -> None:
    def program() -> None:
        a, b = (torch.tensor([number], requires_grad=True) for number in (1.0, 3.0))
        torch.autograd.grad((a**2).sum(), [a, b], materialize_grads=True)
        functional.jacobian(lambda a, b: (a**2).sum(), (a, b))
        torch.func.grad(lambda a, b: (a**2).sum(), argnums=(0, 1))(a.detach(), b.detach())

    assert_all_correct(audited(program), 6)


def test_a_layer_that_has_no_shape_yet_is_heard_from_when_it_has_one() -> None:
    def program() -> None:
        net = torch.nn.LazyLinear(2)
        net(torch.ones(1, 3)).sum().backward()

    assert_all_correct(audited(program), 2)


def test_a_gradient_of_a_gradient_is_seen_where_its_line_was_never_reached_before() -> None:
    """The inner line has run often enough not to be looked at; the outer one needs what it computed."""

    def program() -> None:
        w = torch.tensor([1.0, 2.0], requires_grad=True)
        total = torch.zeros(())
        for k in range(2):
            (g,) = torch.autograd.grad(((k + 1) * w**2).sum(), w, create_graph=True)
            total = total + (g**2).sum()
        total.backward()

    assert_all_correct(audited(program), 3)


@pytest.mark.filterwarnings("ignore")
def test_what_a_gradient_check_tries_beside_the_gradient_is_no_gradient() -> None:
    def program() -> None:
        x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
        torch.autograd.gradcheck(cube, (x,))
        torch.autograd.gradgradcheck(cube, (x,))

    assert_all_correct(audited(program))


@pytest.mark.filterwarnings("ignore")
def test_a_condition_of_pytorch_runs_and_is_said_not_to_be_heard() -> None:
    def program() -> None:
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        y = torch.cond(x.sum() > 0, lambda v: v.sin(), lambda v: v.cos(), (x,))
        y.sum().backward()
        assert torch.equal(x.grad, x.detach().cos())

    (one,) = audited(program).gradients
    assert one.verdict.value == "unverified"
    assert "cond" in str(one.reason)


def test_a_check_whose_step_is_too_small_is_to_blame_and_not_the_gradient() -> None:
    def program() -> None:
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        torch.autograd.gradcheck(lambda x: (x.sin() * 100).sum(), (x,), raise_exception=False)

    with pytest.warns(UserWarning, match="not a double precision"):
        report = audited(program)
    assert {one.verdict.value for one in report.gradients} == {"correct"}
    assert {cause.kind for one in report.gradients for cause in one.diagnostics} == {"step-size"}


@pytest.mark.filterwarnings("ignore")
def test_a_scripted_function_is_judged_or_said_to_be_unverified() -> None:
    scripted = torch.jit.script(_scripted)

    def program() -> None:
        w = torch.tensor([1.0, 2.0], requires_grad=True)
        for _ in range(3):
            scripted(w).sum().backward()

    found = audited(program).gradients
    assert found
    assert {one.verdict.value for one in found} <= {"correct", "unverified"}


def _scripted(x: torch.Tensor) -> torch.Tensor:
    return torch.sigmoid(x) * x


def _weighed(w: Any, x: Any) -> Any:
    return torch.tanh(x @ w)


def test_jacobians_and_gradients_for_each_example_are_judged() -> None:
    def program() -> None:
        w, x = torch.tensor([1.0, 2.0]), torch.tensor([[0.1, 0.2], [0.3, -0.4], [0.5, 0.6]])
        jacobian = torch.func.jacrev(_weighed)(w, x)
        assert jacobian.shape == (3, 2)
        torch.func.vmap(torch.func.grad(_weighed), in_dims=(None, 0))(w, x)
        torch.func.vmap(torch.func.grad(_weighed, argnums=1), in_dims=(None, 0))(w, x)

    report = audited(program)
    assert_all_correct(report, 3)
    assert [one.source for one in report.gradients] == ["w", "w", "x"]


def _layer(w: Any, x: Any) -> Any:
    return torch.tanh(x @ w)


def _of_each(derivative: Any) -> Any:
    """For each row of `x`, its weights being common to all."""
    return torch.func.vmap(derivative, in_dims=(None, 0))


FOR_EACH = {
    "own rows": lambda w, x: _of_each(torch.func.jacrev(_layer, argnums=1))(w, x),
    "rows of what is shared": lambda w, x: _of_each(torch.func.jacrev(_layer))(w, x),
    "columns": lambda w, x: _of_each(torch.func.jacfwd(_layer, argnums=1))(w, x),
    "columns of what is shared": lambda w, x: _of_each(torch.func.jacfwd(_layer))(w, x),
    "second": lambda w, x: _of_each(torch.func.hessian(lambda w, x: _layer(w, x).prod(), argnums=1))(w, x),
    "own weights": lambda w, x: torch.func.vmap(
        lambda row, v: torch.func.vjp(lambda r: _layer(w, r), row)[1](v)[0]
    )(x, 2.0 * x),
    "own directions": lambda w, x: torch.func.vmap(
        lambda row, v: torch.func.jvp(lambda r: _layer(w, r), (row,), (v,))[1], in_dims=(1, 0)
    )(x.T, 2.0 * x),
    "one direction": lambda w, x: _of_each(lambda w, r: torch.func.jvp(torch.sin, (r,), (torch.ones(2),))[1])(
        w, x
    ),
}


@pytest.mark.parametrize("name", FOR_EACH)
def test_each_example_has_its_jacobian_judged(name: str) -> None:
    w, x = torch.tensor([[1.0, 2.0], [0.5, -1.0]]), torch.tensor([[0.1, 0.2], [0.3, -0.4], [0.5, 0.6]])
    found = audited(lambda: FOR_EACH[name](w, x)).gradients
    assert found
    assert [one.verdict.value for one in found] == ["correct"] * len(found), [one.reason for one in found]
    assert {one.oracle for one in found} == {"ball"}


def _filled(x: Any) -> Any:
    y = torch.zeros(3)
    y[0] = (x**2).sum()
    y[1:] = x
    y *= 2.0
    return y.prod() + y.sum()


def _read_by_an_older_view(x: Any) -> Any:
    y = torch.zeros(3)
    rest = y[1:]
    y += x.sum() ** 2
    return rest.sum() * y[0]


def _beside_a_detached_copy(x: Any) -> Any:
    y = x**2
    held = y.detach()
    y += x
    return (y * held).sum()


@pytest.mark.parametrize("function", [_filled, _read_by_an_older_view, _beside_a_detached_copy])
def test_what_is_changed_in_place_below_a_transform_keeps_its_history(function: Any) -> None:
    x = torch.tensor([1.0, 2.0])

    def program() -> None:
        torch.func.grad(function)(x)
        torch.func.jacrev(function)(x)

    assert_all_correct(audited(program), 2)


@pytest.mark.parametrize("function", [_filled, _read_by_an_older_view, _beside_a_detached_copy])
def test_what_is_changed_in_place_below_two_transforms_is_never_called_wrong(function: Any) -> None:
    x = torch.tensor([1.0, 2.0])
    found = audited(lambda: torch.func.grad(lambda v: torch.func.grad(function)(v).sum())(x)).gradients
    assert len(found) == 2
    assert {one.verdict.value for one in found} <= {"correct", "unverified"}


class _Tripled(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):  # type: ignore[no-untyped-def]
        return x * 3.0

    @staticmethod
    def setup_context(ctx, inputs, output):  # type: ignore[no-untyped-def]
        pass

    @staticmethod
    def backward(ctx, g):  # type: ignore[no-untyped-def]
        return g * 2.0


def test_a_wrong_rule_inside_vmap_is_never_called_right() -> None:
    def program() -> None:
        x = torch.tensor([[0.1, 0.2], [0.3, -0.4]])
        torch.func.vmap(torch.func.grad(lambda v: _Tripled.apply(v).sum()))(x)
        torch.func.vmap(torch.func.jacrev(_Tripled.apply))(x)

    assert "correct" not in {one.verdict.value for one in audited(program).gradients}


def test_many_weights_at_once_are_judged_row_by_row() -> None:
    def program() -> None:
        w = torch.tensor([1.0, 2.0], requires_grad=True)
        y = torch.tanh(w)
        (rows,) = torch.autograd.grad(y, w, torch.eye(2), is_grads_batched=True, retain_graph=True)
        assert rows.shape == (2, 2)
        weights = torch.tensor([[1.0, 2.0], [0.0, 1.0], [3.0, 3.0]])
        torch.autograd.grad(y, w, weights, is_grads_batched=True)
        torch.autograd.functional.jacobian(torch.tanh, w.detach(), vectorize=True)

    report = audited(program)
    assert report.notes == ()
    assert [one.verdict.value for one in report.gradients] == ["correct"] * 5
    assert [one.shape for one in report.gradients] == [(2, 2), (2,), (2,), (2,), (2, 2)]


def test_a_wrong_rule_for_many_weights_is_not_called_correct() -> None:
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return 2 * ctx.saved_tensors[0] ** 2 * g

    def program() -> None:
        w = torch.tensor([1.0, 2.0], requires_grad=True)
        torch.autograd.grad(Cube.apply(w), w, torch.eye(2), is_grads_batched=True)

    (one,) = audited(program).gradients
    assert one.verdict.value == "unverified"
    assert "differs from the true one" in str(one.reason)


def product(a: Any, b: Any) -> Any:
    return (a * b**2).sum()


TWICE = {
    "one of two": lambda v: torch.func.grad(product)(v, v),
    "both": lambda v: torch.func.grad(product, argnums=(0, 1))(v, v),
    "kept by the function": lambda v: torch.func.vjp(lambda a: product(a, v), v)[1](torch.tensor(1.0)),
    "inside another": lambda v: torch.func.grad(lambda x: torch.func.grad(product)(x, x).sum())(v),
}


@pytest.mark.parametrize("name", TWICE)
def test_one_tensor_for_two_arguments_is_two_arguments(name: str) -> None:
    report = audited(lambda: TWICE[name](torch.tensor([1.0, 2.0])))
    assert report.gradients
    assert_all_correct(report)


def test_in_forward_mode_a_tensor_that_is_also_a_constant_is_not_judged() -> None:
    v, t = torch.tensor([1.0, 2.0]), torch.tensor([0.5, 1.0])

    def by_v(a: Any) -> Any:
        return product(a, v)

    report = audited(
        lambda: (torch.func.jvp(lambda a: product(a, v), (v,), (t,)), torch.func.jvp(by_v, (v,), (t,)))
    )
    assert [str(one.verdict) for one in report.gradients] == ["unverified", "unverified"]
    assert all("as a constant" in (one.reason or "") for one in report.gradients)
    assert_all_correct(audited(lambda: torch.func.jvp(by_v, (v.clone(),), (t,))))


@pytest.mark.parametrize("lingers", [0.0, 60.0])
def test_steps_that_nobody_looks_at_are_counted_and_a_bad_one_is_noticed(
    lingers: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the short way, which is taken when the ear is off, and by the long one."""
    monkeypatch.setattr("gradproof.frontends.torch.record.observation.LINGER", lingers)
    x = torch.ones(3, requires_grad=True)
    calls: list[Any] = []
    with observe(calls.append, lambda occurrence: occurrence == 1) as observation:
        for step in range(40):
            factor = float("nan") if step == 30 else 1.0
            (x * factor).sum().backward()
    assert [call.occurrence for call in calls] == [1, 32]
    (site,) = observation.sites.table.values()
    assert (site.executions, site.skipped, site.nonfinite_unchecked) == (40, 38, 1)
    assert observation.failures == []


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), complex(1, float("nan"))])
def test_a_target_that_is_no_number_of_its_own_is_passed_by(
    bad: complex, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither several numbers nor a complex one are asked whether they are finite."""
    monkeypatch.setattr("gradproof.frontends.torch.record.observation.LINGER", 0.0)
    x = torch.ones(3, dtype=torch.complex64, requires_grad=True)
    with observe(lambda call: None, lambda occurrence: occurrence == 1) as observation:
        for step in range(12):
            y = (x * (bad if step == 6 else 1.0))[: 1 + step % 2].clone()
            y.backward(torch.ones_like(y))
    (site,) = observation.sites.table.values()
    assert (site.executions, site.skipped, site.nonfinite_unchecked) == (12, 11, 0)
    assert observation.failures == []


def test_a_line_that_only_sometimes_reaches_the_engine_itself_is_not_taken_for_another() -> None:
    """The same instruction calls `backward` of a tensor and of an object of the user's, which has a line of its own."""

    class Own:
        def backward(self) -> None:
            torch.autograd.grad((x * 2).sum(), x)

    x = torch.ones(3, requires_grad=True)
    calls: list[Any] = []
    with observe(calls.append, lambda occurrence: occurrence == 1):
        for step in range(12):
            loss = Own() if step == 9 else x.sum()
            loss.backward()
    assert [call.occurrence for call in calls] == [1, 1]
