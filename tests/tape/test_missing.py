"""A gradient that does not exist says why, and where the path broke."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradproof.errors import MissingGradient
from gradproof.tape import GradientTape, Missing, Variable, array, stop_gradient


def not_watched_plain() -> Any:
    x = np.array([1.0, 2.0])
    with GradientTape() as tape:
        y = np.sum(x**2)
    return tape.gradient(y, x)


def not_watched_traced() -> Any:
    x = array([1.0, 2.0])  # ~
    with GradientTape() as tape:
        y = np.sum(x**2)
    return tape.gradient(y, x)


def outside_tape() -> Any:
    x = Variable(2.0)
    y = x**2  # ~
    with GradientTape() as tape:
        x * 1.0
    return tape.gradient(y, x)


def after_tape() -> Any:
    x = Variable(2.0)
    with GradientTape() as tape:
        y = x**2
    z = y * 3  # ~
    return tape.gradient(z, x)


def part_outside() -> Any:
    x = Variable(2.0)
    half = x**2  # ~
    with GradientTape() as tape:
        y = half * Variable(1.0)
    return tape.gradient(y, x)


def stopped() -> Any:
    x = Variable(2.0)
    with GradientTape() as tape:
        y = 3 * stop_gradient(x)  # ~
    return tape.gradient(y, x)


def stopped_on_the_way() -> Any:
    x, w = Variable(2.0), Variable(1.0)
    with GradientTape() as tape:
        y = w * stop_gradient(x)  # ~
    return tape.gradient(y, x)


def integer_source() -> Any:
    x = Variable([1, 2])  # ~
    with GradientTape() as tape:
        y = np.sum(x * 2.0)
    return tape.gradient(y, x)


def integer_cast() -> Any:
    x = Variable([1.5, 2.5])
    with GradientTape() as tape:
        k = x.astype(np.int64)  # ~
        y = np.sum(k * 2.0)
    return tape.gradient(y, x)


def argmax() -> Any:
    x, w = Variable([1.5, 2.5]), Variable([1.0, 2.0])
    with GradientTape() as tape:
        y = w[np.argmax(x)]  # ~
    return tape.gradient(y, x)


def left_by_float() -> Any:
    x = Variable(2.0)
    with GradientTape() as tape:
        y = math.sin(x)  # ~
    return tape.gradient(y, x)


def left_by_asarray() -> Any:
    x, w = Variable([1.0, 2.0]), Variable(3.0)
    with GradientTape() as tape:
        plain = np.asarray(x)  # ~
        y = w * np.sum(plain)
    return tape.gradient(y, x)


def left_by_a_list() -> Any:
    x = Variable([1.0, 2.0])
    with GradientTape() as tape:
        y = np.sum(np.array([x[0], x[1] * 2]))  # ~
    return tape.gradient(y, x)


def left_by_a_plain_array() -> Any:
    x = Variable([1.0, 2.0])
    with GradientTape() as tape:
        y = np.zeros(2)
        y[0] = x[0] ** 2  # ~
    return tape.gradient(y, x)


def rebound() -> Any:
    w = Variable(1.0)
    w = w - 0.1  # ~
    with GradientTape() as tape:
        y = w**2
    return tape.gradient(y, w)


def no_rule() -> Any:
    x = Variable([3.0, 1.0, 2.0])
    with GradientTape() as tape:
        y = np.sum(np.unwrap(x))  # ~
    return tape.gradient(y, x)


def not_connected() -> Any:
    x, other = Variable(1.0), Variable(2.0)
    with GradientTape() as tape:
        y = other**2
        _ = x * 3
    return tape.gradient(y, x)


CASES: list[tuple[Callable[[], Any], str]] = [
    (not_watched_plain, "not-watched"),
    (not_watched_traced, "not-watched"),
    (outside_tape, "outside-tape"),
    (after_tape, "outside-tape"),
    (part_outside, "outside-tape"),
    (stopped, "stop-gradient"),
    (stopped_on_the_way, "stop-gradient"),
    (integer_source, "integer-dtype"),
    (integer_cast, "discrete-op"),
    (argmax, "discrete-op"),
    (left_by_float, "left-framework"),
    (left_by_asarray, "left-framework"),
    (left_by_a_list, "left-framework"),
    (left_by_a_plain_array, "left-framework"),
    (rebound, "reassigned-variable"),
    (no_rule, "no-gradient-registered"),
    (not_connected, "not-connected"),
]


def _marked_line(function: Callable[[], Any]) -> int | None:
    lines, first = inspect.getsourcelines(function)
    return next((first + k for k, line in enumerate(lines) if line.rstrip().endswith("#~")), None)


@pytest.mark.parametrize(("function", "reason"), [pytest.param(*case, id=case[0].__name__) for case in CASES])
def test_missing_gradient_names_the_reason_and_the_line(function: Callable[[], Any], reason: str) -> None:
    missing = function()
    assert isinstance(missing, Missing)
    assert missing.reason == reason, missing.explain()
    line = _marked_line(function)
    if line is not None:
        assert missing.line == line, missing.explain()
        assert missing.span is not None
        assert missing.span.file == __file__
    assert f"missing[{reason}]" in missing.explain()


def test_silent_when_a_number_only_was_printed() -> None:
    """Printing, comparing and formatting a value is not leaving: another path carries the gradient."""
    x = Variable(2.0)
    with GradientTape() as tape:
        y = x**2
        text = f"{y:.2f} {y}"
        if y > 1:
            y = y * 2
    assert text == "4.00 4.0"
    assert tape.gradient(y, x) == 8.0


def test_missing_refuses_to_be_a_number_and_repeats_the_reason() -> None:
    missing = not_watched_plain()
    assert not missing
    for use in (lambda: missing + 1, lambda: np.sum(missing), lambda: 0.1 * missing, lambda: float(missing),
                lambda: np.ones(2) - missing):  # fmt: skip
        with pytest.raises(MissingGradient, match="not-watched"):
            use()
    with pytest.raises(AttributeError, match="there is no gradient"):
        _ = missing.shape


def test_a_partial_gradient_is_not_passed_off_as_the_whole() -> None:
    x = Variable([3.0, 1.0, 2.0])
    with GradientTape() as tape:
        y = np.sum(np.unwrap(x)) + np.sum(x)
    assert tape.gradient(y, x).reason == "no-gradient-registered"
