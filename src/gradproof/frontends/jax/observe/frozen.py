"""Python values that became constants when a function was traced: remembered then, compared at every call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
from jax import tree_util
from jax._src import core

from gradproof.frontends.frozen.outside_reads import Given, Read, reads_of
from gradproof.frontends.frozen.plain_values import copied, is_plain, numbers_in, occurs, same, shown
from gradproof.ir.surroundings import Baked


def reads_now(functions: Iterable[Any]) -> tuple[Read, ...]:
    """What functions of the user's read from outside of themselves, as it is now."""
    found = []
    for function in functions:
        for read in reads_of(unwrapped(function)):
            if is_plain(read.value):
                found.append(replace(read, value=copied(read.value)))
    return tuple(found)


def unwrapped(function: Any) -> Any:
    """The user's own function inside of what JAX's transformations return."""
    while True:
        inner = getattr(function, "__wrapped__", None) or getattr(function, "func", None)
        if inner is None or inner is function:
            return function
        function = inner


def with_objects(function: Any, given: Sequence[Any], named: Mapping[str, Any]) -> Any:
    """A function with the objects among its static arguments: what it reads of these is frozen, too."""
    own = unwrapped(function)
    if not isinstance(own, FunctionType):
        return function
    names = own.__code__.co_varnames[: own.__code__.co_argcount]
    objects = {name: one for name, one in (*zip(names, given), *named.items()) if _is_static_object(one)}
    return Given(own, objects) if objects else function


def _is_static_object(argument: Any) -> bool:
    """What JAX takes apart is traced, not frozen; a class that it does not know can only be static."""
    is_object = hasattr(argument, "__dict__") and not isinstance(argument, type | ModuleType | FunctionType)
    return is_object and tree_util.all_leaves([argument]) and not hasattr(argument, "dtype")


def frozen_in(jaxpr: Any, name: str, reads: Iterable[Read]) -> Iterator[Baked]:
    """The values that a jaxpr was traced with and that are others by now."""
    numbers: set[float] | None = None
    for read in reads:
        now = read.now()
        if not is_plain(now) or same(read.value, now):
            continue
        if numbers is None:
            numbers = set().union(*map(numbers_in, constants_in(jaxpr.jaxpr, jaxpr.consts)))
        if occurs(read.value, numbers):
            yield Baked(name, read.name, repr(shown(read.value)), repr(shown(now)), read.span)


def drawn_once(name: str, reads: Iterable[Read]) -> Iterator[Baked]:
    """Generators that were drawn from while a function was traced."""
    for read in reads:
        yield Baked(name, read.name, "", "", read.span, is_drawn=True)


def constants_in(jaxpr: Any, consts: Iterable[Any]) -> Iterator[np.ndarray[Any, Any]]:
    """Every literal and every closed-over array of a jaxpr and of those inside of it."""
    for const in consts:
        if isinstance(const, np.ndarray | np.generic | float | int) or hasattr(const, "__array__"):
            yield np.asarray(const) if _is_number(const) else np.zeros(0)
    for equation in jaxpr.eqns:
        for atom in equation.invars:
            if isinstance(atom, core.Literal) and _is_number(atom.val):
                yield np.asarray(atom.val)
        exponent = equation.params.get("y")
        if isinstance(exponent, int):
            yield np.asarray(float(exponent))
        for inner in core.jaxprs_in_params(equation.params):
            yield from constants_in(inner, ())


def _is_number(value: Any) -> bool:
    kind = getattr(getattr(core.typeof(value), "dtype", None), "kind", "")
    return kind in "biuf" and kind != ""
