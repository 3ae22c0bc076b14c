"""`check` and its kin on PyTorch functions; fixes that are run in PyTorch; policies and transformations."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from tests.frontends.torch.seen import assert_all_correct, audited

import gradproof
from gradproof.errors import InvalidInput

pytestmark = pytest.mark.torch


def weighted(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return (torch.log(torch.exp(x) + 1) * w).sum()


def verdicts(report: gradproof.Report) -> dict[str, str]:
    return {one.source: one.verdict.value for one in report.gradients}


def test_every_argument_is_judged_under_its_name() -> None:
    x, w = torch.tensor([1.0, 2.0]), torch.tensor([0.5, 3.0])
    assert verdicts(gradproof.check(weighted, x, w)) == {"x": "correct", "w": "correct"}
    assert not x.requires_grad
    assert x.grad is None
    gradproof.assert_correct(weighted, x, w)


def test_an_argument_may_require_its_gradient_already() -> None:
    """The function is called as a black box too, and PyTorch hands out no numbers of such tensors or results."""
    x, w = (torch.tensor([0.5, 2.0], requires_grad=True) for _ in range(2))
    assert verdicts(gradproof.check(weighted, x, w)) == {"x": "correct", "w": "correct"}
    assert x.grad is None


def test_a_module_stands_for_its_parameters() -> None:
    layer = torch.nn.Linear(2, 1)
    report = gradproof.check(layer, torch.tensor([0.3, 2.0]), output=lambda y: y.sum())
    assert {"weight", "bias"} <= set(verdicts(report))
    assert_all_correct(report)
    assert layer.weight.grad is None


def test_second_derivatives() -> None:
    assert_all_correct(gradproof.check(lambda x: (x**3).sum(), torch.tensor([0.3, 2.0]), order=2))


def test_a_jacobian_row_by_row() -> None:
    assert_all_correct(gradproof.check(lambda x: x.exp() * x.sum(), torch.tensor([0.3, 2.0]), output="each"))


def test_a_missing_gradient_is_explained() -> None:
    (one,) = gradproof.check(lambda x: x.detach().sum(), torch.tensor([0.3])).gradients
    assert one.verdict.value == "missing"
    assert one.diagnostics[0].kind == "stop-gradient"


def test_what_has_no_gradient_is_refused_by_name() -> None:
    with pytest.raises(InvalidInput, match="at least one argument of real numbers"):
        gradproof.check(lambda x: x.sum(), torch.tensor([1, 2]))


def test_a_fix_is_run_in_pytorch() -> None:
    (one,) = gradproof.check(lambda x: torch.log(torch.exp(x)).sum(), torch.tensor([100.0])).gradients
    assert one.verdict.value == "nonfinite"
    fix = one.diagnostics[0].fix
    assert fix is not None
    assert "run in PyTorch, return [1.0] in float32" in fix.checked


def test_what_sixteen_bits_allow_is_correct_under_autocast() -> None:
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.Linear(16, 2))

    def program() -> None:
        x, y = torch.randn(16, 8), torch.randint(0, 2, (16,))
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = torch.nn.functional.cross_entropy(net(x), y)
        loss.backward()

    assert_all_correct(audited(program), 4)


def test_digits_lost_to_a_cast_of_the_programs_own_are_not_excused() -> None:
    def program() -> None:
        x = torch.tensor([1000.3, 1000.1], requires_grad=True)
        (x.bfloat16().float() - 1000.0).square().sum().backward()

    assert {one.verdict.value for one in audited(program).gradients} == {"inaccurate"}


def test_gradients_of_torch_func_are_seen() -> None:
    w, x = torch.randn(3, 2), torch.randn(4, 3)

    def program() -> None:
        torch.func.grad(lambda w: torch.tanh(x @ w).square().sum())(w)
        torch.func.vjp(torch.exp, x)[1](torch.ones(4, 3))

    assert_all_correct(audited(program), 2)


def test_examples_of_vmap_inside_vmap_are_not_guessed_at() -> None:
    w, x = torch.randn(3), torch.randn(2, 4, 3)
    inner = torch.func.vmap(torch.func.grad(lambda w, x: (x @ w).sin()), in_dims=(None, 0))

    def program() -> None:
        torch.func.vmap(inner, in_dims=(None, 0))(w, x)

    (one,) = audited(program).gradients
    assert one.verdict.value == "unverified"
    assert "vmap" in (one.reason or "")


@pytest.mark.parametrize("counts_padding", [True, False])
def test_padding_counts_in_an_average_where_it_is_asked_to(counts_padding: bool) -> None:
    """Proven, not measured; and of zeros too, whose average tells nothing about the divisor."""

    def pooled(x: torch.Tensor) -> torch.Tensor:
        averages = torch.nn.functional.avg_pool2d(
            x, (2, 3), (3, 2), (1, 1), ceil_mode=True, count_include_pad=counts_padding
        )
        return averages.sum()

    for x in (torch.rand(1, 1, 5, 6), torch.zeros(1, 1, 5, 6)):
        (gradient,) = gradproof.check(pooled, x).gradients
        assert (gradient.verdict.value, gradient.oracle) == ("correct", "ball")


def test_the_compiler_is_told_of_our_code_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """It compiles all of its rules anew whenever one is added."""
    from torch._dynamo import trace_rules

    gradproof.check(torch.sum, torch.tensor([1.0]))
    told: list[str] = []
    monkeypatch.setattr(trace_rules, "add", told.append)
    gradproof.check(torch.sum, torch.tensor([1.0]))
    assert told == []


def test_a_pseudo_inverse_that_leaves_singular_values_out_is_not_the_inverse() -> None:
    """With a tolerance of 1 it is zero everywhere, and so is its derivative."""
    x = torch.tensor([[-1.1149502, -0.3856009], [-1.1143736, -0.38577342]])
    report = gradproof.check(lambda x: torch.linalg.pinv(x, rtol=1.0).sum(), x)
    assert verdicts(report)["x"] in ("correct", "unverified")
    whole = torch.tensor([[2.0, 1.0], [0.5, -3.0]])
    assert verdicts(gradproof.check(lambda x: torch.linalg.pinv(x).sum(), whole)) == {"x": "correct"}
