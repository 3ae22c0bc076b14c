"""A program runs as it would without us: raw bits of its results, eager and compiled, and how often it compiles."""

from __future__ import annotations

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import jax
import jax.experimental
import jax.numpy as jnp
import jax.scipy.optimize
import numpy as np
import pytest
from jax_runs import captured, judged

import gradproof
from gradproof.frontends.jax.observe.hooks import unobserved

W = jnp.asarray(np.random.default_rng(3).normal(size=(3, 4)), jnp.float32)
X = jnp.asarray(np.random.default_rng(4).normal(size=(5, 4)), jnp.float32)


def loss(w, x):
    return jnp.mean(jnp.tanh(x @ w.T) ** 2)


@jax.custom_vjp
def cube(x):
    return x**3


cube.defvjp(lambda x: (cube(x), x), lambda x, g: (3 * x**2 * g,))


@jax.custom_jvp
def wave(x):
    return jnp.sin(x)


wave.defjvps(lambda t, y, x: t * jnp.cos(x))


def scanned(w):
    return jax.lax.scan(lambda h, x: (jnp.tanh(w @ x + h), h), jnp.zeros(3), X)


def looped(w):
    return jax.lax.fori_loop(0, 4, lambda k, y: jnp.sin(y) + k * jnp.sum(w), 0.5)


def doubled(x):
    return jax.lax.while_loop(lambda y: y < 9.0, lambda y: y * 2, x)


USES = {
    "grad": lambda: jax.grad(loss)(W, X),
    "value_and_grad": lambda: jax.value_and_grad(loss, argnums=(0, 1))(W, X),
    "aux": lambda: jax.value_and_grad(lambda w: (loss(w, X), {"w": w}), has_aux=True)(W),
    "vjp": lambda: jax.vjp(lambda w: jnp.tanh(X @ w.T), W)[1](jnp.ones((5, 3))),
    "vjp twice": lambda: [pull(jnp.float32(k)) for pull in [jax.vjp(loss, W, X)[1]] for k in (1, 2)],
    "jvp": lambda: jax.jvp(lambda w: loss(w, X), (W,), (W,)),
    "jacrev": lambda: jax.jacrev(lambda w: w @ X[0])(W),
    "jacfwd": lambda: jax.jacfwd(lambda w: w @ X[0])(W),
    "hessian": lambda: jax.hessian(lambda v: jnp.sum(jnp.sin(v) ** 2))(W[0]),
    "linearize": lambda: jax.linearize(lambda w: loss(w, X), W)[1](W),
    "checkpoint": lambda: jax.grad(jax.checkpoint(loss))(W, X),
    "jit grad": lambda: jax.jit(jax.grad(loss))(W, X),
    "grad jit": lambda: jax.grad(jax.jit(loss))(W, X),
    "step": lambda: jax.jit(lambda w: w - 0.1 * jax.grad(loss)(w, X))(W),
    "vmap grad": lambda: jax.vmap(jax.grad(loss), (None, 0))(W, X[:, None]),
    "grad vmap": lambda: jax.grad(lambda w: jnp.sum(jax.vmap(lambda x: loss(w, x[None]))(X)))(W),
    "jit vmap grad": lambda: jax.jit(jax.vmap(jax.grad(loss), (None, 0)))(W, X[:, None]),
    "scan": lambda: jax.grad(lambda w: jnp.sum(scanned(w)[0]))(W),
    "jit scan": lambda: jax.jit(jax.grad(lambda w: jnp.sum(scanned(w)[1])))(W),
    "fori": lambda: jax.grad(looped)(W),
    "while forward": lambda: jax.jvp(
        lambda x: jax.lax.while_loop(lambda y: y < 9.0, lambda y: y * 2, x), (1.0,), (1.0,)
    ),
    "cond": lambda: jax.grad(lambda x: jax.lax.cond(x > 0, jnp.sin, jnp.cos, x))(0.3),
    "switch": lambda: jax.grad(lambda x: jax.lax.switch(1, [jnp.sin, jnp.cos], x))(0.3),
    "custom_vjp": lambda: jax.grad(lambda x: jnp.sum(cube(x)))(W),
    "jit custom_vjp": lambda: jax.jit(jax.grad(lambda x: jnp.sum(cube(x))))(W),
    "custom_jvp": lambda: jax.grad(lambda x: jnp.sum(wave(x)))(W),
    "stop_gradient": lambda: jax.grad(lambda w: jnp.sum(w * jax.lax.stop_gradient(w)))(W),
    "second": lambda: jax.grad(lambda x: jax.grad(lambda y: jnp.sin(x * y) * y)(x))(0.4),
    "root": lambda: jax.grad(lambda a: jnp.linalg.solve(a @ a.T + jnp.eye(3), X[0, :3])[0])(W),
    "callback": lambda: jax.grad(
        lambda x: x * jax.pure_callback(lambda v: np.float32(2), jax.ShapeDtypeStruct((), jnp.float32), 1.0)
    )(0.5),
    "random": lambda: jax.grad(lambda w: jnp.sum(w * jax.random.normal(jax.random.key(1), w.shape)))(W),
    "donated": lambda: jax.jit(lambda w: w - jax.grad(loss)(w, X), donate_argnums=0)(W + 1),
    "disable_jit": lambda: _without_jit(),
    "float16": lambda: jax.grad(lambda w: jnp.sum(w.astype(jnp.bfloat16) ** 2).astype(jnp.float32))(W),
    "complex": lambda: jax.grad(lambda z: jnp.sum(jnp.abs(z) ** 2))(W + 1j * W),
    "integers": lambda: jax.grad(lambda n: jnp.sum(n * 1.0), allow_int=True)(jnp.arange(3)),
    "optimiser": lambda: jax.scipy.optimize.minimize(lambda v: jnp.sum((v - 1) ** 2), W[0], method="BFGS").x,
}


def _without_jit():
    with jax.disable_jit():
        return jax.grad(loss)(W, X)


def _bits(tree):
    leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(tree)]
    return [(str(leaf.dtype), leaf.shape, leaf.tobytes()) for leaf in leaves]


@pytest.mark.parametrize("name", USES)
def test_raw_bits_are_the_same(name):
    plain = _bits(USES[name]())
    seen = []
    captured(lambda: seen.extend([USES[name](), USES[name]()]))
    assert _bits(seen[0]) == plain
    assert _bits(seen[1]) == plain


def test_the_hooks_are_gone_afterwards():
    from jax._src import api, core, pjit
    from jax._src.interpreters import ad

    watched = [(ad, "linearize"), (ad.LinearizeTrace, "process_primitive"), (api.VJP, "__call__")]
    watched += [(pjit, "_run_python_pjit"), (pjit, "_get_fastpath_data"), (api, "_check_scalar")]
    before = [getattr(owner, name) for owner, name in watched]
    captured(lambda: jax.jit(jax.grad(loss))(W, X))
    assert [getattr(owner, name) for owner, name in watched] == before
    assert core.trace_state_clean()


def test_a_function_is_traced_as_often_as_without_us():
    def count():
        traced = []

        def step(w):
            traced.append(1)
            return w - 0.1 * jax.grad(loss)(w, X)

        run = jax.jit(step)
        w = W
        for _ in range(4):
            w = run(w)
        return len(traced)

    found = []
    captured(lambda: found.append(count()))
    assert found == [count()] == [1]


def _said():
    """What a program says and does while it runs, by every kind of callback."""
    done: list[object] = []

    def host(v):
        done.append(("host", float(v)))
        return np.float32(2 * v)

    def loss(w):
        jax.debug.callback(lambda v: done.append(("debug", float(v))), w)
        number = jax.ShapeDtypeStruct((), jnp.float32)
        there = jax.experimental.io_callback(host, number, jax.lax.stop_gradient(w))
        pure = jax.pure_callback(host, number, jax.lax.stop_gradient(w))
        return w**2 * there + pure * w

    def step(w):
        return w - 0.1 * jax.grad(loss)(w)

    jax.jit(step)(1.0)
    jax.grad(jax.jit(loss))(1.5)
    jax.lax.fori_loop(0, 2, lambda k, w: step(w), 1.0)
    jax.vmap(jax.jit(jax.grad(lambda w: jnp.sin(w) + 0 * said(w, done))))(jnp.arange(2.0))
    jax.effects_barrier()
    return done


def said(w, done):
    jax.debug.callback(lambda v: done.append(("batched", float(v))), w)
    return w


def test_callbacks_run_as_often_as_without_us():
    found = []
    captured(lambda: found.append(_said()))
    assert found == [_said()]


def test_arrays_are_changed_once():
    def run():
        total = jax.new_ref(jnp.zeros(()))

        @jax.jit
        def step(total, w):
            total[...] += w
            return jax.grad(lambda w: w**2)(w)

        step(total, 1.0)
        return float(total[...])

    found = []
    captured(lambda: found.append(run()))
    assert found == [run()] == [1.0]


def test_arrays_are_let_go():
    kept = []

    def run():
        w = W + 1.0
        kept.append(weakref.ref(w))
        jax.grad(loss)(w, X)
        jax.jit(jax.grad(loss))(w, X)

    captured(run).clear()
    gc.collect()
    assert kept[0]() is None


@pytest.mark.parametrize("is_kept", [False, True])
def test_what_a_checked_step_was_given_and_has_returned_can_be_given_away(is_kept, tmp_path):
    """A compiled function takes the memory of an argument for its result only if nobody else looks into it."""
    step = jax.jit(lambda w, g: w - 0.1 * g, donate_argnums=0)
    with gradproof.watch(checks="all", defer=tmp_path / "kept" if is_kept else None):
        w, given_away = W + 1.0, []
        for _ in range(3):
            old, (value, g) = w, jax.value_and_grad(loss)(w, X)
            w = step(old, g)
            given_away.append(old.is_deleted())
        freed = [weakref.ref(one) for one in (value, g)]
        del value, g
        gc.collect()
        assert [one() for one in freed] == [None, None]
    assert given_away == [True] * 3


def test_the_lines_that_jax_names_are_the_users(capsys):
    from jax.ad_checkpoint import print_saved_residuals

    def run():
        print_saved_residuals(lambda x: jnp.sum(jnp.sin(jnp.cos(x) * x)), jnp.ones(3))
        return capsys.readouterr().out

    found = []
    captured(lambda: found.append(run()))
    assert found == [run()]
    assert "gradproof" not in found[0].replace(__file__, "")


def test_on_one_device_compiled_maps_over_devices_are_judged_and_eager_ones_disturb_nothing():
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:1]), ("i",))
    one, split = jax.sharding.PartitionSpec(), jax.sharding.PartitionSpec("i")

    def mapped(f):
        return jax.shard_map(
            lambda w, x: jax.lax.pmean(f(w, x), "i"), mesh=mesh, in_specs=(one, split), out_specs=one
        )

    uses = {
        "around": (lambda: jax.jit(jax.grad(mapped(loss)))(W, X), "correct"),
        "inside": (lambda: jax.jit(mapped(jax.grad(loss)))(W, X), "correct"),
        "pmap": (lambda: jax.pmap(jax.grad(loss), in_axes=(None, 0))(W, X[None]), "correct"),
        "named": (
            lambda: jax.pmap(lambda x: jax.lax.psum(jax.grad(loss)(W, x), "i"), "i")(X[None]),
            "correct",
        ),
        "eager": (lambda: jax.grad(mapped(loss))(W, X), "unverified"),
    }
    for name, (use, verdict) in uses.items():
        seen = []
        reports = judged(lambda use=use, seen=seen: seen.append(use()))
        assert [one.verdict.value for one in reports] == [verdict], name
        assert _bits(seen[0]) == _bits(use()), name


def test_debug_nans_of_the_whole_process_stops_what_it_stops_without_us():
    def stopped(x):
        try:
            jax.grad(lambda x: jnp.sqrt(x) * 0)(x)
        except FloatingPointError:
            return True
        return False

    found = []
    jax.config.update("jax_debug_nans", True)
    try:  # in a thread of its own: JAX switches it off for itself, and leaves a thread without the check
        run = partial(captured, lambda: found.extend(map(stopped, (0.0, 4.0, 0.0))))
        with ThreadPoolExecutor(1) as pool:
            pool.submit(run).result()
    finally:
        jax.config.update("jax_debug_nans", False)
    assert found == [True, False, True]


def test_what_is_ours_neither_stops_at_nan_nor_says_so(capsys):
    jax.config.update("jax_debug_nans", True)
    try:
        with unobserved():
            assert np.isnan(jax.jit(jnp.log)(-1.0))
    finally:
        jax.config.update("jax_debug_nans", False)
    assert capsys.readouterr().out == ""
