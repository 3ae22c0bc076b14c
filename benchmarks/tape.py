"""What taping costs: plain NumPy, the same code on a tape, and its gradient, side by side in one run."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from gradproof.tape import GradientTape, Variable

REPEATS = 15


def chain(x: Any) -> Any:
    y = x
    for _ in range(10):
        y = np.tanh(y * 1.1 + 0.1) - 0.5 * y
    return np.sum(y**2)


def arithmetic(x: Any) -> Any:
    y = x
    for _ in range(20):
        y = y * 0.9 + x
    return np.sum(y)


def indexing(x: Any) -> Any:
    y = x[1:] - x[:-1]
    return np.sum(np.where(y > 0, y, -y)) + np.sum(x[::2] * x[1::2])


def layers(w: Any) -> Any:
    n = int(np.sqrt(w.size))
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
            y = function(x)
        return tape, y

    def gradient() -> Any:
        tape, y = taped()
        return tape.gradient(y, x)

    plain, forward, both = measure(lambda: function(values)), measure(taped), measure(gradient)
    return f"{function.__name__:<12}{n:>10,}{plain * 1e3:>12.3f}{forward / plain:>10.2f}{both / plain:>12.2f}"


def main() -> None:
    print(
        f"{'program':<12}{'entries':>10}{'NumPy, ms':>12}{'taped':>10}{'gradient':>12}    (times plain NumPy)"
    )
    for function in (chain, arithmetic, indexing, layers):
        for n in (100, 10_000, 100_000, 1_000_000):
            print(row(function, n))


if __name__ == "__main__":
    main()
