"""Gradients that two devices compute together, judged in a process that has two; prints what was found as JSON.

XLA_FLAGS=--xla_force_host_platform_device_count=2 python two_devices.py
"""

from __future__ import annotations

import json
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P
from jax_runs import judged

W = jnp.linspace(-1.0, 1.0, 12).reshape(3, 4)
X = jnp.linspace(0.0, 2.0, 24).reshape(6, 4)
A = jnp.arange(8.0).reshape(4, 2) / 8
WHOLE, CUT = P(), P("i")
SWAP = [(0, 1), (1, 0)]


def loss(w, x):
    return jnp.mean(jnp.tanh(x @ w.T) ** 2)


def mean_loss(w, x):
    return lax.pmean(loss(w, x), "i")


@jax.custom_vjp
def negated(x):
    return jnp.sin(x)


negated.defvjp(lambda x: (jnp.sin(x), x), lambda x, g: (-g * jnp.cos(x),))


def mapped(f, in_specs=(WHOLE, CUT), out_specs=WHOLE, **options):
    mesh = Mesh(np.array(jax.devices()), ("i",))
    return jax.shard_map(f, mesh=mesh, in_specs=in_specs, out_specs=out_specs, **options)


def around(f):
    """The gradient of what devices compute of their parts of `A`."""
    return jax.jit(jax.grad(lambda a: jnp.sum(jnp.sin(mapped(f, CUT, CUT)(a)))))(A)


def turned(x):
    return lax.scan(lambda c, _: (jnp.tanh(lax.ppermute(c, "i", SWAP) + x), None), x, None, length=3)[0]


def inside(w, x):
    return lax.pmean(jax.grad(loss)(w, x), "i")


def own(w, x):
    return lax.pmean(jax.grad(loss)(lax.pcast(w, "i", to="varying"), x), "i")


def trained(w, x):
    return lax.fori_loop(0, 3, lambda k, w: w - 0.1 * inside(w, x), w)


def closed_over(is_typed):
    return jax.jit(
        lambda w, x: mapped(partial(inside, w), (CUT,), check_vma=is_typed)(x),
    )(W, X)


HALVES = X.reshape(2, 3, 4)
USES = {
    "correct": {
        "around": lambda: jax.jit(jax.grad(mapped(mean_loss)))(W, X),
        "around, what is cut up": lambda: jax.jit(jax.grad(mapped(mean_loss), 1))(W, X),
        "around, untyped": lambda: jax.jit(jax.grad(mapped(mean_loss, check_vma=False)))(W, X),
        "inside": lambda: jax.jit(mapped(inside))(W, X),
        "inside, with its sum": lambda: jax.jit(mapped(jax.grad(mean_loss)))(W, X),
        "inside, of each device": lambda: jax.jit(mapped(own))(W, X),
        "inside, from outside": lambda: closed_over(True),
        "inside a loop": lambda: jax.jit(mapped(trained))(W, X),
        "pmap": lambda: jax.pmap(jax.grad(loss), in_axes=(None, 0))(W, HALVES),
        "pmap, with its sum": lambda: jax.pmap(jax.grad(mean_loss), "i", in_axes=(None, 0))(W, HALVES),
        "ppermute": lambda: around(lambda x: lax.ppermute(x, "i", SWAP) * x),
        "all_gather": lambda: around(lambda x: jnp.tanh(lax.all_gather(x, "i", tiled=True)[:2]) * x),
        "all_to_all": lambda: around(lambda x: lax.all_to_all(x, "i", 1, 0, tiled=True) ** 2),
        "psum_scatter": lambda: around(lambda x: lax.psum_scatter(x**2, "i", tiled=True)),
        "axis_index": lambda: around(lambda x: x * (1.0 + lax.axis_index("i"))),
        "communication in a loop": lambda: around(turned),
    },
    "wrong": {"a rule that is wrong": lambda: around(negated)},
    "unverified": {
        "without jit": lambda: jax.grad(mapped(mean_loss))(W, X),
        "inside, untyped, from outside": lambda: closed_over(False),
    },
}


def main() -> None:
    found = {}
    for verdict, uses in USES.items():
        for name, use in uses.items():
            seen: list[jax.Array] = []
            reports = judged(lambda use=use, seen=seen: seen.append(use()))
            found[name] = {
                "expected": verdict,
                "verdicts": [one.verdict.value for one in reports],
                "reasons": [one.reason for one in reports],
                "is_untouched": np.asarray(seen[0]).tobytes() == np.asarray(use()).tobytes(),
            }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
