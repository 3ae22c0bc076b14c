"""Black-box derivatives side by side with their peers, in one run: python benchmarks/blackbox.py [--each]."""

import argparse
import importlib.metadata
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numdifftools
import numpy as np
from blackbox_functions import Function, functions
from blackbox_random import random_functions
from scipy.optimize._numdiff import approx_derivative

from gradproof.blackbox import derivative

N_RANDOM = 1000
SEED = 20


@dataclass(frozen=True)
class Answer:
    """What a method said of one function; NaN where it gave no number."""

    value: float
    error: float | None  # its own error bar, None if it has none
    evaluations: int
    sides: tuple[float, float, float, float] | None = None  # at a kink: left, right and their error bars
    status: str = "ok"


@dataclass
class Counted:
    """A function for the peers: counts its points, and is NaN outside its domain where it would raise."""

    function: Function
    n_points: int = 0

    def __call__(self, x: Any) -> Any:
        points = np.asarray(x)
        values = [self._at(point) for point in points.reshape(-1)]
        return np.asarray(values).reshape(points.shape)

    def _at(self, point: Any) -> Any:
        self.n_points += 1
        argument = complex(point) if np.iscomplexobj(point) else type(self.function.x)(point)
        try:
            value = self.function.call(argument)
        except (ArithmeticError, ValueError):
            return np.nan
        return complex(value) if np.iscomplexobj(value) else float(value)


def by_gradproof(function: Function) -> Answer:
    found = derivative(function.call, function.x)
    sides = (found.left, found.right, found.left_error, found.right_error)
    return Answer(found.value, found.error, found.evaluations, sides, found.status)


def by_numdifftools(function: Function) -> Answer:
    counted = Counted(function)
    result = numdifftools.Derivative(counted, full_output=True)(float(function.x))
    # Up to 0.9 the details are the second of a pair, since then the fields of one result.
    details = result if hasattr(result, "error_estimate") else result[1]
    return Answer(float(result[0]), float(details.error_estimate), counted.n_points)


def by_scipy(method: str) -> Callable[[Function], Answer]:
    def ask(function: Function) -> Answer:
        counted = Counted(function)
        value = approx_derivative(lambda x: counted(x)[0], float(function.x), method=method)
        return Answer(float(np.squeeze(value)), None, counted.n_points)

    return ask


def by_fixed_step(step: float) -> Callable[[Function], Answer]:
    def ask(function: Function) -> Answer:
        counted, x = Counted(function), float(function.x)
        return Answer(float(counted(x + step) - counted(x - step)) / (2 * step), None, 2)

    return ask


METHODS: dict[str, Callable[[Function], Answer]] = {
    "gradproof": by_gradproof,
    "numdifftools": by_numdifftools,
    "scipy 2-point": by_scipy("2-point"),
    "scipy 3-point": by_scipy("3-point"),
    "scipy cs": by_scipy("cs"),
    "fixed step 1e-3": by_fixed_step(1e-3),
    "fixed step 1e-5": by_fixed_step(1e-5),
    "fixed step 1e-8": by_fixed_step(1e-8),
}


def ask(method: Callable[[Function], Answer], function: Function) -> Answer:
    """The method's answer; an exception is no answer."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return method(function)
        except Exception:
            return Answer(np.nan, None, 0, status="cannot tell")


def relative_error(function: Function, answer: Answer) -> float:
    """At most 1, which stands for no right digit and for no answer; absolute where the slope is zero."""
    assert function.slope is not None
    off = abs(answer.value - function.slope) / (abs(function.slope) or 1.0)
    return min(off, 1.0) if np.isfinite(off) else 1.0


def covers(function: Function, answer: Answer) -> bool:
    """Whether the error bar reaches the true slope, or both true slopes of a kink."""
    if answer.status == "kink" and function.left is not None and function.right is not None and answer.sides:
        left, right, left_error, right_error = answer.sides
        return abs(left - function.left) <= left_error and abs(right - function.right) <= right_error
    if function.slope is None or answer.error is None:
        return False
    return abs(answer.value - function.slope) <= answer.error


def row(name: str, rows: Sequence[Function], answers: Sequence[Answer]) -> str:
    pairs = list(zip(rows, answers))
    known = [(f, a) for f, a in pairs if f.slope is not None and not f.hopeless]
    none = [(f, a) for f, a in pairs if f.slope is None or f.hopeless]
    errors = [relative_error(f, a) for f, a in known]
    answered = [(f, a) for f, a in pairs if np.isfinite(a.value) or a.status == "kink"]
    barred = [(f, a) for f, a in answered if a.error is not None]
    coverage = f"{100 * np.mean([covers(f, a) for f, a in barred]):6.1f} %" if barred else "     none"
    evaluations = [a.evaluations for _, a in pairs if a.evaluations]
    silent = sum(not np.isfinite(a.value) for _, a in known)
    made_up = sum(bool(np.isfinite(a.value)) for _, a in none)
    return (
        f"{name:16} {coverage:>9} {np.median(errors):9.1e} {np.quantile(errors, 0.95):9.1e} "
        f"{sum(e > 1e-3 for e in errors):9} {np.mean(evaluations):6.1f} {max(evaluations):5} "
        f"{silent:7} {made_up:5} of {len(none)}"
    )


def table(title: str, rows: Sequence[Function]) -> None:
    with_slope = sum(f.slope is not None and not f.hopeless for f in rows)
    print(f"\n{title}: {len(rows)} functions, {with_slope} with a slope that can be known")
    print(
        f"{'':16} {'bar holds':>9} {'median':>9} {'95 %':>9} {'off >1e-3':>9} {'calls':>6} {'most':>5} "
        f"{'silent':>7} made up"
    )
    for name, method in METHODS.items():
        print(row(name, rows, [ask(method, function) for function in rows]))


def each(rows: Sequence[Function]) -> None:
    for function in rows:
        answers = {name: ask(method, function) for name, method in METHODS.items()}
        mine = answers["gradproof"]
        errors = ""
        if function.slope is not None:
            errors = " ".join(f"{relative_error(function, answer):8.0e}" for answer in answers.values())
        verdict = "" if mine.status in function.statuses else f" expected {' or '.join(function.statuses)}"
        where = f"{function.family:13} {function.name:32}"
        print(f"{where} {mine.status:14} {mine.evaluations:3} {errors}{verdict}")


def takes_complex(function: Function) -> bool:
    """Whether scipy's complex step gets an answer at all."""
    return bool(np.isfinite(ask(METHODS["scipy cs"], function).value))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", action="store_true", help="one line per function")
    options = parser.parse_args()
    packages = ("gradproof", "numdifftools", "scipy", "numpy")
    print(", ".join(f"{name} {importlib.metadata.version(name)}" for name in packages))
    print("bar holds: share of the answers whose own error bar reaches the truth")
    print("median, 95 %: relative error; no answer counts as 1")
    print("silent: no number although there is one; made up: a number where there is none")
    chosen = functions()
    table("chosen functions", chosen)
    table("those of them that take complex numbers", [f for f in chosen if takes_complex(f)])
    table("random functions", random_functions(SEED, N_RANDOM))
    if options.each:
        each(chosen)


if __name__ == "__main__":
    main()
