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


CASES: dict[str, tuple[Callable[[], Any], str]] = {
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
    with pytest.raises((RuntimeError, ValueError)) as caught:
        program()
    crash = explain(caught.value)
    assert crash is not None
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
