"""A small constant inside is no cure where the function has a gradient that it takes away."""

from __future__ import annotations

import numpy as np
import pytest

from gradproof.engine.refine import Enclosure
from gradproof.fixes.kinds.smooth_substitute import is_far


@pytest.mark.parametrize(
    ("true", "gradient", "expected"),
    [
        ([66.7, 0.3], [0.0, 0.3], True),
        ([66.7, 0.3], [66.6, 0.3], False),
        ([0.0, 0.0], [1e-3, 0.0], False),
        ([np.inf, 0.3], [1e3, 0.3], False),
    ],
)
def test_a_gradient_that_exists_is_not_traded_for_another(
    true: list[float], gradient: list[float], expected: bool
) -> None:
    enclosure = Enclosure(np.asarray(true), np.zeros(2))
    assert is_far(enclosure, np.asarray(gradient)) is expected


def test_where_there_is_no_gradient_any_will_do() -> None:
    assert not is_far(None, np.asarray([1.0]))
