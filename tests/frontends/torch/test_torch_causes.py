"""What is said about PyTorch gradients that are missing, wrong or inaccurate: the verdict, the cause and its line."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable

import pytest

torch = pytest.importorskip("torch")

from tests.frontends.torch.seen import audited
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

import gradproof
from gradproof.render.faults import ordered_diagnostics

pytestmark = pytest.mark.torch


def without_requires_grad() -> None:
    w = torch.tensor([1.0, 2.0])  # HERE
    loss = w.square().sum()
    loss.backward()


def under_no_grad() -> None:
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.no_grad():
        h = w * 2  # HERE
    loss = h.square().sum()
    loss.backward()


def detached() -> None:
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    loss = (w.detach() * 3).sum()  # HERE
    loss.backward()


def item_and_back() -> None:
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    total = w.sum().item()  # HERE
    loss = torch.tensor(total) * 2
    loss.backward()


def unused() -> None:
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    u = torch.tensor([1.0, 2.0], requires_grad=True)
    torch.autograd.grad((w * 2).sum(), u)  # HERE


def changed_in_place() -> None:
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    a = w.exp()
    a.add_(1)  # HERE
    a.sum().backward()


def argmax_of() -> None:
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    place = w.argmax().float()  # HERE
    (place * 2).backward()


def state_carried_over() -> None:
    w = torch.tensor(0.5, requires_grad=True)
    state = torch.ones(())
    for _ in range(2):
        state = torch.tanh(w * state)  # HERE
        state.square().backward()


def twice() -> None:
    w = torch.tensor(0.5, requires_grad=True)
    loss = w.exp()
    loss.backward()
    loss.backward()  # HERE


def not_set_back() -> None:
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1)
    for _ in range(2):
        w.square().sum().backward()  # HERE
        optimizer.step()


def no_leaf() -> None:
    w = torch.tensor([1.0, -2.0], requires_grad=True) * 0.1  # HERE
    loss = w.square().sum()
    loss.backward()
    with contextlib.suppress(UserWarning):
        print(w.grad)


class _TooFew(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):  # type: ignore[no-untyped-def]
        return a * b

    @staticmethod
    def backward(ctx, g):  # type: ignore[no-untyped-def]
        return g  # HERE


def too_few_gradients() -> None:
    a = torch.tensor(2.0, requires_grad=True)
    b = torch.tensor(3.0, requires_grad=True)
    _TooFew.apply(a, b).backward()


def clamped_probability() -> None:
    logits = torch.tensor([-50.0, 1.0], requires_grad=True)
    F.binary_cross_entropy(torch.sigmoid(logits), torch.ones(2)).backward()  # HERE


def clamped_without_graph() -> None:
    variance = torch.tensor([0.5, 1e-9], requires_grad=True)
    F.gaussian_nll_loss(torch.ones(2), torch.zeros(2), variance).backward()  # HERE


def alignment_of_log_probabilities() -> None:
    log_probs = torch.full((3, 1, 3), 1 / 3).log().requires_grad_()
    lengths = torch.tensor([3]), torch.tensor([1])
    F.ctc_loss(log_probs, torch.tensor([[1]]), *lengths).backward()  # HERE


def far_from_the_origin() -> None:
    """By |a|^2 - 2 a b + |b|^2; distances that come out as 0 are left out of the gradient as well."""
    torch.manual_seed(0)
    a = (torch.tensor([1000.0, 2000.0]) + torch.rand(28, 2)).requires_grad_()
    torch.cdist(a, torch.tensor([1000.0, 2000.0]) + torch.rand(28, 2)).mean().backward()  # HERE


CASES = {
    far_from_the_origin: ("inaccurate", "cancellation"),
    without_requires_grad: ("missing", "not-watched"),
    under_no_grad: ("missing", "outside-tape"),
    detached: ("missing", "stop-gradient"),
    item_and_back: ("missing", "left-framework"),
    unused: ("missing", "not-connected"),
    changed_in_place: ("missing", "reassigned-variable"),
    argmax_of: ("missing", "discrete-op"),
    state_carried_over: ("missing", "graph-grows"),
    twice: ("missing", "graph-grows"),
    not_set_back: ("wrong", "stale-accumulation"),
    no_leaf: ("missing", "reassigned-variable"),
    too_few_gradients: ("missing", "custom-gradient"),
    clamped_probability: ("wrong", "framework-rule"),
    clamped_without_graph: ("wrong", "framework-rule"),
    alignment_of_log_probabilities: ("wrong", "framework-rule"),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", CASES, ids=lambda program: program.__name__)
def test_causes_are_named_at_their_line(program: Callable[[], None]) -> None:
    def survived() -> None:
        with contextlib.suppress(RuntimeError):
            program()

    report = audited(survived)
    verdict, kind = CASES[program]
    guilty = [one for one in report.gradients if one.verdict.value == verdict]
    assert guilty, [(one.source, one.verdict, one.reason) for one in report.gradients]
    causes = [cause for one in guilty for cause in one.diagnostics if cause.severity == "error"]
    assert kind in {cause.kind for cause in causes}
    lines = {cause.primary.span.line for cause in causes if cause.kind == kind and cause.primary is not None}
    assert _marked(program) & lines
    assert report.notes == ()


def _marked(program: Callable[[], None]) -> set[int]:
    """The lines with a mark, of the function or, if it has none, of the class above it."""
    found = set()
    for piece in (program, _TooFew):
        text, first = inspect.getsourcelines(piece)
        found = {first + k for k, line in enumerate(text) if line.rstrip().endswith("# HERE")}
        if found:
            break
    return found


def accumulated_on_purpose() -> None:
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        for part in (1.0, 2.0):
            (part * w).square().sum().backward()
        optimizer.step()


def two_optimizers() -> None:
    """The second loss leaves gradients in the first one's weights, which are set back before they are used."""
    maker, judge = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
    of_maker = torch.optim.SGD(maker.parameters(), lr=0.1)
    of_judge = torch.optim.SGD(judge.parameters(), lr=0.1)
    for _ in range(2):
        of_judge.zero_grad()
        judge(maker(torch.ones(1, 2)).detach()).square().sum().backward()
        of_judge.step()
        of_maker.zero_grad()
        judge(maker(torch.ones(1, 2))).cos().sum().backward()
        of_maker.step()


def state_cut() -> None:
    w = torch.tensor(0.5, requires_grad=True)
    state = torch.ones(())
    for _ in range(2):
        state = torch.tanh(w * state.detach())
        state.square().backward()


def number_for_print() -> None:
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    loss = w.square().sum()
    print(loss.item())
    loss.backward()


@pytest.mark.parametrize("program", [accumulated_on_purpose, two_optimizers, state_cut, number_for_print])
def test_nothing_is_said_about_what_is_right(program: Callable[[], None]) -> None:
    report = audited(program)
    assert {one.verdict.value for one in report.gradients} == {"correct"}
    assert not [cause for one in report.gradients for cause in one.diagnostics if cause.severity == "error"]
    assert report.notes == ()


def test_a_hessian_is_no_sum_over_steps() -> None:
    """Its second derivatives contain the first of the same line, which are no earlier step."""
    report = audited(
        lambda: torch.autograd.functional.hessian(lambda v: (v**3).sum(), torch.tensor([1.0, 2.0, 3.0]))
    )
    assert report.gradients
    assert "stale-accumulation" not in {one.kind for g in report.gradients for one in g.diagnostics}


@pytest.mark.filterwarnings("ignore:The .grad attribute")
def test_a_leaf_whose_name_is_given_to_a_new_tensor_is_told_apart_from_one_that_is_computed_at_once() -> None:
    w = torch.tensor([1.0, -2.0], requires_grad=True)
    with gradproof.watch() as report:
        for _ in range(2):
            loss = (w**2).sum()
            loss.backward()
            w = w - 0.1 * (0.0 if w.grad is None else w.grad)
    [found] = [one for one in report.diagnostics if one.kind == "reassigned-variable"]
    assert "from here on `w` is a new tensor, which is not a leaf" in found.headline
    assert found.fix is not None and "`w -= step`" in found.fix.text
    assert found.why is not None and "This line makes one" not in found.why


def test_what_differentiating_twice_takes_away_is_not_said_to_be_unused() -> None:
    torch.manual_seed(1)
    net = torch.nn.Sequential(torch.nn.Linear(1, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    x = torch.tensor([[0.1], [0.4], [0.9]], requires_grad=True)
    with gradproof.watch() as report:
        (slope,) = torch.autograd.grad(net(x).sum(), x, create_graph=True)
        (bend,) = torch.autograd.grad(slope.sum(), x, create_graph=True)
        loss = ((bend + torch.sin(x)) ** 2).mean()
        loss.backward()
        optimizer.step()
    found = ordered_diagnostics(report)
    assert [one.kind for one in found][:2] == ["discrete-op", "not-connected"], "what has a fix comes first"
    assert "it drops out of the derivatives that `loss` is computed from" in found[1].headline


def test_a_rule_that_computes_its_forward_again_is_followed_through_leaves_of_its_own() -> None:
    """What a reentrant checkpoint computed again was taken with its rounding, and that told as a fault of its rule."""

    def program() -> None:
        torch.manual_seed(1)
        w = torch.randn(8, 8, requires_grad=True)
        x = torch.randn(16, 8, requires_grad=True)

        def block(x: torch.Tensor) -> torch.Tensor:
            h = x @ w
            e = torch.exp(h - h.max(1, keepdim=True).values.detach())
            return e / e.sum(1, keepdim=True)

        y = checkpoint(block, x, use_reentrant=True)
        (-(y[:, 0] + 1e-6).log().mean()).backward()

    for one in audited(program).gradients:
        assert one.verdict.value == "correct"
        assert one.diagnostics == ()


def test_data_that_are_made_ready_beside_detached_weights_are_no_random_part_of_the_loss() -> None:
    def per_example() -> None:
        weights = torch.nn.Linear(3, 1).weight.detach()
        x = torch.randn(4, 3)
        torch.func.vmap(torch.func.grad(lambda w, x: (w @ x).square().sum()), (None, 0))(weights, x)

    with gradproof.watch() as report:
        per_example()
    assert [one.verdict.value for one in report.gradients] == ["correct"]
    assert report.gradients[0].diagnostics == ()


def test_an_infinite_slope_is_told_of_the_entry_that_has_it() -> None:
    p = torch.tensor([1.0, 0.0], requires_grad=True)
    with gradproof.watch() as report:
        loss = -(p * p.log()).sum()
        loss.backward()
    (told,) = report.gradients[0].diagnostics
    assert told.kind == "singular-point"
    assert told.primary is not None and "at p[1] = 0" in told.primary.label
