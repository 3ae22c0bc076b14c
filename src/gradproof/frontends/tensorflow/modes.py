"""Runs a program in each of TensorFlow's execution modes: eager, as a graph, compiled by XLA."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from gradproof.frontends.tensorflow.emit import value_in
from gradproof.frontends.tensorflow.unlogged import unlogged
from gradproof.ir.program import Program, descendants
from gradproof.ir.types import Array

MOST_NODES = 200  # compiling a graph takes about a millisecond for every op

_OPTIONS: Mapping[str, dict[str, Any] | None] = {
    "the forward ops, by TensorFlow, eager": None,
    "the forward ops, by TensorFlow, as a graph": {"autograph": False},
    "the forward ops, by TensorFlow, under XLA": {"autograph": False, "jit_compile": True},
}


def gradient_in(options: dict[str, Any] | None, program: Program, wrt: int) -> Array | None:
    """The gradient TensorFlow computes for a node in one mode; None where it cannot run the program."""
    tf = sys.modules.get("tensorflow")
    if tf is None or not tf.executing_eagerly() or len(program.nodes) > MOST_NODES:
        return None

    def gradient(x: Any) -> Any:
        values: dict[int, Any] = {wrt: x}
        moving = descendants(program, [wrt])
        with tf.GradientTape() as tape:
            tape.watch(x)
            for node in program.nodes:
                if node.id != wrt:
                    values[node.id] = value_in(tf, node, values, node.id in moving)
        return tape.gradient(values[program.outputs[0]], x)

    try:
        run = gradient if options is None else tf.function(gradient, **options)
        with unlogged():
            found = run(tf.constant(program[wrt].value))
        return None if found is None else np.asarray(tf.convert_to_tensor(found))
    except Exception:  # what TensorFlow refuses was not run, and has no row
        return None


MODES = {mode: partial(gradient_in, options) for mode, options in _OPTIONS.items()}
