"""What may run a second time: only what can be shown to have no effects."""

from __future__ import annotations

import ast
import linecache
import textwrap
from pathlib import Path
from typing import Any

import pytest

tf = pytest.importorskip("tensorflow")

from gradproof.frontends.after.effects import effect_of, effect_of_block
from gradproof.frontends.after.rerun import may_run, withheld
from gradproof.ir import syntax

pytestmark = pytest.mark.tensorflow

HEAD = """
import io, math, os, random, threading, functools, types, scipy.linalg, scipy.ndimage
import numpy as np
import tensorflow as tf
v = tf.Variable(1.0); c = tf.constant([1.0, 2.0]); history = []; table = {}; handle = io.StringIO()
array = np.ones(3); names = [print, handle.write]; calls = {"f": handle.write}
class Thing:
    def __add__(self, other): handle.write("x"); return other
thing = Thing()
ops = types.SimpleNamespace(sin=tf.sin, write=handle.write, scale=2.0)
class Watching:
    sin = tf.sin
    def __getattribute__(self, name): handle.write(name); return tf.sin
watching = Watching()
def write(x): handle.write("x"); return x
def pure(x): return tf.sin(x) * c
def recursive(x, n=3): return x if n == 0 else recursive(tf.sin(x), n - 1)
@tf.function
def traced(x): return tf.exp(x)
@tf.function
def assigning(x): v.assign(x); return x
@tf.custom_gradient
def by_hand(x):
    def grad(up): return up * 2.0 * x
    return x * x, grad
"""

HARMLESS = [
    "def f(x): return tf.reduce_sum(x * v) + math.sin(2.0) + np.sum(array)",
    "def f(x): return pure(x) + traced(x) + by_hand(x)",
    "def f(x): return recursive(x)",
    "def f(x):\n    parts = []\n    for k in range(3):\n        parts.append(x * k)\n    return tf.add_n(parts)",
    "def f(x):\n    total = 0.0\n    for k in range(3):\n        total += x * k\n    return total",
    "def f(x):\n    def g(y): return y * c\n    return tf.map_fn(g, x) + tf.map_fn(lambda z: z * 2.0, x)",
    "def f(x):\n    with tf.GradientTape() as t:\n        t.watch(x)\n        y = x * x\n    return t.gradient(y, x)",
    "f = lambda x: tf.nn.relu(x) if x.shape.rank else x.numpy().sum()",
    "f = functools.partial(pure)",
    "def f(x): return ops.sin(x) * ops.scale",
    "f = traced",
    "f = by_hand",
]

EFFECTS = [
    ("def f(x): handle.write('a'); return x", "`handle` is of class StringIO"),
    ("def f(x): return write(x)", "`handle` is of class StringIO"),
    ("def f(x): return scipy.ndimage.sobel(array, output=array)", "writes into an argument"),
    ("def f(x): return scipy.linalg.inv(np.eye(2), overwrite_a=True)", "writes into an argument"),
    ("def f(x): return ops.write(x)", "`ops.write` is not known"),
    ("def f(x): return watching.sin(x)", "`watching` is of class Watching"),
    ("def f(x): history.append(1); return x", "`history.append`"),
    ("def f(x): table['a'] = 1; return x", "`table['a']` is written"),
    ("def f(x): global g; g = x; return x", "`global` is not followed"),
    ("def f(x): v.assign(x); return x", "`v.assign`"),
    ("def f(x): return assigning(x)", "`v.assign`"),
    ("def f(x): c.attribute = 1; return x", "`c.attribute` is written"),
    ("def f(x):\n    a = array\n    a += 1.0\n    return x * a", "`a` is changed in place"),
    ("def f(x):\n    a = []\n    for a in [history]:\n        a.append(1)\n    return x", "`a.append`"),
    ("def f(x): np.copyto(array, 1.0); return x", "`np.copyto`"),
    ("def f(x): np.add(array, 1.0, out=array); return x", "writes into an argument"),
    ("def f(x): tf.print(x); return x", "`tf.print`"),
    ("def f(x): tf.io.write_file('a', 'b'); return x", "`tf.io.write_file`"),
    ("def f(x): return x + tf.random.normal([2])", "`tf.random.normal`"),
    ("def f(x): return tf.nn.dropout(x, 0.5)", "`tf.nn.dropout`"),
    ("def f(x): return x * random.random()", "`random.random`"),
    ("def f(x): os.remove('a'); return x", "`os.remove`"),
    ("def f(x): import os as o; o.replace('a', 'b'); return x", "`import` is not followed"),
    ("def f(x): return getattr(tf, 'print')(x)", "is not known to have no effects"),
    ("def f(x): return tf.map_fn(write, x)", "`handle` is of class StringIO"),
    ("def f(x):\n    h = write\n    return tf.map_fn(h, x)", "`handle` is of class StringIO"),
    ("def f(x): return list(map(calls['f'], ['a']))", "`calls` is of class dict"),
    ("def f(x): return thing + x", "`thing` is of class Thing"),
    ("def f(x): return list(map(Thing, [1]))", "`Thing` is of class Thing"),
    ("def f(x):\n    threading.Thread(target=write).start()\n    return x", "`threading.Thread`"),
    ("def f(x):\n    with open('a', 'w') as file:\n        return x", "`with open('a', 'w')`"),
    ("f = handle.write", "is not known to have no effects"),
]


def made(source: str, folder: Path) -> Any:
    file = folder / "users.py"
    file.write_text(HEAD + source + "\n", encoding="utf-8")
    linecache.checkcache(str(file))
    names: dict[str, Any] = {"__name__": "users"}
    exec(compile(file.read_text(encoding="utf-8"), str(file), "exec", dont_inherit=True), names)
    return names


@pytest.mark.parametrize("source", HARMLESS)
def test_what_only_computes_may_run_again(source: str, tmp_path: Path) -> None:
    assert effect_of(made(source, tmp_path)["f"]) is None


@pytest.mark.parametrize(("source", "reason"), EFFECTS)
def test_what_may_have_effects_does_not_run_again(source: str, reason: str, tmp_path: Path) -> None:
    assert reason in str(effect_of(made(source, tmp_path)["f"]))


@pytest.mark.parametrize(
    ("block", "is_shown"),
    [
        (
            "with tf.GradientTape() as tape:\n    loss = tf.reduce_sum(pure(v) ** 2)\ntape.gradient(loss, v)",
            True,
        ),
        ("y = c * 2.0\nprint(y)", True),
        ("with tf.GradientTape() as tape:\n    history.append(1)\n    loss = v * v", False),
        ("handle = handle.write('a')", False),
        ("v.assign_add(1.0)", False),
    ],
)
def test_a_block_is_looked_at_with_what_its_names_mean(block: str, is_shown: bool, tmp_path: Path) -> None:
    names = made("", tmp_path)
    assert (effect_of_block(ast.parse(textwrap.dedent(block)).body, names) is None) is is_shown


def test_a_file_that_is_not_what_ran_shows_nothing(tmp_path: Path) -> None:
    names = made("def f(x): history.append(1); return x", tmp_path)
    (tmp_path / "users.py").write_text(HEAD + "def f(x): return x\n", encoding="utf-8")

    syntax.tree_of.cache_clear()
    linecache.checkcache()
    assert "is not at hand" in str(effect_of(names["f"]))


def test_what_was_left_out_is_said_once() -> None:
    with withheld() as found:
        assert may_run("this", None)
        assert not may_run("that", "line 1: it writes")
        assert not may_run("that", "line 1: it writes")
    assert found == ["that, since it may have effects (line 1: it writes)"]
