"""Runs a program in each of JAX's execution modes: op by op, compiled, compiled without single passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from gradproof.frontends.apart import with_one_thread
from gradproof.frontends.emitting import NoFunction
from gradproof.frontends.jax.emit import value_in
from gradproof.ir import types
from gradproof.ir.types import Array
from gradproof.modes.feed import Feed, feed, in_precision, is_all_real
from gradproof.modes.model import LackingMode, Mode, NotRun

FRAMEWORK = "jax"


def _mode(name: str, way: dict[str, Any] | None, **facts: Any) -> Mode:
    return Mode(FRAMEWORK, name, partial(_values, way), partial(_gradient, way), **facts)


def _values(way: dict[str, Any] | None, fed: Feed, outputs: Sequence[int]) -> list[Array]:
    def compute(*given: Any) -> list[Any]:
        values = _computed(fed, given)
        return [values[id] for id in outputs]

    with _running(fed) as given:
        run = fed.once((FRAMEWORK, str(way), tuple(outputs)), lambda: _as(way, compute))
        return [np.asarray(found) for found in run(*given)]


def _gradient(
    way: dict[str, Any] | None,
    fed: Feed,
    target: int,
    wrt: Sequence[int],
    inside: dict[str, Any] | None = None,
) -> tuple[Array, list[Array | None]]:
    import jax

    places = [list(fed.given).index(id) for id in wrt]

    def compute(*given: Any) -> Any:
        return _computed(fed, given)[target]

    with _running(fed) as given:
        run = fed.once(
            (FRAMEWORK, str(way), str(inside), target, tuple(wrt)),
            lambda: _as(way, jax.value_and_grad(_as(inside, compute), argnums=places)),
        )
        value, found = run(*given)
        # JAX's gradient for a complex number is the conjugate of the one that programs are written for.
        return np.asarray(value), [np.conj(np.asarray(one)) for one in found]


def _of_compiled(fed: Feed, target: int, wrt: Sequence[int]) -> tuple[Array, list[Array | None]]:
    """`grad` of a compiled function: JAX compiles what runs forward and what runs backward, each by itself."""
    return _gradient(None, fed, target, wrt, {})


def _in_halves(fed: Feed, outputs: Sequence[int]) -> list[Array]:
    forward = tuple(node for node in fed.computed if node.phase == "forward")
    backward = tuple(node for node in fed.computed if node.phase != "forward")
    read = {*outputs, *(id for node in backward for id in node.inputs)}
    kept = [node.id for node in forward if node.id in read]
    found = dict(zip(kept, _values({}, replace(fed, computed=forward), kept)))
    rest = [id for id in outputs if id not in found]
    later = replace(fed, given={**fed.given, **found}, computed=backward)
    found |= zip(rest, _values({}, later, rest) if rest else ())
    return [found[id] for id in outputs]


def _doubled(fed: Feed, target: int, wrt: Sequence[int]) -> tuple[Array, list[Array | None]]:
    return _gradient({}, _wide(fed, [target]), target, wrt)


def _doubled_values(fed: Feed, outputs: Sequence[int]) -> list[Array]:
    return _values({}, _wide(fed, outputs), outputs)


def _wide(fed: Feed, outputs: Sequence[int]) -> Feed:
    """As the program runs where JAX is started with 64 bits: what has no dtype of its own is float64 throughout."""
    if not is_all_real(fed.program):
        raise NotRun("complex numbers are not made wider")
    key = (FRAMEWORK, "x64", tuple(outputs))
    return fed.once(key, lambda: feed(in_precision(fed.program, "float64"), outputs))


def _as(way: dict[str, Any] | None, function: Callable[..., Any]) -> Callable[..., Any]:
    import jax

    if way is None:
        return function
    if "device" in way:
        return lambda *given: jax.jit(function)(*(jax.device_put(one, way["device"]) for one in given))
    compiled: Callable[..., Any] = jax.jit(function, **way)
    return compiled


def _computed(fed: Feed, given: Sequence[Any]) -> dict[int, Any]:
    import jax

    values: dict[int, Any] = dict(zip(fed.given, given))
    values |= fed.literals  # which stay numbers until they meet an array
    for node in fed.computed:
        values[node.id] = value_in(jax, node, values, True)
    return values


@contextmanager
def _running(fed: Feed) -> Iterator[list[Any]]:
    """The arguments as arrays of JAX's, with 64 bits switched on where the program has them."""
    import jax

    from gradproof.frontends.jax.observe.hooks import unobserved

    is_wide = any(types.precision_bits(dtype) > 24 for dtype in _dtypes(fed))
    try:
        with unobserved(), jax.enable_x64(is_wide or jax.config.jax_enable_x64):
            yield [jax.numpy.asarray(value) for value in fed.given.values()]
    except NoFunction as error:
        raise NotRun(f"JAX has no function for `{error}` here") from error
    except Exception as error:
        raise NotRun(
            f"JAX refuses the program: {str(error).splitlines()[0] if str(error) else error!r}"
        ) from error


def _dtypes(fed: Feed) -> Iterator[str]:
    values = [*fed.given.values(), *fed.literals.values()]
    dtypes = {types.dtype_name(value) for value in values} | {node.dtype for node in fed.computed}
    return (dtype for dtype in dtypes if types.is_real(dtype) or types.is_complex(dtype))


def _way(pass_name: str) -> dict[str, Any]:
    return {"compiler_options": {"xla_disable_hlo_passes": pass_name}}


MODES = (
    _mode("op by op", None, title="op by op", runs_as="eager", is_single=True),
    _mode("jit", {}, title="compiled", runs_as="xla"),
    Mode(
        FRAMEWORK,
        "grad of jit",
        _in_halves,
        _of_compiled,
        title="as grad of jit",
        runs_as="parts",
    ),
    # Passes of the compiler that are left out one at a time: what comes back then was their doing.
    _mode("jit without fusion", _way("fusion"), title="compiled without fusion"),
    _mode("jit without the simplifier", _way("algsimp"), title="compiled without the simplifier"),
    Mode(FRAMEWORK, "x64", _doubled_values, _doubled, policy="float64", precisions=(), title="with x64"),
)


def offered(is_here: bool = False) -> tuple[list[Mode], list[LackingMode]]:
    """The modes that JAX has on this machine; imports it. With `is_here` only those of this process."""
    import jax

    devices = list(dict.fromkeys([*jax.devices(), *jax.devices("cpu")]))
    # With one device all modes are on it; with several each has a mode, the one that JAX chooses by itself too.
    there = [_mode(f"jit on {one}", {"device": one}, title=f"on {one}") for one in devices]
    there = there if len(devices) > 1 else []
    is_plain = all(one.platform == "cpu" for one in devices)
    lacking = [LackingMode(FRAMEWORK, "an accelerator", "there is none on this machine")] * is_plain
    return [*(MODES if is_here else map(with_one_thread, MODES)), *there], lacking
