"""Black-box derivatives on families of random functions, beside their peers, family by family.

python benchmarks/blackbox_random.py [--points 65] [--seed 1] [--only TEXT] [--failures]
"""

import argparse
import importlib.metadata
import time
from collections.abc import Sequence

import blackbox_noise_families  # noqa: F401  (families register themselves)
import blackbox_user_families  # noqa: F401
import numpy as np
from blackbox_families import FAMILIES, points
from blackbox_functions import Function
from blackbox_peers import METHODS, Answer, ask, covers, relative_error

OFF = 1e-3  # relative: an answer farther away, or none, counts as off
SHORT = {
    "gradproof": "gradproof",
    "numdifftools": "numdiff",
    "scipy 2-point": "2-point",
    "scipy 3-point": "3-point",
    "scipy cs": "complex",
    "fixed step 1e-3": "1e-3",
    "fixed step 1e-5": "1e-5",
    "fixed step 1e-8": "1e-8",
    "noise-chosen fit": "fit",
}
Asked = dict[str, list[Answer]]


def knowable(rows: Sequence[Function], answers: Sequence[Answer]) -> list[tuple[Function, Answer]]:
    return [(f, a) for f, a in zip(rows, answers) if f.slope is not None and not f.hopeless]


def true_bars(rows: Sequence[Function], answers: Sequence[Answer]) -> list[bool]:
    """For every answer with a bar, whether it reaches the truth; saying nothing is no answer."""
    told = [(f, a) for f, a in zip(rows, answers) if np.isfinite(a.value) or a.status == "kink"]
    return [covers(f, a) for f, a in told if a.error is not None]


def share(flags: Sequence[bool]) -> str:
    return f"{100 * np.mean(flags):5.1f}" if flags else "    -"


def errors_of(rows: Sequence[Function], answers: Sequence[Answer]) -> list[float]:
    return [relative_error(f, a) for f, a in knowable(rows, answers)]


def line(name: str, rows: Sequence[Function], asked: Asked) -> str:
    """One family: our bars, silence and calls, then every method's share of answers off, and median error."""
    mine = asked["gradproof"]
    known = knowable(rows, mine)
    silent = sum(not np.isfinite(a.value) for _, a in known)
    calls = np.mean([a.evaluations for a in mine])
    figures = [
        f"{100 * np.mean([e > OFF for e in errors]):4.0f} {np.median(errors):7.0e}" if errors else " " * 12
        for errors in (errors_of(rows, asked[method]) for method in METHODS)
    ]
    bars = f"{share(true_bars(rows, mine))} {share(true_bars(rows, asked['numdifftools']))}"
    return f"{name:52} {bars} {silent:4} {calls:5.1f} | {' '.join(figures)}"


def heading() -> str:
    methods = " ".join(f"{SHORT[name]:>12}" for name in METHODS)
    return f"{'':52} {'bar':>5} {'ndt':>5} {'sil.':>4} {'calls':>5} | {methods}"


def failures(rows: Sequence[Function], answers: Sequence[Answer]) -> None:
    for f, a in zip(rows, answers):
        if (np.isfinite(a.value) or a.status == "kink") and not covers(f, a):
            told = f"{a.status} {a.value!r} ± {a.error}"
            print(f"    bar misses: {f.name} at {f.x!r}: {told}, truth {f.slope!r}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=65, help="of each family")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="families whose name contains this")
    parser.add_argument("--failures", action="store_true", help="every answer whose bar misses the truth")
    options = parser.parse_args()
    packages = ("gradproof", "numdifftools", "scipy", "numpy")
    print(", ".join(f"{name} {importlib.metadata.version(name)}" for name in packages))
    print(
        "bar, ndt: answers whose error bar reaches the truth, in %: gradproof, numdifftools; of each method: answers"
    )
    print(f"off by more than {OFF:g} or missing, in %, and the median relative error, at most 1\n{heading()}")
    rows_of: dict[str, list[Function]] = {name: [] for name in FAMILIES if options.only in name}
    for function in points(options.seed, options.points):
        if function.family in rows_of:
            rows_of[function.family].append(function)
    everything: Asked = {name: [] for name in METHODS}
    seconds = dict.fromkeys(METHODS, 0.0)
    for family, rows in rows_of.items():
        asked: Asked = {}
        for name, method in METHODS.items():
            started = time.process_time()
            asked[name] = [ask(method, function) for function in rows]
            seconds[name] += time.process_time() - started
            everything[name] += asked[name]
        print(line(family, rows, asked), flush=True)
        if options.failures:
            failures(rows, asked["gradproof"])
    every_row = [function for rows in rows_of.values() for function in rows]
    print(line(f"all: {len(rows_of)} families, {len(every_row)} points", every_row, everything))
    totals(every_row, everything, seconds)


def totals(rows: Sequence[Function], asked: Asked, seconds: dict[str, float]) -> None:
    print(
        f"\n{'':18} {'bar holds':>9} {'off':>6} {'median':>8} {'95 %':>8} {'calls':>6} {'CPU ms':>7} made up"
    )
    hopeless = [k for k, f in enumerate(rows) if f.slope is None or f.hopeless]
    for name, answers in asked.items():
        errors = errors_of(rows, answers)
        bars = true_bars(rows, answers)
        made_up = sum(bool(np.isfinite(answers[k].value)) for k in hopeless)
        print(
            f"{name:18} {share(bars):>7} % {100 * np.mean([e > OFF for e in errors]):4.1f} % "
            f"{np.median(errors):8.1e} {np.quantile(errors, 0.95):8.1e} "
            f"{np.mean([a.evaluations for a in answers]):6.1f} {1000 * seconds[name] / len(rows):7.2f} "
            f"{made_up} of {len(hopeless)}"
        )


if __name__ == "__main__":
    main()
