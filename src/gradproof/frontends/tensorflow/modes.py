"""Runs a program in each of TensorFlow's execution modes: eager, as a graph, compiled by XLA."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from gradproof.frontends.apart import ONLY_HERE, Setting, apart, with_one_thread
from gradproof.frontends.emitting import NoFunction
from gradproof.frontends.tensorflow.emit import value_in
from gradproof.frontends.tensorflow.unlogged import unlogged
from gradproof.ir.types import Array
from gradproof.modes.feed import Feed, feed, in_precision
from gradproof.modes.model import LackingMode, Mode, NotRun

FRAMEWORK = "tensorflow"


def _mode(name: str, way: dict[str, Any] | None, **facts: Any) -> Mode:
    return Mode(FRAMEWORK, name, partial(_values, way), partial(_gradient, way), **facts)


def _values(way: dict[str, Any] | None, feed: Feed, outputs: Sequence[int]) -> list[Array]:
    def compute(*given: Any) -> list[Any]:
        values = _computed(feed, given)
        return [values[id] for id in outputs]

    with _running(feed, way) as (given, run):
        return [_array(found) for found in run(compute, tuple(outputs))(*given)]


def _gradient(
    way: dict[str, Any] | None, feed: Feed, target: int, wrt: Sequence[int]
) -> tuple[Array, list[Array | None]]:
    import tensorflow as tf

    def compute(*given: Any) -> Any:
        watched = dict(zip(feed.given, given))
        with tf.GradientTape() as tape:
            for id in wrt:
                tape.watch(watched[id])
            value = _computed(feed, given)[target]
        found = tape.gradient(value, [watched[id] for id in wrt])
        return value, [None if one is None else tf.convert_to_tensor(one) for one in found]

    with _running(feed, way) as (given, run):
        value, found = run(compute, (target, tuple(wrt)))(*given)
        return _array(value), [None if one is None else _array(one) for one in found]


def _computed(feed: Feed, given: Sequence[Any]) -> dict[int, Any]:
    import tensorflow as tf

    values: dict[int, Any] = dict(zip(feed.given, given))
    values |= {id: tf.constant(value) for id, value in feed.literals.items()}
    for node in feed.computed:
        values[node.id] = value_in(tf, node, values, True)
    return values


@contextmanager
def _running(feed: Feed, way: dict[str, Any] | None) -> Iterator[tuple[list[Any], Callable[..., Any]]]:
    """The arguments as tensors, and what makes a function one of the mode, once for what is asked of it."""
    import tensorflow as tf

    if not tf.executing_eagerly():
        raise NotRun("eager execution is switched off in this program")
    device = (way or {}).get("device", "")
    options = {name: value for name, value in (way or {}).items() if name != "device"}

    def run(function: Callable[..., Any], asked: Hashable) -> Callable[..., Any]:
        if not options:
            return function
        key = (FRAMEWORK, str(way), asked)
        made: Callable[..., Any] = feed.once(key, lambda: tf.function(function, **options))
        return made

    try:
        with unlogged(), tf.device(device or None):
            yield [tf.constant(value) for value in feed.given.values()], run
    except NoFunction as error:
        raise NotRun(f"TensorFlow has no function for `{error}` here") from error
    except Exception as error:
        raise NotRun(f"TensorFlow refuses the program: {_first_line(error)}") from error


def _array(tensor: Any) -> Array:
    """NumPy knows no bfloat16 by itself: the tensor has to be asked."""
    return np.array(tensor.numpy())


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


MODES = (
    _mode("eager", None, title="eager", runs_as="eager", is_single=True),
    _mode("graph", {"autograph": False}, title="as a graph", runs_as="graph"),
    _mode("XLA", {"autograph": False, "jit_compile": True}, title="under XLA", runs_as="xla"),
)


# What Keras multiplies the loss by under `mixed_float16` to begin with, and halves where the gradient overflows.
LOSS_SCALE = 2.0**15


def _policy(dtype: str) -> Mode:
    """As a layer runs under Keras' policy: numbers of the program in float32, every op in 16 bits."""
    name = f"mixed_{dtype}"
    mode = _mode(name, None, title=f"under the policy {name}", policy=dtype, precisions=())
    return replace(mode, values=partial(_narrow_values, dtype), gradient=partial(_mixed, dtype))


def _narrow_values(dtype: str, fed: Feed, outputs: Sequence[int]) -> list[Array]:
    """What each op returns in 16 bits; a number that is only read is rounded by the op that takes it."""
    narrow = feed(in_precision(fed.program, dtype), outputs)
    with _running(narrow, None) as (given, _):
        values = {id: _array(value) for id, value in _computed(narrow, given).items() if id in outputs}
    for node in fed.computed:
        if node.op == "identity" and node.inputs[0] in fed.given:
            values[node.id] = fed.given[node.inputs[0]]
    return [values[id] for id in outputs]


def _mixed(dtype: str, fed: Feed, target: int, wrt: Sequence[int]) -> tuple[Array, list[Array | None]]:
    import tensorflow as tf

    narrow = feed(in_precision(fed.program, dtype), [target])
    scale = LOSS_SCALE if dtype == "float16" else 1.0
    with _running(fed, None) as (given, _):
        wide = dict(zip(fed.given, given))
        with tf.GradientTape(persistent=True) as tape:
            for id in wrt:
                tape.watch(wide[id])
            # What does not depend on the sources is computed anew in 16 bits, from numbers that were not needed before.
            read = {**{id: tf.constant(one) for id, one in narrow.given.items()}, **wide}
            cast = [
                tf.cast(read[id], dtype) if read[id].dtype.is_floating else read[id] for id in narrow.given
            ]
            value = tf.cast(_computed(narrow, cast)[target], tf.float32)
        while True:
            found = tape.gradient(value, [wide[id] for id in wrt], output_gradients=tf.constant(scale))
            arrays = [None if one is None else _array(tf.convert_to_tensor(one)) / scale for one in found]
            if scale == 1.0 or all(one is None or np.isfinite(one).all() for one in arrays):
                return _array(value), arrays
            scale /= 2.0


def prepare(word: str) -> None:
    """What a process of its own does before it runs anything."""
    import tensorflow as tf

    if word == "deterministic":
        tf.keras.utils.set_random_seed(0)  # without a seed TensorFlow refuses
        tf.config.experimental.enable_op_determinism()


def _has_onednn() -> bool:
    from tensorflow.python.util import _pywrap_util_port

    return bool(_pywrap_util_port.IsMklEnabled())


def _settled() -> list[Mode]:
    """What a process settles once: these run in processes of their own."""
    eager = replace(MODES[0], is_single=False)
    other = "off" if _has_onednn() else "on"
    variable = ("TF_ENABLE_ONEDNN_OPTS", "0" if other == "off" else "1")
    found = [
        apart(eager, Setting((variable,)), name=f"oneDNN {other}", title=f"with oneDNN {other}"),
        apart(
            eager, Setting(prepare="deterministic"), name="deterministic ops", title="with deterministic ops"
        ),
        apart(eager, Setting(has_one_thread=True), name="one thread", title="with one thread"),
    ]
    return [replace(one, runs_as="") for one in found]


def offered(is_here: bool = False) -> tuple[list[Mode], list[LackingMode]]:
    """The modes that TensorFlow has on this machine; imports it. With `is_here` only those of this process."""
    import tensorflow as tf

    devices = tf.config.list_logical_devices()
    # With one device all modes are on it; with several each has a mode, the one that TensorFlow chooses by itself too.
    there = [_mode(f"eager on {one.name}", {"device": one.name}, title=f"on {one.name}") for one in devices]
    there = there if len(devices) > 1 else []
    is_plain = all(one.device_type == "CPU" for one in devices)
    lacking = [LackingMode(FRAMEWORK, "an accelerator", "there is none on this machine")] * is_plain
    policies = [_policy("bfloat16"), _policy("float16")]
    if is_here:
        lacking += [LackingMode(FRAMEWORK, mode.name, ONLY_HERE) for mode in _settled()]
        return [*MODES, *policies, *there], lacking
    return [*map(with_one_thread, MODES), *_settled(), *policies, *there], lacking
