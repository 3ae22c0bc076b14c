"""The size of a gradient at every execution of a repeated line."""

from __future__ import annotations

import numpy as np

from tests.diagnosis.drawing.drawn import figures_of


def looped(factor: float, times: int):  # type: ignore[no-untyped-def]
    def function(x):  # type: ignore[no-untyped-def]
        for _ in range(times):
            x = factor * x
        return x

    return function


def test_an_exploding_loop_grows_by_its_factor_from_the_last_execution_to_the_first() -> None:
    [passage] = figures_of(looped(3.0, 40), 1.0).passages
    assert len(passage.sizes) == 40
    np.testing.assert_allclose(np.divide(passage.sizes[:-1], passage.sizes[1:]), 3.0, rtol=1e-6)
    assert passage.sizes[-1] == 1.0
    assert passage.op == "mul"
    assert passage.span.file.endswith("test_passages.py")


def test_a_vanishing_loop_shrinks() -> None:
    [passage] = figures_of(looped(0.5, 10), 1.0).passages
    np.testing.assert_allclose(np.divide(passage.sizes[:-1], passage.sizes[1:]), 0.5, rtol=1e-6)


def test_the_passages_of_a_gradient_that_is_not_right_are_known_too() -> None:
    figures = figures_of(lambda x: looped(2.0, 12)(np.abs(x)), 0.0)
    assert [len(passage.sizes) for passage in figures.passages] == [12]


def test_a_line_that_runs_a_few_times_is_no_passage() -> None:
    assert figures_of(looped(3.0, 4), 1.0).passages == ()
