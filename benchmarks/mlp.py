"""What a verdict for every entry costs: an MLP loss with n parameters, in gradients of the same network.

    python benchmarks/mlp.py [--first 1e2,...,1e7] [--second 1e2,...,1e6] [--peers 1e2,1e3] [--json FILE]

All times are divided by the time of one float32 gradient by PyTorch, taken in the same run before and after, since
the machine may be noisy. First rung: proof in float64 balls, verdict for every entry, local rounding errors and
both error passes. Second rung: the gradient in balls of 128 bits. The peers check what they check by default.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from gradproof.domains.ball import BallDomain
from gradproof.engine.derive import derive, gradient
from gradproof.engine.rounding import budget_of, error_adjoints, local_errors, push_errors, recorded_run
from gradproof.engine.trace import Traced, Tracer
from gradproof.ir.program import Builder, Program
from gradproof.judge.judge import Evidence, judge
from gradproof.judge.verdict import Verdict
from gradproof.options import Options

BATCH = 256
SECONDS = 1.0  # for the median of repeated measurements

Layers = list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]


def network(n: int) -> tuple[Layers, np.ndarray[Any, Any]]:
    """Two square layers with about n parameters, and a batch of data."""
    width = max(2, round((n / 2) ** 0.5))
    rng = np.random.default_rng(0)

    def layer() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        weights = rng.normal(size=(width, width)) / np.sqrt(width)
        return weights.astype(np.float32), rng.normal(size=width).astype(np.float32) / 10

    return [layer(), layer()], rng.normal(size=(BATCH, width)).astype(np.float32)


def program_of(layers: Layers, data: np.ndarray[Any, Any]) -> Program:
    builder = Builder()
    m = Tracer(builder, phase="forward")
    hidden = Traced(m, builder.constant(data), data)
    for weights, bias in layers:
        w, b = (Traced(m, builder.input(array), array) for array in (weights, bias))
        hidden = m.tanh(m.add(m.matmul(hidden, w), b))
    return builder.build([m.mean(m.mul(hidden, hidden), axes=(0, 1)).id])


def torch_loss(parameters: list[Any], data: Any) -> Any:
    hidden = data
    for weights, bias in zip(parameters[::2], parameters[1::2]):
        hidden = torch.tanh(hidden @ weights + bias)
    return (hidden * hidden).mean()


def torch_gradient(layers: Layers, data: np.ndarray[Any, Any]) -> Callable[[], list[np.ndarray[Any, Any]]]:
    parameters = [torch.tensor(array, requires_grad=True) for layer in layers for array in layer]
    batch = torch.tensor(data)

    def compute() -> list[np.ndarray[Any, Any]]:
        return [g.numpy() for g in torch.autograd.grad(torch_loss(parameters, batch), parameters)]

    return compute


def median_time(function: Callable[[], Any]) -> float:
    function()
    times: list[float] = []
    while sum(times) < SECONDS or len(times) < 3:
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def first_rung(n: int) -> dict[str, Any]:
    layers, data = network(n)
    framework = torch_gradient(layers, data)
    before = median_time(framework)
    observed = framework()
    program = program_of(layers, data)
    derived = derive(program)  # stands for what a frontend records while the framework computes
    evidence = Evidence(program, derived.wrt, tuple(observed), derived.program.outputs, derived.program)
    times = {"verdict": 0.0, "budget": 0.0}

    def audit() -> None:
        start = time.perf_counter()
        judgements = judge(evidence, Options())
        middle = time.perf_counter()
        errors = local_errors(derived.program)
        at = recorded_run(derived.program)
        push_errors(derived.program, errors, at)
        weights = [np.zeros(derived.program[id].shape) for id in derived.program.outputs]
        weights[0].flat[0] = 1.0
        budget_of(errors, error_adjoints(derived.program, errors, weights, at))
        times["verdict"], times["budget"] = middle - start, time.perf_counter() - middle
        assert all(judgement.verdict is Verdict.CORRECT for judgement in judgements)

    total = median_time(audit)
    one = (before + median_time(framework)) / 2
    parameters = sum(array.size for layer in layers for array in layer)
    return {
        "n": parameters,
        "gradient_ms": 1e3 * one,
        "total": total / one,
        "verdict": times["verdict"] / one,
        "budget": times["budget"] / one,
    }


def second_rung(n: int) -> dict[str, Any]:
    layers, data = network(n)
    framework = torch_gradient(layers, data)
    before = median_time(framework)
    program = program_of(layers, data)
    start = time.perf_counter()
    gradient(BallDomain(128), program)
    total = time.perf_counter() - start
    one = (before + median_time(framework)) / 2
    return {
        "n": sum(array.size for layer in layers for array in layer),
        "gradient_ms": 1e3 * one,
        "total": total / one,
    }


def peers(n: int) -> dict[str, Any]:
    layers, data = network(n)
    one = median_time(torch_gradient(layers, data))
    flat = np.concatenate([array.reshape(-1) for layer in layers for array in layer]).astype(np.float64)
    shapes = [array.shape for layer in layers for array in layer]

    def split(x: Any) -> list[Any]:
        ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
        return [part.reshape(shape) for part, shape in zip(np.split(x, ends[:-1]), shapes)]

    def loss(x: Any) -> float:
        hidden = data.astype(np.float64)
        parts = split(x)
        for weights, bias in zip(parts[::2], parts[1::2]):
            hidden = np.tanh(hidden @ weights + bias)
        return float((hidden * hidden).mean())

    wide = [(weights.astype(np.float64), bias.astype(np.float64)) for weights, bias in layers]
    exact = np.concatenate([g.reshape(-1) for g in torch_gradient(wide, data.astype(np.float64))()])
    row: dict[str, Any] = {"n": flat.size, "gradient_ms": 1e3 * one}
    for name, check in _checks(loss, flat, exact, wide, data).items():
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check()
        row[name] = (time.perf_counter() - start) / one
    return row


def _checks(loss: Any, flat: Any, exact: Any, layers: Layers, data: Any) -> dict[str, Callable[[], Any]]:
    import numdifftools
    import scipy.optimize

    wide = [torch.tensor(array, requires_grad=True) for layer in layers for array in layer]
    batch = torch.tensor(data, dtype=torch.float64)

    def torch_check(fast: bool) -> Any:
        return torch.autograd.gradcheck(
            lambda *ps: torch_loss(list(ps), batch), wide, fast_mode=fast, raise_exception=False
        )

    return {
        "scipy check_grad": lambda: scipy.optimize.check_grad(loss, lambda x: exact, flat),
        "numdifftools": lambda: numdifftools.Gradient(loss)(flat),
        "torch gradcheck": lambda: torch_check(False),
        "torch fast": lambda: torch_check(True),
        "jax check_grads": lambda: _jax_check(layers, data),
        "tf compute_gradient": lambda: _tensorflow_check(layers, data),
    }


def _jax_check(layers: Layers, data: Any) -> None:
    import jax
    import jax.test_util

    with jax.enable_x64(True):

        def loss(parameters: Any) -> Any:
            hidden = data.astype(np.float64)
            for weights, bias in parameters:
                hidden = jax.numpy.tanh(hidden @ weights + bias)
            return (hidden * hidden).mean()

        jax.test_util.check_grads(loss, (layers,), order=1, modes=["rev"])


def _tensorflow_check(layers: Layers, data: Any) -> None:
    import tensorflow as tf

    def loss(*parameters: Any) -> Any:
        hidden = tf.constant(data, tf.float64)
        for weights, bias in zip(parameters[::2], parameters[1::2]):
            hidden = tf.tanh(hidden @ weights + bias)
        return tf.reduce_mean(hidden * hidden)

    tf.test.compute_gradient(loss, [tf.constant(array) for layer in layers for array in layer])


def _table(title: str, rows: list[dict[str, Any]]) -> None:
    print(f"\n{title}")
    if not rows:
        return
    names = list(rows[0])
    print("  ".join(f"{name:>19}" for name in names))
    for row in rows:
        print("  ".join(f"{row[name]:>19,.0f}" if name == "n" else f"{row[name]:>19.4g}" for name in names))


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
    results = {
        "first rung": [first_rung(n) for n in arguments.first],
        "second rung": [second_rung(n) for n in arguments.second],
        "peers": [peers(n) for n in arguments.peers],
    }
    _table(
        "First rung: proof, verdict for every entry, error budget; in float32 gradients of PyTorch",
        results["first rung"],
    )
    _table(
        "Second rung: balls of 128 bits, every entry; in float32 gradients of PyTorch", results["second rung"]
    )
    _table("Peers; in float32 gradients of PyTorch", results["peers"])
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
