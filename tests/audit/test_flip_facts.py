"""Branches that rounding nearly took are run once for all gradients of a call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradproof
from gradproof.diagnosis import flips


def test_the_run_of_another_branch_serves_all_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[int] = []
    original = flips.run

    def counted(*args: Any) -> Any:
        runs.append(1)
        return original(*args)

    monkeypatch.setattr(flips, "run", counted)
    x = np.array([1.0, 2.0, -3.0])

    def f(a: Any, b: Any, c: Any) -> Any:
        h = a * x + b
        return np.sum(np.where(h > c, h, 0.1 * h * c) ** 2)

    near = np.nextafter(1.0, 2.0)  # a rounding above the 1 it is compared with
    report = gradproof.check(f, near, np.zeros(3), np.ones(3))
    assert len(report.gradients) == 3
    assert len(runs) == 1
