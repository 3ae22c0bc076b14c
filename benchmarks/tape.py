"""What taping costs: plain NumPy, the same code on a tape, its gradient, and autograd's, side by side in one run.

A tape keeps every intermediate result, which plain NumPy frees at once; where memory is slow to get from the
system, that alone is a multiple of the arithmetic. Hence the peer, which keeps them too.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import autograd
import autograd.numpy as anp
import numpy as np

from gradproof.tape import GradientTape, Variable

REPEATS = 15


def chain(x: Any, np: Any) -> Any:
    y = x
    for _ in range(10):
        y = np.tanh(y * 1.1 + 0.1) - 0.5 * y
    return np.sum(y**2)


def arithmetic(x: Any, np: Any) -> Any:
    y = x
    for _ in range(20):
        y = y * 0.9 + x
    return np.sum(y)


def indexing(x: Any, np: Any) -> Any:
    y = x[1:] - x[:-1]
    return np.sum(np.where(y > 0, y, -y)) + np.sum(x[::2] * x[1::2])


def layers(w: Any, np: Any) -> Any:
    n = int(w.size**0.5)
    h = np.ones((8, n)) / n
    matrix = np.reshape(w[: n * n], (n, n))
    for _ in range(3):
        h = np.tanh(h @ matrix)
    return np.mean(h**2)


def measure(function: Callable[[], Any]) -> float:
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)  # the machine may be busy with other things; the least disturbed run counts


def row(function: Callable[..., Any], n: int) -> str:
    values = np.random.default_rng(0).normal(size=n)
    x = Variable(values)

    def taped() -> tuple[GradientTape, Any]:
        with GradientTape() as tape:
            y = function(x, np)
        return tape, y

    def gradient() -> Any:
        tape, y = taped()
        return tape.gradient(y, x)

    peer = autograd.grad(lambda v: function(v, anp))
    plain = measure(lambda: function(values, np))
    ratios = [measure(run) / plain for run in (taped, gradient, lambda: peer(values))]
    return f"{function.__name__:<12}{n:>10,}{plain * 1e3:>12.3f}" + "".join(
        f"{ratio:>12.2f}" for ratio in ratios
    )


def main() -> None:
    heads = f"{'NumPy, ms':>12}{'taped':>12}{'gradient':>12}{'autograd':>12}"
    print(f"{'program':<12}{'entries':>10}{heads}    (multiples of plain NumPy)")
    for function in (chain, arithmetic, indexing, layers):
        for n in (100, 10_000, 100_000, 1_000_000):
            print(row(function, n))


if __name__ == "__main__":
    main()
