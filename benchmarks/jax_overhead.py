"""What `gradproof run` costs a JAX training: steps that are not checked, and the one that is.

    python benchmarks/jax_overhead.py [--steps 1800] [--parameters 1e6] [--json FILE]

Unchecked steps: a perceptron and a small convolutional network, each as an eager loop and as one compiled step. Blocks
of a few steps with and without an audit take turns, since the machine may be noisy; the figure is the median of the
ratios of two neighbours. Checked step: a float32 perceptron with so many parameters, one compiled gradient step with
its verdict for every entry, in gradient steps of the same network; the second step is measured, since the
first compiles the network. Times are of the processor on one thread: other work may run beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

os.environ.update(
    OMP_NUM_THREADS="1",
    OPENBLAS_NUM_THREADS="1",
    XLA_FLAGS="--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
)  # threads that wait for each other count as time

import jax
import jax.numpy as jnp
import numpy as np

from gradproof.audit.budget import every
from gradproof.audit.session import Session

ALLOWED_UNCHECKED = 1.03
ALLOWED_CHECKED = 25.0
BLOCK = 60  # steps: short enough that what else the machine does is much the same for two neighbours
SETTLING = 20  # steps at the beginning of a block that are not counted: those after compiling are slower

Params = list[Any]
Step = Callable[[Params], Params]


def never(occurrence: int) -> bool:
    del occurrence
    return False


def perceptron(sizes: tuple[int, ...]) -> tuple[Params, Callable[[Params], Any]]:
    rng = np.random.default_rng(0)
    params = [jnp.asarray(rng.normal(size=pair) / pair[0] ** 0.5, jnp.float32) for pair in pairwise(sizes)]
    x = jnp.asarray(rng.normal(size=(32, sizes[0])), jnp.float32)

    def loss(params: Params) -> Any:
        h = x
        for w in params[:-1]:
            h = jnp.tanh(h @ w)
        return jnp.mean((h @ params[-1]) ** 2)

    return params, loss


def convolutions() -> tuple[Params, Callable[[Params], Any]]:
    rng = np.random.default_rng(0)
    shapes = ((3, 3, 1, 16), (3, 3, 16, 32))
    params = [jnp.asarray(rng.normal(size=shape) / 10, jnp.float32) for shape in shapes]
    x = jnp.asarray(rng.normal(size=(32, 20, 20, 1)), jnp.float32)

    def loss(params: Params) -> Any:
        h = x
        for k in params:
            h = jax.lax.conv_general_dilated(h, k, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
            h = jax.nn.relu(h)
        return jnp.mean(h**2)

    return params, loss


def step_of(loss: Callable[[Params], Any], is_compiled: bool) -> Step:
    def step(params: Params) -> Params:
        return [w - 0.01 * g for w, g in zip(params, jax.grad(loss)(params))]

    return jax.jit(step) if is_compiled else step


def seconds(step: Step, params: Params, n: int) -> float:
    for _ in range(SETTLING):
        params = step(params)
    jax.block_until_ready(params)
    start = time.process_time()
    for _ in range(n):
        params = step(params)
    jax.block_until_ready(params)
    return (time.process_time() - start) / n


def unchecked(params: Params, loss: Callable[[Params], Any], is_compiled: bool, steps: int) -> float:
    """The median ratio of a step under an audit that looks at none of them to a plain one.

    Both are compiled anew: two programs that XLA makes of one function differ by more than an audit costs.
    """
    ratios = []
    for _ in range(max(steps // (2 * BLOCK), 2)):
        session = Session(policy=never)
        session.start()
        try:
            audited = seconds(step_of(loss, is_compiled), params, BLOCK)
        finally:
            session.stop()
        ratios.append(audited / seconds(step_of(loss, is_compiled), params, BLOCK))
    return statistics.median(ratios)


def checked(n_parameters: float) -> tuple[float, str]:
    """A checked gradient step in plain ones, and what it found."""
    width = int((n_parameters / 2) ** 0.5)
    params, loss = perceptron((width, width, width))
    gradient = jax.jit(jax.grad(loss))
    jax.block_until_ready(gradient(params))
    start = time.process_time()
    for _ in range(5):
        jax.block_until_ready(gradient(params))
    plain = (time.process_time() - start) / 5
    session = Session(policy=every)
    session.start()
    try:
        audited = jax.jit(jax.grad(loss))
        jax.block_until_ready(audited(params))
        start = time.process_time()
        jax.block_until_ready(audited(params))
        spent = time.process_time() - start
    finally:
        session.stop()
    verdicts = ", ".join(sorted({str(one.verdict.value) for one in session.report().gradients}))
    return spent / plain, verdicts


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=1800)
    parser.add_argument("--parameters", type=float, default=1e6)
    parser.add_argument("--json")
    args = parser.parse_args()
    rows: dict[str, Any] = {}
    for name, (params, loss) in {
        "perceptron": perceptron((64, 128, 128, 10)),
        "convolutions": convolutions(),
    }.items():
        for is_compiled in (False, True):
            row = f"{name}, {'compiled' if is_compiled else 'eager'}"
            rows[row] = unchecked(params, loss, is_compiled, args.steps)
            print(f"{row:28} unchecked steps {rows[row]:.3f} x plain (allowed {ALLOWED_UNCHECKED})")
    ratio, verdicts = checked(args.parameters)
    rows["checked"] = ratio
    size = f"{args.parameters:.0e} parameters"
    print(f"checked step of {size}: {ratio:.1f} gradient steps (allowed {ALLOWED_CHECKED}), {verdicts}")
    if args.json:
        with open(args.json, "w") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
