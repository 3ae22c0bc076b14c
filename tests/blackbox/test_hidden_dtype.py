"""Hidden float32 is recognised, ordinary values are not mistaken for it."""

import numpy as np

from gradproof.blackbox.hidden_dtype import hidden_eps


def test_float32_values_are_recognised_in_float64() -> None:
    values = np.sin(np.linspace(1, 2, 8))
    assert hidden_eps(values.astype(np.float32).astype(np.float64)) == np.finfo(np.float32).eps
    assert hidden_eps(values) == 0.0


def test_short_numbers_fit_any_dtype_and_tell_nothing() -> None:
    assert hidden_eps(2.0 ** np.arange(-20, 3)) == 0.0
    assert hidden_eps(np.array([0.5, 1.0, np.nan, np.inf])) == 0.0
