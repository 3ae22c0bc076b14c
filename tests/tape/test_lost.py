"""A tape in a program tells of numbers that left it and may come back; what was only shown is no part of a target."""

from __future__ import annotations

import math

import numpy as np
import pytest

import gradproof as gp

X = np.array([1.1, 2.3, 3.7])


def by_math(x):
    return math.sqrt(np.sum(x**2)) * np.sum(x)


def by_a_name(x):
    scale = float(np.max(x))
    scale = scale / 3.0
    return np.sum(x**2 * scale)


def by_filling(x):
    out = np.zeros(3)
    for k in range(3):
        out[k] = x[k] ** 2
    return np.sum(out * x)


def only_shown(x):
    history = []
    total = np.sum(x**2)
    history.append(float(total))
    str(float(total))
    return total * np.pi


def for_a_decision(x):
    weights = np.sqrt(np.arange(3.0))
    best = 100.0
    if float(np.sum(x)) < best:
        best = float(np.sum(x))
    return np.sum(weights * x)


@pytest.mark.parametrize("function", [by_math, by_a_name, by_filling])
def test_what_may_come_back_is_a_note_at_its_door(function) -> None:
    with gp.watch() as report:
        x = gp.Variable(X)
        with gp.GradientTape() as tape:
            y = function(x)
        tape.gradient(y, x)
    [found] = report.gradients
    assert str(found.verdict) == "correct"
    assert [(one.kind, one.severity) for one in found.diagnostics] == [("left-framework", "note")]
    assert "nothing to fix" not in str(report)


@pytest.mark.parametrize("function", [only_shown, for_a_decision])
def test_what_is_shown_or_compared_is_no_part(function) -> None:
    with gp.watch() as report:
        x = gp.Variable(X)
        with gp.GradientTape() as tape:
            y = function(x)
        tape.gradient(y, x)
    [found] = report.gradients
    assert str(found.verdict) == "correct" and not found.diagnostics


def test_another_source_lacks_nothing() -> None:
    with gp.watch() as report:
        x, w = gp.Variable(X, name="x"), gp.Variable(2.0, name="w")
        with gp.GradientTape() as tape:
            y = np.sum(x) * math.exp(np.sum(x) / 7.0) * w
        tape.gradient(y, [x, w])
    assert [len(one.diagnostics) for one in report.gradients] == [1, 0]


def test_check_measures_instead() -> None:
    def shifted(x):
        largest = float(np.max(x))
        return np.log(np.sum(np.exp(x - largest))) + largest

    [found] = gp.check(shifted, X).gradients
    assert not found.diagnostics
