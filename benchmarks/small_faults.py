"""Hand-written gradients that are off by less than float32 shows, in every framework: who is found, who is accused.

python benchmarks/small_faults.py [--only FRAMEWORK]

A rule is right but for one part in 1e3 .. 1e7, in all its entries or in one, or has a term too many. What is beyond
the tolerance has to be `wrong`, what is below it a warning that tells the size of the mistake; right rules, also those
of functions that are hard on differences, have to stay silent.
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import numpy as np
from small_faults_frameworks import FRAMEWORKS, Framework
from small_faults_functions import CONTROLS, FUNCTIONS, HARD, Function, spoiled

SIZES = (1e-2, 1e-3, 3e-4, 1e-4, 1e-5, 1e-6, 1e-7)
WAYS = ("factor", "one entry", "extra term")
TOLERANCE = 1e-3  # of float32
ABOUT = 3.0  # times: a size that is told may be so far from the one planted, entries being of different size


def outcome(framework: Framework, function: Function, way: str, size: float) -> str:
    """What a report says of a planted fault: found, or what is amiss."""
    report = framework.check(function, spoiled(function, way, size))
    told = [d for d in report.diagnostics if d.kind == "custom-gradient"]
    verdicts = {str(row.verdict) for row in report.gradients}
    if not told:
        return f"missed ({', '.join(sorted(verdicts))})"
    if verdicts != {"correct"}:
        return "found" if size > TOLERANCE / ABOUT else f"called {', '.join(sorted(verdicts))}"
    if size > TOLERANCE * ABOUT:
        return "only a warning"
    stated = [d.headline.split(" is off by ")[1].split()[0] for d in told if " is off by " in d.headline]
    return "found" if stated else f"without its size: {told[0].headline}"


def accused(framework: Framework, function: Function) -> str:
    report = framework.check(function, function.rule)
    verdicts = {str(row.verdict) for row in report.gradients}
    told = [d.headline for d in report.diagnostics]
    return "" if verdicts == {"correct"} and not told else f"{', '.join(sorted(verdicts))}: {told}"


def cases() -> Iterator[tuple[Function, str, float]]:
    for function in FUNCTIONS:
        for way in WAYS:
            for size in SIZES:
                if way == "factor" or size in (1e-3, 1e-5, 1e-6):
                    yield function, way, size


def rate(answers: list[bool]) -> str:
    return f"{sum(answers)} of {len(answers)}" if answers else "-"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="frameworks whose name contains this")
    options = parser.parse_args()
    print(f"| framework | {' | '.join(f'{size:g}' for size in SIZES)} | right rules accused |")
    print(f"|---|{'---|' * (len(SIZES) + 1)}")
    for framework in FRAMEWORKS:
        if options.only in framework.name:
            print(row(framework), flush=True)


def row(framework: Framework) -> str:
    found: dict[float, list[bool]] = {size: [] for size in SIZES}
    for function, way, size in cases():
        said = attempt(outcome, framework, function, way, size)
        found[size].append(said == "found")
        if said != "found":
            print(f"{framework.name}: {function.name}, {way} of {size:g}: {said}", file=sys.stderr)
    innocent = []
    for function in (*CONTROLS, *HARD):
        said = attempt(accused, framework, function)
        innocent.append(bool(said))
        if said:
            print(f"{framework.name}: {function.name} is right: {said}", file=sys.stderr)
    return (
        f"| {framework.name} | {' | '.join(rate(found[size]) for size in SIZES)} | "
        f"{sum(innocent)} of {len(innocent)} |"
    )


def attempt(ask: Callable[..., str], *arguments: Any) -> str:
    try:
        return ask(*arguments)
    except Exception as error:  # a framework that cannot run a case is told of, and the table goes on
        return f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    np.seterr(all="ignore")
    main()
