"""Functions whose Jacobians and Hessians are judged all rows at once, and row by row: both must say the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradproof
from gradproof.audit import rows
from gradproof.diagnosis.report import GradientReport

# Functions of the framework's `log`, `exp`, `tanh`, `sum`, `maximum` and `matmul`, and a point.
Case = tuple[Callable[..., Any], Any]


def _network(np_: Any, x: Any) -> Any:
    return np_.sum(np_.tanh(np_.matmul(x, x + 1.0)) ** 2)


def _relu_network(np_: Any, x: Any) -> Any:
    return np_.sum(np_.maximum(np_.matmul(x, x - 0.3), 0.0 * x) ** 3)


def _kinked(np_: Any, x: Any) -> Any:
    return np_.sum(np_.maximum(x, 0.0 * x) ** 2)


def _spoilt(np_: Any, x: Any) -> Any:
    """The last of its rows is lost in rounding, the first is not."""
    return np_.sum((np_.log(np_.exp(x * 9.0) + 1.0) - x * 9.0) * x)


def _shrinking(np_: Any, x: Any) -> Any:
    """Right, with something to be said of some of its rows."""
    for _ in range(12):
        x = np_.tanh(x * 0.125) * x
    return np_.sum(x)


def _lost(np_: Any, x: Any) -> Any:
    """The last of its rows is too small for its dtype and comes out as zero, which is worth a warning."""
    return np_.sum(x * x * x * x)


POINT = np.array([[0.5, -0.75, 0.25], [1.5, 0.125, -1.0], [2.0, -0.5, 0.3]])
RIGHT: dict[str, Case] = {
    "network": (_network, POINT),
    "relu": (_relu_network, POINT),
}
OTHER: dict[str, Case] = {
    "shrinking": (_shrinking, POINT[0]),
    "kink": (_kinked, np.array([0.5, 0.0, -1.0])),
    "lost": (_lost, np.array([1.0, 1e-25], np.float32)),
    "rounding": (_spoilt, np.array([0.25, 1.5, 3.75])),
}


def reports(function: Callable[..., Any], point: Any, **how: Any) -> list[GradientReport]:
    return list(gradproof.check(function, point, **how).gradients)


def assert_same(
    monkeypatch: pytest.MonkeyPatch, function: Callable[..., Any], point: Any, **how: Any
) -> None:
    """All rows at once, as far as that goes, say what every row says alone."""
    together = reports(function, point, **how)
    monkeypatch.setattr(rows, "_together", lambda *given: None)
    alone = reports(function, point, **how)
    assert len(together) == len(alone)
    for one, other in zip(together, alone):
        assert (one.verdict, one.reason, one.target, one.source) == (
            other.verdict,
            other.reason,
            other.target,
            other.source,
        )
        said = [[(d.kind, d.severity, d.headline) for d in row.diagnostics] for row in (one, other)]
        assert said[0] == said[1]
        np.testing.assert_array_equal(one.observed, other.observed)
        reference, theirs = (np.asarray(row.reference, float) for row in (one, other))
        np.testing.assert_allclose(reference, theirs, rtol=1e-12, atol=1e-15)
        assert one.digits == pytest.approx(other.digits, abs=0.1)  # the radius of a ball is counted in


def assert_at_once(
    monkeypatch: pytest.MonkeyPatch, function: Callable[..., Any], point: Any, **how: Any
) -> None:
    """No row was looked at alone."""
    found: list[Any] = []
    own = rows._together
    monkeypatch.setattr(rows, "_together", lambda *given: found.append(own(*given)) or found[-1])
    assert {str(one.verdict) for one in reports(function, point, **how)} == {"correct"}
    assert found and None not in found
