"""Checks of JAX functions: calls them under `vjp` and hands on what the pullback returned."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import tree_util

from gradproof.errors import InvalidInput
from gradproof.frontends.check.jacobian import alike, of_target, whole
from gradproof.frontends.check.purity import Impurity, Trial, impurity
from gradproof.frontends.check.request import Checked, Request, called, checked_input, checked_result
from gradproof.frontends.jax.observe.hooks import install, unobserved
from gradproof.frontends.jax.observe.notes import Ending
from gradproof.frontends.jax.observe.session import JaxSession
from gradproof.frontends.jax.read.calls import captures_of
from gradproof.frontends.record.sites import always
from gradproof.ir.capture import Capture

FRAMEWORK = "jax"


@dataclass(frozen=True, eq=False)
class Leaves:
    """The arrays of real or complex numbers in the arguments, by name, and how to put others in their places."""

    names: tuple[str, ...]
    arrays: tuple[Any, ...]
    put: Callable[[Sequence[Any]], tuple[tuple[Any, ...], dict[str, Any]]]


def check(request: Request) -> Checked:
    """Call the function twice as it is and once under `vjp`; nothing is judged here."""
    if request.gradient is not None:
        raise InvalidInput(
            "gradient= is for NumPy functions; in JAX write the rule with `jax.custom_vjp`, and check() checks the "
            "rule wherever it is used"
        )
    with unobserved():
        leaves = _leaves(request)
        impure, result = _tried(request, leaves)
        if impure is not None and impure.changed:
            return Checked(FRAMEWORK, names=leaves.names, impurity=impure)
        checked_result(result, request, request.output == "each" or request.order == 2)
    return Checked(FRAMEWORK, tuple(_captures(request, leaves)), leaves.names, impure)


def _leaves(request: Request) -> Leaves:
    given = (tuple(request.args), dict(request.kwargs))
    flat, tree = tree_util.tree_flatten_with_path(given)
    named = request.argument_names
    n_args = len(request.args)
    keywords = dict(zip(request.kwargs, request.argument_names[n_args:]))
    places, names, arrays = [], [], []
    for k, (path, leaf) in enumerate(flat):
        if not _is_number(leaf):
            continue
        head = named[path[1].idx] if path[0].idx == 0 else keywords[path[1].key]
        places.append(k)
        names.append(head + tree_util.keystr(path[2:]))
        arrays.append(jnp.asarray(leaf))
    if not arrays:
        raise InvalidInput(f"check() needs at least one argument of real numbers for `{request.name}`")
    for name, array in zip(names, arrays):
        checked_input(np.asarray(array), name)

    def put(values: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        leaves = [leaf for _, leaf in flat]
        for place, value in zip(places, values):
            leaves[place] = value
        args, kwargs = tree_util.tree_unflatten(tree, leaves)
        return args, kwargs

    return Leaves(tuple(names), tuple(arrays), put)


def _is_number(leaf: Any) -> bool:
    if isinstance(leaf, float | complex):
        return True
    return hasattr(leaf, "dtype") and jnp.issubdtype(leaf.dtype, jnp.inexact)


def _called(request: Request, leaves: Leaves, values: Sequence[Any], what: str) -> Any:
    args, kwargs = leaves.put(values)
    return request.selected(called(request.function, what, args, kwargs))


def _tried(request: Request, leaves: Leaves) -> tuple[Impurity | None, Any]:
    def run() -> Trial:
        value = _called(request, leaves, leaves.arrays, f"`{request.name}`")
        numbers = np.array(checked_result(value, request, True))
        before = [np.array(array) for array in leaves.arrays]
        return Trial(numbers, before, before)  # an array of JAX's does not change

    return impurity(run, leaves.names)


@contextmanager
def _observed(endings: list[Ending]) -> Iterator[None]:
    remove = install(JaxSession(always, endings.append), lambda refusal: None)
    try:
        yield
    finally:
        remove()


def _captures(request: Request, leaves: Leaves, alone: bool = False) -> list[Capture]:
    """The gradients that were asked for. Of a Jacobian all rows are captured if each is to be looked at `alone`."""
    endings: list[Ending] = []

    def value(*values: Any) -> Any:
        return jnp.asarray(_called(request, leaves, values, f"`{request.name}` under `vjp`"))

    with unobserved(), _observed(endings):
        targets = _targets(request, leaves, value)
        n_own = len(endings)  # gradients that the function computed inside itself are not what was asked for
        for target in targets:
            for weight in target.weights[: None if alone else 1]:
                target.pull(weight)
    asked = iter(endings[n_own:])
    found: list[Capture] = []
    for k, target in enumerate(targets):
        rows = [_named(next(asked), leaves, target.name) for _ in target.weights[: None if alone else 1]]
        if target.shape is None:
            found += rows[0]
        elif alone or len(target.weights) == 1:
            found.append(whole([row[0] for row in rows], target.name, target.shape))
        else:
            each = partial(_each_row, request, leaves, k)
            found.append(alike(rows[0][0], _numbers(target), target.shape, each))
    return found


def _each_row(request: Request, leaves: Leaves, k: int) -> Capture:
    return _captures(request, leaves, alone=True)[k]


def _numbers(target: _Target) -> list[np.ndarray[Any, Any] | None]:
    """All rows of the Jacobian, by source."""
    with unobserved():
        rows = [target.pull(weight) for weight in target.weights]
    return [np.stack([np.asarray(one) for one in own]) for own in zip(*rows)]


@dataclass(frozen=True, eq=False)
class _Target:
    name: str
    pull: Callable[[Any], Any]
    weights: list[Any]
    shape: tuple[int, ...] | None


def _targets(request: Request, leaves: Leaves, value: Callable[..., Any]) -> list[_Target]:
    """What is differentiated: the result entry by entry, or, for the second order, each first derivative."""
    if request.order == 1:
        y, pull = jax.vjp(value, *leaves.arrays)
        each = request.output == "each"
        weights = _units(y) if each else [jnp.ones(y.shape, y.dtype)]
        return [_Target(request.name, pull, weights, tuple(y.shape) if each else None)]
    found = []
    for k, name in enumerate(leaves.names):
        slope = jax.grad(lambda *xs: jnp.reshape(value(*xs), ()), argnums=k)
        y, pull = jax.vjp(slope, *leaves.arrays)
        found.append(_Target(f"(d {request.name} / d {name})", pull, _units(y), tuple(y.shape)))
    return found


def _units(y: Any) -> list[Any]:
    size = int(np.prod(y.shape))
    return [jnp.reshape(jnp.asarray(row, y.dtype), y.shape) for row in np.eye(size)]


def _named(ending: Ending, leaves: Leaves, target: str) -> list[Capture]:
    ending.of.asked = replace(ending.of.asked, names=leaves.names)
    with unobserved():
        return [of_target(one, target) for one in captures_of(ending)]
