"""What `gradproof run` costs a TensorFlow training: steps that are not checked, and the one that is.

    python benchmarks/tensorflow_overhead.py [--steps 300] [--parameters 1e6] [--json FILE]

Unchecked steps: a Keras CNN and a small Transformer, each in an eager loop and by `fit`. Since the machine may be
noisy, segments of ten steps with and without an audit take turns; the figure is the median of the ratios of two
neighbours, and what it is uncertain by.
Checked step: a float32 network with so many parameters, one eager gradient step with its verdict for every entry, in
eager gradient steps of the same network. Memory is the growth of the process's largest size during the check.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

from gradproof.audit.budget import Policy, every, powers
from gradproof.audit.session import Session

BATCH = 32
ALLOWED_UNCHECKED = 1.05
ALLOWED_CHECKED = 40.0
SEGMENT = 10  # steps: short enough that what else the machine does is the same for two neighbours
SETTLING = (
    3  # steps at the beginning of a segment that are not counted: the hooks listen until the first tape
)

layers = tf.keras.layers
Data = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]


def cnn() -> tuple[Any, Data]:
    net = tf.keras.Sequential(
        [
            layers.Conv2D(16, 3, activation="relu"),
            layers.Conv2D(32, 3, activation="relu"),
            layers.MaxPooling2D(2),
            layers.Flatten(),
            layers.Dense(10),
        ]
    )
    rng = np.random.default_rng(0)
    return net, (rng.normal(size=(BATCH, 20, 20, 1)).astype("f"), rng.integers(0, 10, BATCH))


def transformer() -> tuple[Any, Data]:
    words = layers.Input((32,))
    hidden = layers.Embedding(200, 64)(words)
    for _ in range(2):
        hidden = layers.LayerNormalization()(hidden + layers.MultiHeadAttention(4, 16)(hidden, hidden))
        wide = layers.Dense(128, activation="gelu")(hidden)
        hidden = layers.LayerNormalization()(hidden + layers.Dense(64)(wide))
    net = tf.keras.Model(words, layers.Dense(10)(layers.GlobalAveragePooling1D()(hidden)))
    rng = np.random.default_rng(0)
    return net, (rng.integers(0, 200, (BATCH, 32)), rng.integers(0, 10, BATCH))


MODELS: dict[str, Callable[[], tuple[Any, Data]]] = {"cnn": cnn, "transformer": transformer}
LOSS = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def eager_steps(net: Any, data: Data, n: int) -> list[float]:
    """The times of n steps of a training loop written by hand."""
    optimizer = tf.keras.optimizers.SGD(0.01)
    x, y = (tf.constant(array) for array in data)
    times = []
    for _ in range(n):
        start = time.perf_counter()
        with tf.GradientTape() as tape:
            loss = LOSS(y, net(x, training=True))
        gradients = tape.gradient(loss, net.trainable_variables)
        optimizer.apply_gradients(zip(gradients, net.trainable_variables))
        times.append(time.perf_counter() - start)
    return times


class Clock(tf.keras.callbacks.Callback):  # type: ignore[misc]
    """The time from the beginning of a batch to its end."""

    def __init__(self) -> None:
        super().__init__()
        self.times: list[float] = []

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        self.start = time.perf_counter()

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self.times.append(time.perf_counter() - self.start)


def fit_steps(net: Any, data: Data, n: int) -> list[float]:
    clock = Clock()
    examples = tf.data.Dataset.from_tensors(data).repeat()
    net.fit(examples, steps_per_epoch=n, epochs=1, verbose=0, shuffle=False, callbacks=[clock])
    return clock.times


def unchecked(make: str, by_fit: bool, pairs: int) -> dict[str, float]:
    """Segments of steps, plain and under an audit that has checked and does not check now, side by side in time."""
    net, data = MODELS[make]()
    net.compile("sgd", LOSS, jit_compile=False)
    run = fit_steps if by_fit else eager_steps
    with audit(powers) as session:
        run(net, data, SEGMENT)
    assert session.gradients
    run(net, data, SEGMENT)
    times: dict[bool, list[float]] = {False: [], True: []}
    for k in range(pairs):
        for watched in (False, True) if k % 2 else (True, False):
            with audit(never) if watched else nullcontext():
                taken = run(net, data, SETTLING + SEGMENT)[SETTLING:]
            times[watched].append(statistics.median(taken))
    ratios = [watched / plain for watched, plain in zip(times[True], times[False])]
    return {
        "plain": statistics.median(times[False]),
        "watched": statistics.median(times[True]),
        "ratio": statistics.median(ratios),
        "spread": statistics.stdev(ratios) / len(ratios) ** 0.5,
    }


def never(occurrence: int) -> bool:
    del occurrence
    return False


@contextmanager
def audit(policy: Policy) -> Iterator[Session]:
    session = Session(policy=policy)
    session.start()
    try:
        yield session
    finally:
        session.stop()


def network(n_parameters: int) -> tuple[Any, Data]:
    width = round((n_parameters / 2) ** 0.5)
    net = tf.keras.Sequential(
        [layers.Dense(width, activation="tanh"), layers.Dense(width, activation="tanh")]
    )
    rng = np.random.default_rng(0)
    return net, (rng.normal(size=(BATCH, width)).astype("f"), rng.integers(0, 10, BATCH))


def checked(n_parameters: int) -> dict[str, float]:
    """One eager gradient step, plain and with the verdict for every entry."""
    net, (x, _) = network(n_parameters)
    net(x[:1])

    def step() -> float:
        start = time.perf_counter()
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(net(x) ** 2)
        gradients = tape.gradient(loss, net.trainable_variables)
        for gradient in gradients:
            gradient.numpy()
        return time.perf_counter() - start

    step()
    before = [step() for _ in range(10)]
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with audit(every) as session:
        step()  # loads what is loaded at the first check
        audited = min(step() for _ in range(3))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - size
    verdicts = {str(gradient.verdict) for gradient in session.gradients}
    assert verdicts == {"correct"}, verdicts
    plain = statistics.median(before + [step() for _ in range(10)])
    return {"plain": plain, "audited": audited, "megabytes": grown / 1024, "parameters": net.count_params()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--parameters", type=float, default=1e6)
    parser.add_argument("--json")
    given = parser.parse_args()
    found: dict[str, dict[str, float]] = {}
    row = found["checked"] = checked(int(given.parameters))
    print(
        f"{int(row['parameters']):,} parameters: checked step {row['audited']:.3f} s, plain {row['plain']:.4f} s: "
        f"{row['audited'] / row['plain']:.1f} x (allowed {ALLOWED_CHECKED:g}), {row['megabytes']:.0f} MB more"
    )
    for make in MODELS:
        for by_fit in (False, True):
            row = unchecked(make, by_fit, given.steps // SEGMENT)
            name = f"{make}, {'fit' if by_fit else 'eager loop'}"
            found[name] = row
            print(
                f"{name:<24} unchecked step {1e3 * row['watched']:7.2f} ms, plain {1e3 * row['plain']:7.2f} ms: "
                f"{row['ratio']:.3f} x, plus or minus {row['spread']:.3f} (allowed {ALLOWED_UNCHECKED})",
                flush=True,
            )
    if given.json:
        with open(given.json, "w", encoding="utf-8") as file:
            json.dump(found, file, indent=1)


if __name__ == "__main__":
    main()
