"""What `gradproof run` costs a TensorFlow training: steps that are not checked, and the one that is.

    python benchmarks/tensorflow_overhead.py [--steps 300] [--parameters 1e6] [--json FILE]

Unchecked steps: a Keras CNN and a small Transformer, each in an eager loop and by `fit`. Since the machine may be
noisy, blocks of a few steps with and without an audit take turns within one training; the figure is the median of the
ratios of two neighbours, and what it is uncertain by.
Checked step: float32 networks with so many parameters, one eager gradient step with its verdict for every entry, in
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
from contextlib import contextmanager
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

from gradproof.audit.budget import Policy, every, powers
from gradproof.audit.session import Session

BATCH = 32
ALLOWED_UNCHECKED = 1.05
ALLOWED_CHECKED = 40.0
BLOCK = 30  # steps: short enough that what else the machine does is much the same for two neighbours
SETTLING = 5  # steps at the beginning of a block that are not counted: functions are traced in them
WARM_UP = (
    10  # steps, fewer than a block: functions are traced, kernels chosen and memory taken from the system
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


def never(occurrence: int) -> bool:
    del occurrence
    return False


class Turns:
    """The times of the steps of one training, with and without an audit in turns."""

    def __init__(self, prepare: Callable[[], None] = lambda: None) -> None:
        self.prepare = prepare  # done at the beginning of every block
        self.n_steps = 0
        self.blocks: list[list[float]] = []
        self.session: Session | None = None

    def begin(self) -> None:
        if self.n_steps % BLOCK == 0:
            self.blocks.append([])
            # plain, watched, watched, plain: what drifts weighs on both alike
            self.switch(on=len(self.blocks) % 4 in (2, 3))
            self.prepare()
        self.start = time.perf_counter()

    def end(self) -> None:
        taken = time.perf_counter() - self.start
        if self.n_steps % BLOCK >= SETTLING:
            self.blocks[-1].append(taken)
        self.n_steps += 1

    def switch(self, on: bool) -> None:
        if on and self.session is None:
            self.session = Session(policy=never)
            self.session.start()
        elif self.session is not None and not on:
            self.session.stop()
            self.session = None

    def pairs(self) -> list[tuple[float, float]]:
        """The median step of neighbouring blocks: plain, watched."""
        medians = [statistics.median(block) for block in self.blocks]
        twos = zip(medians[::2], medians[1::2])
        return [two if k % 2 == 0 else (two[1], two[0]) for k, two in enumerate(twos)]


def train_by_hand(net: Any, data: Data, n: int, turns: Turns) -> None:
    """A training loop as people write it."""
    optimizer = tf.keras.optimizers.SGD(0.01)
    x, y = (tf.constant(array) for array in data)
    for _ in range(n):
        turns.begin()
        with tf.GradientTape() as tape:
            loss = LOSS(y, net(x, training=True))
        gradients = tape.gradient(loss, net.trainable_variables)
        optimizer.apply_gradients(zip(gradients, net.trainable_variables))
        turns.end()


class Clock(tf.keras.callbacks.Callback):  # type: ignore[misc]
    """Tells the turns of the batches of a `fit`."""

    def __init__(self, turns: Turns) -> None:
        super().__init__()
        self.turns = turns

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        self.turns.begin()

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self.turns.end()


def train_by_fit(net: Any, data: Data, n: int, turns: Turns) -> None:
    examples = tf.data.Dataset.from_tensors(data).repeat()
    net.fit(examples, steps_per_epoch=n, epochs=1, verbose=0, shuffle=False, callbacks=[Clock(turns)])


def unchecked(make: str, by_fit: bool, steps: int) -> dict[str, float]:
    """So many steps plain, and as many under an audit that has checked and does not check now."""
    net, data = MODELS[make]()
    net.compile("sgd", LOSS, jit_compile=False)
    train = train_by_fit if by_fit else train_by_hand
    with audit(powers) as session:
        train(net, data, WARM_UP, Turns())
    assert session.gradients
    # A new audit has functions traced once more: so that all blocks begin alike, all begin with that.
    turns = Turns(lambda: net.make_train_function(force=True)) if by_fit else Turns()
    train(net, data, 2 * steps // (4 * BLOCK) * (4 * BLOCK), turns)
    turns.switch(on=False)
    pairs = turns.pairs()
    ratios = [watched / plain for plain, watched in pairs]
    low, _, high = statistics.quantiles(ratios, n=4)
    return {
        "plain": statistics.median(plain for plain, _ in pairs),
        "watched": statistics.median(watched for _, watched in pairs),
        "ratio": statistics.median(ratios),
        # The standard error of a median, from the quartiles: a step that the machine held up does not move it.
        "spread": 0.93 * (high - low) / len(ratios) ** 0.5,
    }


@contextmanager
def audit(policy: Policy) -> Iterator[Session]:
    session = Session(policy=policy)
    session.start()
    try:
        yield session
    finally:
        session.stop()


def dense(n_parameters: int) -> tuple[Any, Data]:
    width = round((n_parameters / 2) ** 0.5)
    net = tf.keras.Sequential(
        [layers.Dense(width, activation="tanh"), layers.Dense(width, activation="tanh")]
    )
    rng = np.random.default_rng(0)
    return net, (rng.normal(size=(BATCH, width)).astype("f"), rng.integers(0, 10, BATCH))


def convolutional(n_parameters: int) -> tuple[Any, Data]:
    """For images of 28 x 28, as everybody's first one; nearly all parameters are in the first dense layer."""
    net = tf.keras.Sequential(
        [
            layers.Conv2D(32, 3, activation="relu"),
            layers.MaxPooling2D(2),
            layers.Conv2D(64, 3, activation="relu"),
            layers.MaxPooling2D(2),
            layers.Flatten(),
            layers.Dense(n_parameters // 1600, activation="relu"),
            layers.Dense(10),
        ]
    )
    rng = np.random.default_rng(0)
    return net, (rng.uniform(size=(BATCH, 28, 28, 1)).astype("f"), rng.integers(0, 10, BATCH))


CHECKED: dict[str, Callable[[int], tuple[Any, Data]]] = {"dense": dense, "convolutional": convolutional}


def checked(make: str, n_parameters: int) -> dict[str, float]:
    """One eager gradient step, plain and with the verdict for every entry."""
    tf.keras.utils.set_random_seed(0)
    net, (x, _) = CHECKED[make](n_parameters)
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
    for make in CHECKED:
        row = found[f"{make}, checked"] = checked(make, int(given.parameters))
        print(
            f"{make}, {int(row['parameters']):,} parameters: checked step {row['audited']:.3f} s, plain "
            f"{row['plain']:.4f} s: {row['audited'] / row['plain']:.1f} x (allowed {ALLOWED_CHECKED:g}), "
            f"{row['megabytes']:.0f} MB more",
            flush=True,
        )
    for make in MODELS:
        for by_fit in (False, True):
            row = unchecked(make, by_fit, given.steps)
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
