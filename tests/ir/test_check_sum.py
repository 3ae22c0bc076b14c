"""A check sum notices every change that happens to numbers by accident, or by a program that moves them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradproof.ir.check_sum import PAGE, check_sum

NUMBERS = np.random.default_rng(5).integers(0, 2**63, 4 * PAGE // 8 + 3).astype(np.uint64)


def _swapped(first: int, second: int) -> Callable[[Any], None]:
    def change(numbers: Any) -> None:
        numbers[[first, second]] = numbers[[second, first]]

    return change


def _one_bit(numbers: Any) -> None:
    numbers[700] ^= np.uint64(1)


def _beyond_the_pages(numbers: Any) -> None:
    numbers[-1] += np.uint64(1)


def _pages_swapped(numbers: Any) -> None:
    pages = numbers[: 4 * PAGE // 8].reshape(4, -1)
    pages[[0, 2]] = pages[[2, 0]]


CHANGES = {
    "one bit": _one_bit,
    "the last number": _beyond_the_pages,
    "two numbers of a page": _swapped(3, 40),
    "two numbers of different pages": _swapped(3, 3 + PAGE // 8),
    "two pages": _pages_swapped,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_a_change_is_noticed(change: Callable[[Any], None]) -> None:
    changed = NUMBERS.copy()
    change(changed)
    assert check_sum(changed.view(np.uint8).data) != check_sum(NUMBERS.view(np.uint8).data)


@pytest.mark.parametrize("length", [0, 5, PAGE, PAGE + 1])
def test_any_length_has_one(length: int) -> None:
    raw = NUMBERS.view(np.uint8)[:length]
    assert check_sum(raw.data) == check_sum(raw.copy().data)
