"""What the tape chooses where two numbers are equal."""

from __future__ import annotations

import numpy as np
import pytest

import gradproof as gp


@pytest.mark.parametrize(("larger", "smaller"), [(np.maximum, np.minimum), (np.fmax, np.fmin)])
def test_the_larger_and_the_smaller_of_equal_numbers_are_both_of_them(
    larger: np.ufunc, smaller: np.ufunc
) -> None:
    """max(x, y) + min(x, y) is x + y everywhere, at a tie too: its slopes are 1 and 1."""
    x, y = gp.Variable(2.0), gp.Variable(2.0)
    with gp.GradientTape() as tape:
        z = larger(x, y) + smaller(x, y)
    assert [float(gradient) for gradient in tape.gradient(z, [x, y])] == [1.0, 1.0]
