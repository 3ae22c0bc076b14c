"""Black-box derivatives side by side with their peers, in one run: python benchmarks/blackbox.py [--each]."""

import argparse
import importlib.metadata
from collections.abc import Sequence

import numpy as np
from blackbox_functions import Function, functions
from blackbox_peers import METHODS, Answer, ask, covers, relative_error
from blackbox_troubles import random_functions

N_RANDOM = 1000
SEED = 20


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
