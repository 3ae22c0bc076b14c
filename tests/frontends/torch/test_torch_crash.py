"""Exceptions of PyTorch from before its engine runs: explained at the user's line."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from gradproof.frontends.torch.crash import explain

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
