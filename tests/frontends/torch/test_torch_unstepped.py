"""Parameters that no optimizer has are noted; those that somebody else changes, or steps with later, are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from tests.frontends.torch.seen import audited

pytestmark = pytest.mark.torch


class InAList(torch.nn.Module):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.layers = [torch.nn.Linear(2, 2, bias=False) for _ in range(2)]
        self.out = torch.nn.Linear(2, 1)

    def forward(self, x: Any) -> Any:
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return self.out(x)


def _step(optimizer: Any, loss: Callable[[], Any]) -> None:
    optimizer.zero_grad()
    loss().backward()
    optimizer.step()


def _layers_in_a_list() -> None:
    net = InAList()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        _step(optimizer, lambda: (net(torch.ones(4, 2)) ** 2).mean())


def _a_part_that_stands_still() -> None:
    body, head = torch.nn.Linear(2, 2, bias=False), torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
    for _ in range(3):
        _step(optimizer, lambda: (head(torch.tanh(body(torch.ones(4, 2)))) ** 2).mean())


def _two_optimizers() -> None:
    maker, critic = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
    of_maker, of_critic = (torch.optim.SGD(one.parameters(), lr=0.1) for one in (maker, critic))
    for _ in range(3):
        _step(of_critic, lambda: critic(maker(torch.ones(4, 2))).mean())
    _step(of_maker, lambda: -critic(maker(torch.ones(4, 2))).mean())


def _changed_by_hand() -> None:
    by_hand, rest = torch.nn.Linear(2, 2, bias=False), torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(rest.parameters(), lr=0.1)
    for _ in range(3):
        _step(optimizer, lambda: (rest(by_hand(torch.ones(4, 2))) ** 2).mean())
        with torch.no_grad():
            by_hand.weight -= 0.1 * by_hand.weight.grad


def _without_gradients() -> None:
    body, head = torch.nn.Linear(2, 2, bias=False).requires_grad_(False), torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
    for _ in range(3):
        _step(optimizer, lambda: (head(body(torch.ones(4, 2))) ** 2).mean())


def test_layers_in_a_list_are_noted_by_their_names() -> None:
    (note,) = audited(_layers_in_a_list).notes
    assert note.startswith(
        "`net.layers[1].weight` and `net.layers[0].weight`: no optimizer has them, and 3 steps left"
    )
    assert "torch.nn.ModuleList" in note


def test_a_part_that_stands_still_is_noted() -> None:
    (note,) = audited(_a_part_that_stands_still).notes
    assert note.startswith(
        "`body.weight`: no optimizer has it, and 3 steps left it unchanged, though it gets a gradient"
    )


@pytest.mark.parametrize("program", [_two_optimizers, _changed_by_hand, _without_gradients])
def test_what_somebody_uses_is_not_noted(program: Callable[[], None]) -> None:
    assert audited(program).notes == ()
