"""What a verdict for every entry costs: an MLP loss with n parameters, in gradients of the same network.

    python benchmarks/mlp.py [--first 1e2,...,1e7] [--second 1e2,...,1e6] [--peers 1e2,1e3] [--json FILE]

The units are one float32 gradient by PyTorch and one by TensorFlow in eager mode, taken in the same run, in turns with
what is measured. Of several times the least counts: other work on the machine only adds to it.
First rung: proof in float64 balls and a verdict for every entry (`verdict`), the local rounding errors and both error
passes (`budget`). Second rung: the gradient in balls of 128 bits, compared entry by entry.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from typing import Any

import mlp_peers
import numpy as np
from mlp_network import Layers, network, program_of, size_of, tensorflow_gradient, torch_gradient

from gradproof.engine.derive import derive, gradient
from gradproof.engine.refine import Enclosure, arb_domain
from gradproof.engine.rounding import budget_of, error_adjoints, local_errors, propagate_errors, recorded_run
from gradproof.judge.compare import compare
from gradproof.judge.judge import Evidence, judge
from gradproof.judge.verdict import Verdict
from gradproof.options import Options

SECONDS = 4.0  # spent on one line of a table, if three rounds take no longer
BITS = 128


def least_times(functions: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """The least time of each function, called in turns."""
    for function in functions.values():
        function()
    times: dict[str, list[float]] = {name: [] for name in functions}
    start = time.perf_counter()
    rounds = 0
    while rounds < 3 or time.perf_counter() - start < SECONDS:
        rounds += 1
        for name, function in functions.items():
            before = time.perf_counter()
            function()
            times[name].append(time.perf_counter() - before)
    return {name: min(several) for name, several in times.items()}


def in_units(n: int, times: dict[str, float]) -> dict[str, Any]:
    """Each time in gradients by PyTorch; the total also in gradients by TensorFlow."""
    torch, tensorflow = times.pop("PyTorch"), times.pop("TensorFlow")
    total = sum(times.values())
    row: dict[str, Any] = {"n": n} | {name: one / torch for name, one in times.items()}
    return row | {
        "total": total / torch,
        "in TensorFlow's": total / tensorflow,
        "PyTorch ms": 1e3 * torch,
        "TensorFlow ms": 1e3 * tensorflow,
    }


def units(layers: Layers, data: Any) -> dict[str, Callable[[], Any]]:
    return {"PyTorch": torch_gradient(layers, data), "TensorFlow": tensorflow_gradient(layers, data)}


def first_rung(n: int) -> dict[str, Any]:
    layers, data = network(n)
    program = program_of(layers, data)
    derived = derive(program)  # stands for what a frontend records while the framework computes
    observed = tuple(torch_gradient(layers, data)())
    evidence = Evidence(program, derived.wrt, observed, derived.program.outputs, derived.program)
    weights = [np.zeros(derived.program[id].shape) for id in derived.program.outputs]
    weights[0].flat[0] = 1.0

    def verdict() -> None:
        assert all(judgement.verdict is Verdict.CORRECT for judgement in judge(evidence, Options()))

    def budget() -> None:
        errors, at = local_errors(derived.program), recorded_run(derived.program)
        propagate_errors(derived.program, errors, at)
        budget_of(errors, error_adjoints(derived.program, errors, weights, at))

    return in_units(
        size_of(layers), least_times(units(layers, data) | {"verdict": verdict, "budget": budget})
    )


def second_rung(n: int) -> dict[str, Any]:
    layers, data = network(n)
    program = program_of(layers, data)
    observed = torch_gradient(layers, data)()

    def verdict() -> None:
        domain = arb_domain(program, BITS)
        found = gradient(domain, program)
        with domain.active():
            enclosures = [Enclosure(*domain.leave(one)) for one in found]
        for one, enclosure in zip(observed, enclosures):
            assert compare(one, enclosure, "float32", Options()).outcome == "within"

    return in_units(size_of(layers), least_times(units(layers, data) | {"verdict": verdict}))


def peers(n: int) -> dict[str, Any]:
    layers, data = network(n)
    one = least_times({"PyTorch": torch_gradient(layers, data)})["PyTorch"]
    checks = mlp_peers.times(layers, data)
    return {"n": size_of(layers)} | {name: seconds / one for name, seconds in checks.items()}


def table(title: str, rows: list[dict[str, Any]]) -> None:
    if not rows:
        return
    print(f"\n{title}\n")
    widths = {name: max(len(name), 9) for name in rows[0]}
    print("  ".join(f"{name:>{width}}" for name, width in widths.items()))
    for row in rows:
        print("  ".join(f"{_number(name, row[name]):>{width}}" for name, width in widths.items()))


def _number(name: str, value: float) -> str:
    return f"{value:,.0f}" if name == "n" or value >= 100 else f"{value:.3g}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    sizes = lambda text: [int(float(part)) for part in text.split(",") if part]
    parser.add_argument("--first", type=sizes, default=sizes("1e2,1e3,1e4,1e5,1e6,1e7"))
    parser.add_argument("--second", type=sizes, default=sizes("1e2,1e3,1e4,1e5,1e6"))
    parser.add_argument("--peers", type=sizes, default=sizes("1e2,1e3"))
    parser.add_argument("--json")
    arguments = parser.parse_args()
    results: dict[str, list[dict[str, Any]]] = {}
    for title, measure, asked in (
        ("First rung, float64 balls: verdict for every entry and error budget", first_rung, arguments.first),
        ("Second rung, balls of 128 bits: verdict for every entry", second_rung, arguments.second),
        ("Peers, with their default settings", peers, arguments.peers),
    ):
        results[title] = [measure(n) for n in asked]
        table(f"{title}; in float32 gradients by PyTorch", results[title])
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
