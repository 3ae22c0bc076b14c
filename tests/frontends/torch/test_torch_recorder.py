"""What is recorded of a gradient call: values that memory no longer holds, names, lines, rules."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests.frontends.torch.seen import recorded

from gradproof.frontends.exits.matching import Comebacks
from gradproof.frontends.torch.record.cell_values import CellValues
from gradproof.frontends.torch.record.memory import GATHER, WRITE
from gradproof.frontends.torch.record.observation import observe
from gradproof.frontends.torch.record.recorder import TorchRecorder

pytestmark = pytest.mark.torch


def test_values_are_those_of_the_moment_an_op_ran() -> None:
    def program() -> None:
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        y = x * 3.0
        y.add_(1.0)
        y.mul_(2.0)
        y.sum().backward()

    (call,) = recorded(program)
    made = {event.op: event.outputs[0].array for event in call.events if event.phase == "forward"}
    np.testing.assert_array_equal(made["aten.mul.Tensor"], [3.0, 6.0])
    np.testing.assert_array_equal(made["aten.add_.Tensor"], [4.0, 7.0])
    np.testing.assert_array_equal(made["aten.mul_.Tensor"], [8.0, 14.0])


def test_numbers_are_read_later_only_if_they_are_the_same() -> None:
    recorder, x = TorchRecorder(), torch.tensor([1.0, 2.0])
    with recorder.silence():
        cell = recorder.memory.read(x)
    for is_changed in (False, True):
        values = CellValues(recorder)
        value, read = values.of(cell), values.later()
        if is_changed:
            x.add_(1.0)  # and nobody listens
        assert read() is not is_changed
        assert ("_kept" in vars(value)) is not is_changed
        cell.numbers = None


def test_writing_through_a_view_changes_what_it_is_a_view_of() -> None:
    def program() -> None:
        x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
        y = x * 1.0
        y[1] = 5.0 * y[0]
        first = y[:2]
        y.add_(1.0)
        (first.sum() * y.sum()).backward()

    (call,) = recorded(program)
    ops = [event.op for event in call.events]
    assert WRITE in ops
    assert GATHER in ops  # `first` was made before the last change
    written = next(event for event in call.events if event.op == WRITE)
    np.testing.assert_array_equal(written.outputs[0].array, [1.0, 5.0, 3.0])
    seen = next(event for event in call.events if event.op == GATHER)
    np.testing.assert_array_equal(seen.outputs[0].array, [2.0, 6.0])


def test_views_of_one_memory_are_copied_once_and_keep_what_they_were() -> None:
    def program() -> None:
        w = torch.arange(12.0).reshape(3, 4).requires_grad_()
        y = w * 1.0
        first = y.t().sum()
        y.add_(1.0)
        (first + y.sum()).backward()

    (call,) = recorded(program)
    forward = [event for event in call.events if event.phase == "forward"]
    made = {event.op: event.outputs[0].array for event in forward}
    y, turned = made["aten.mul.Tensor"], made["aten.t.default"]
    assert np.shares_memory(y, turned)
    np.testing.assert_array_equal(turned, np.arange(12.0).reshape(3, 4).T)
    np.testing.assert_array_equal(made["aten.add_.Tensor"], np.arange(12.0).reshape(3, 4) + 1.0)
    assert not y.flags.writeable  # several values are in it


def test_a_small_part_of_a_large_memory_is_copied_alone() -> None:
    def program() -> None:
        w = torch.ones(1000, requires_grad=True)
        w[3:5].sum().backward()

    (call,) = recorded(program)
    part = next(event.outputs[0].array for event in call.events if event.op == "aten.slice.Tensor")
    assert part.base is None or part.base.nbytes <= 8


def test_a_leaf_has_the_numbers_it_had_when_it_was_used() -> None:
    def program() -> None:
        w = torch.tensor([1.0, -1.0], requires_grad=True)
        for _ in range(2):
            (w * w).sum().backward()
            with torch.no_grad():
                w -= 0.25 * w.grad
                w.grad = None

    first, second = recorded(program)
    np.testing.assert_array_equal(first.sources[0].value.array, [1.0, -1.0])
    np.testing.assert_array_equal(second.sources[0].value.array, [0.5, -0.5])


def test_the_gradient_of_this_call_is_told_apart_from_what_was_there() -> None:
    def program() -> None:
        w = torch.tensor(2.0, requires_grad=True)
        for scale in (1.0, 10.0):
            (scale * w).backward()
        assert w.grad.item() == 11.0

    calls = recorded(program)
    assert [float(call.observed[0].array) for call in calls] == [1.0, 10.0]


def test_names_are_the_users() -> None:
    def program() -> None:
        net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
        scale = torch.tensor(2.0, requires_grad=True)
        parts = [torch.tensor(1.0, requires_grad=True)]
        loss = (net(torch.ones(1, 2)) * scale * parts[0]).sum()
        loss.backward()

    (call,) = recorded(program)
    assert {source.name for source in call.sources} == {
        "net.0.weight", "net.0.bias", "net.1.weight", "net.1.bias", "scale", "parts[0]",
    }  # fmt: skip
    assert call.targets[0].name == "loss"


def test_parameters_of_two_modules_are_told_apart() -> None:
    def program() -> None:
        left, right = torch.nn.Linear(1, 1), torch.nn.Linear(1, 1)
        loss = (left(torch.ones(1, 1)) + right(torch.ones(1, 1))).sum()
        loss.backward()

    (call,) = recorded(program)
    assert {source.name for source in call.sources} == {
        "left.weight", "left.bias", "right.weight", "right.bias",
    }  # fmt: skip


def test_rules_know_the_ops_they_differentiate() -> None:
    def program() -> None:
        x = torch.tensor([0.5, 2.0], requires_grad=True)
        torch.exp(x).sin().sum().backward()

    (call,) = recorded(program)
    ops = {event.index: event.op for event in call.events}
    found = {rule.op: ops[rule.forward] for rule in call.pullbacks}
    assert found["SinBackward0"] == "aten.sin.default"
    assert found["ExpBackward0"] == "aten.exp.default"
    assert found["SumBackward0"] == "aten.sum.default"


def test_executions_are_chosen_and_others_leave_no_trace() -> None:
    calls = []
    with observe(calls.append) as observation:
        w = torch.tensor(1.0, requires_grad=True)
        for _ in range(25):
            (w * 2.0).backward()
    assert [call.occurrence for call in calls] == [1, 2, 10]
    assert observation.recorder.events == []
    assert torch._C._len_torch_dispatch_stack() == 0


def test_a_graph_older_than_the_record_is_not_taken_for_a_constant() -> None:
    x = torch.tensor(1.0, requires_grad=True)
    y = torch.exp(x)
    (call,) = recorded(lambda: (y * 2.0).backward())
    assert call.doubt is not None


def test_what_a_function_of_the_users_returned_has_its_rule() -> None:
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):  # type: ignore[no-untyped-def]
            return x.view_as(x)

        @staticmethod
        def backward(ctx, g):  # type: ignore[no-untyped-def]
            return 2.0 * g

    def program() -> None:
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        Twice.apply(x).sum().backward()

    (call,) = recorded(program)
    (scope,) = call.scopes
    assert scope.name == "Twice"
    (rule,) = [rule for rule in call.pullbacks if rule.scope == scope.id]
    np.testing.assert_array_equal(rule.upstream[0].array, [1.0, 1.0])
    np.testing.assert_array_equal(rule.results[0].array, [2.0, 2.0])


class _Thrice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):  # type: ignore[no-untyped-def]
        return 3.0 * x

    @staticmethod
    def backward(ctx, g):  # type: ignore[no-untyped-def]
        return 3.0 * g


thrice = _Thrice.apply  # held on to before anybody listens, as most programs do


def test_a_function_of_the_users_that_was_held_on_to_before_is_seen_all_the_same() -> None:
    def program() -> None:
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        thrice(x).sum().backward()

    (call,) = recorded(program)
    assert [scope.name for scope in call.scopes] == ["_Thrice"]
    x = torch.tensor([1.0], requires_grad=True)
    thrice(x).sum().backward()  # and PyTorch's own code is back
    assert x.grad.item() == 3.0
    assert torch.autograd.Function.apply.__func__.__code__.co_filename.endswith("function.py")


def test_a_number_that_depends_on_no_source_cannot_be_missed_in_a_gradient() -> None:
    w = torch.tensor([1.0, 2.0], requires_grad=True)

    def counts_its_steps() -> None:
        optimizer = torch.optim.Adam([w])
        for _ in range(2):
            optimizer.zero_grad()
            (w * w).sum().backward()
            optimizer.step()

    def reads_its_loss() -> None:
        loss = (w * w).sum()
        (loss / loss.item()).backward()

    counting, reading = recorded(counts_its_steps)[-1], recorded(reads_its_loss)[-1]
    assert counting.leaves
    assert not Comebacks(counting).are_possible
    assert Comebacks(reading).are_possible
