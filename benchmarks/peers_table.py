"""Gradproof beside the checks that people know, each with its default settings: writes docs/peers.md.

python benchmarks/peers_table.py
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import jax
import jax.numpy as jnp
import numdifftools
import numpy as np
import tensorflow as tf
import torch
from jax.test_util import check_grads

import gradproof

jax.config.update("jax_enable_x64", True)
TOLERANCE = (
    1e-3  # the checks that return numbers leave it to the user; this is what their own documentation uses
)

POINT = np.array([0.3, 1.1, 2.5])
CASES: dict[str, tuple[str, str, np.ndarray[Any, Any]]] = {
    "right, float64": ("right", "float64", POINT),
    "right, float32": ("right", "float32", POINT),
    "right, float32, numbers near 100": ("right", "float32", POINT + 100.0),
    "off by 0.1 %: a custom rule, float64": ("off", "float64", POINT),
    "off by 5 %: a custom rule, float32": ("far off", "float32", POINT),
    "NaN behind `where`": ("masked", "float64", np.array([-1.0, 1.0, 2.0])),
    "kink of `abs` at 0": ("kink", "float64", np.array([0.0, 1.0, 2.0])),
    "right, float32, its function loses digits": ("cancels", "float32", np.array([1e-4, 2e-4, 3e-4])),
    "digits lost, float32": ("lost", "float32", np.ones(3)),
}
RIGHT = ("right", "cancels")

HEAD = """# Gradproof beside other checks

Made by `python benchmarks/peers_table.py`, with {versions}. Every check has its default
settings and the same small functions of three numbers. *passes* and *fails* are what it says; a check that returns
numbers only is asked for a relative difference of {tolerance:g}, which is also what `gradcheck` allows: an error of
0.1 % is just what such a tolerance lets through. In **bold** what is not so: a right gradient that fails, or one at
fault that passes. A kink counts as a fault: there is no derivative that could be right.

| the gradient is | {names} |
|---|{dashes}
"""
TAIL = """
What the others are for, and what they do not say:

| check | what it does | what it needs | line | cause | fix |
|---|---|---|---|---|---|
| `gradproof run script.py` | compares every gradient that a script computes with an enclosure of the true one | nothing: the script as it is | yes | yes | yes, run |
| `torch.autograd.gradcheck` | finite differences of one function | float64, a tolerance | no | no | no |
| `jax.test_util.check_grads` | finite differences along random directions | a tolerance | no | no | no |
| `tf.test.compute_gradient` | finite differences, returned as numbers | a step, a comparison | no | no | no |
| `numdifftools.Gradient` | extrapolated differences with an estimate of their error | the function as NumPy | no | no | no |
| `torch.autograd.detect_anomaly` | stops where a backward op returns NaN | a NaN | of the forward op | no | no |
| `jax_debug_nans` | stops where an op returns NaN | a NaN | of the op | no | no |

A finite difference is a good second opinion, and `gradproof.derivative` has one that says how far it can be trusted
([finite differences done right](guides/finite-differences.md)). `detect_anomaly` and `jax_debug_nans` cost little and
find where a NaN appears first; which of the numbers there was to blame, and what to write instead, is what
[NaN hunting](guides/nan-hunting.md) is about.
"""  # noqa: E501


def _torch(kind: str) -> Callable[[Any], Any]:
    class Off(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return torch.sin(x)

        @staticmethod
        def backward(ctx: Any, upstream: Any) -> Any:
            (x,) = ctx.saved_tensors
            return upstream * torch.cos(x) * (1.001 if kind == "off" else 1.05)

    return {
        "right": lambda x: (torch.sin(x) * torch.exp(x / 10)).sum(),
        "off": lambda x: Off.apply(x).sum(),
        "far off": lambda x: Off.apply(x).sum(),
        "masked": lambda x: torch.where(x > 0, torch.sqrt(x), 0.0).sum(),
        "kink": lambda x: torch.abs(x).sum(),
        "cancels": lambda x: ((1 + x * x) - 1).sum() * 1e4,
        "lost": lambda x: (((1e9 * x + 1) - 1e9) ** 2).sum(),
    }[kind]


def _jax(kind: str) -> Callable[[Any], Any]:
    @jax.custom_vjp
    def off(x: Any) -> Any:
        return jnp.sin(x)

    scale = 1.001 if kind == "off" else 1.05
    off.defvjp(lambda x: (jnp.sin(x), x), lambda x, upstream: (upstream * jnp.cos(x) * scale,))
    return {
        "right": lambda x: (jnp.sin(x) * jnp.exp(x / 10)).sum(),
        "off": lambda x: off(x).sum(),
        "far off": lambda x: off(x).sum(),
        "masked": lambda x: jnp.where(x > 0, jnp.sqrt(x), 0.0).sum(),
        "kink": lambda x: jnp.abs(x).sum(),
        "cancels": lambda x: ((1 + x * x) - 1).sum() * 1e4,
        "lost": lambda x: (((1e9 * x + 1) - 1e9) ** 2).sum(),
    }[kind]


def _tensorflow(kind: str) -> Callable[[Any], Any]:
    @tf.custom_gradient
    def off(x: Any) -> Any:
        return tf.sin(x), lambda upstream: upstream * tf.cos(x) * (1.001 if kind == "off" else 1.05)

    return {
        "right": lambda x: tf.reduce_sum(tf.sin(x) * tf.exp(x / 10)),
        "off": lambda x: tf.reduce_sum(off(x)),
        "far off": lambda x: tf.reduce_sum(off(x)),
        "masked": lambda x: tf.reduce_sum(tf.where(x > 0, tf.math.log(x) * x, 0.0)),
        "kink": lambda x: tf.reduce_sum(tf.abs(x)),
        "cancels": lambda x: tf.reduce_sum((1 + x * x) - 1) * 1e4,
        "lost": lambda x: tf.reduce_sum(((1e9 * x + 1) - 1e9) ** 2),
    }[kind]


def _passes(found: Any, other: Any) -> bool:
    found, other = np.asarray(found, np.float64), np.asarray(other, np.float64)
    return bool(np.all(np.abs(found - other) <= TOLERANCE * np.maximum(np.abs(other), 1e-3)))


def by_gradcheck(kind: str, dtype: str, at: Any) -> bool:
    x = torch.tensor(at, dtype=getattr(torch, dtype), requires_grad=True)
    return bool(torch.autograd.gradcheck(_torch(kind), (x,), raise_exception=False))


def by_check_grads(kind: str, dtype: str, at: Any) -> bool:
    try:
        check_grads(_jax(kind), (jnp.asarray(at, dtype),), order=1, modes=["rev"])
    except AssertionError:
        return False
    return True


def by_compute_gradient(kind: str, dtype: str, at: Any) -> bool:
    theory, measured = tf.test.compute_gradient(_tensorflow(kind), [tf.constant(at, dtype)])
    return _passes(theory[0], measured[0])


def by_numdifftools(kind: str, dtype: str, at: Any) -> bool:
    function = _torch(kind)
    x = torch.tensor(at, dtype=getattr(torch, dtype), requires_grad=True)
    (found,) = torch.autograd.grad(function(x), x)

    def called(values: Any) -> float:
        return float(function(torch.tensor(values, dtype=getattr(torch, dtype))).detach())

    return _passes(found, numdifftools.Gradient(called)(np.asarray(at)))


def by_gradproof(kind: str, dtype: str, at: Any) -> str:
    report = gradproof.check(_torch(kind), torch.tensor(at, dtype=getattr(torch, dtype), requires_grad=True))
    causes = [one.kind for one in report.diagnostics if one.rank > 0]
    return f"{report.gradients[0].verdict}" + (f": `{causes[0]}`" if causes else "")


PEERS = {
    "torch `gradcheck`": by_gradcheck,
    "JAX `check_grads`": by_check_grads,
    "TensorFlow `compute_gradient`": by_compute_gradient,
    "numdifftools": by_numdifftools,
}


def _cell(kind: str, passes: bool) -> str:
    said = "passes" if passes else "fails"
    return f"**{said}**" if passes != (kind in RIGHT) else said


def main() -> None:
    warnings.simplefilter("ignore")
    rows = []
    for name, (kind, dtype, at) in CASES.items():
        cells = [_cell(kind, peer(kind, dtype, at)) for peer in PEERS.values()]
        rows.append(f"| {name} | {' | '.join([*cells, by_gradproof(kind, dtype, at)])} |")
        print(rows[-1])
    tools = {"PyTorch": torch, "JAX": jax, "TensorFlow": tf, "numdifftools": numdifftools}
    versions = ", ".join(f"{name} {tool.__version__.split('+')[0]}" for name, tool in tools.items())
    names = [*PEERS, "gradproof"]
    head = HEAD.format(
        versions=versions, tolerance=TOLERANCE, names=" | ".join(names), dashes="---|" * len(names)
    )
    page = Path(__file__).parent.parent / "docs" / "peers.md"
    page.write_text(head + "\n".join(rows) + "\n" + TAIL, encoding="utf-8")


if __name__ == "__main__":
    main()
