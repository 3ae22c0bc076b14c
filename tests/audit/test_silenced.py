"""Examinations leave no trace in the user's program."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from gradproof.audit.silenced import undisturbed


def _warn() -> None:
    warnings.warn("the user's own", UserWarning, stacklevel=1)


def test_nothing_inside_warns_even_where_warnings_are_errors() -> None:
    with undisturbed():
        warnings.warn("ours", RuntimeWarning, stacklevel=1)
        np.log(np.zeros(2))


def test_the_filters_and_the_floating_point_settings_are_the_same_afterwards() -> None:
    before = list(warnings.filters), np.geterr()
    with pytest.raises(KeyError), undisturbed():
        raise KeyError
    assert (list(warnings.filters), np.geterr()) == before


def test_a_warning_that_was_shown_is_not_shown_again() -> None:
    """`catch_warnings` in the place of the exchange of filters shows it three times: tried."""
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("default")
        for _ in range(3):
            _warn()
            with undisturbed():
                pass
    assert len(shown) == 1
