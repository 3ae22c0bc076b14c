"""Checks of NumPy functions: calls them on a tape and hands on what their gradients were computed from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from gradproof.errors import InvalidInput
from gradproof.frontends.check.purity import Impurity, Trial, impurity
from gradproof.frontends.check.request import (
    Checked,
    Left,
    Request,
    WrongShape,
    called,
    checked_input,
    checked_result,
    definition_of,
    name_of,
)
from gradproof.ir import types
from gradproof.tape.announce import Finished, heard_alone
from gradproof.tape.array import Array
from gradproof.tape.by_hand import by_hand, with_rule, with_zeros
from gradproof.tape.capture import to_captures
from gradproof.tape.leaving import left_part
from gradproof.tape.missing import Missing
from gradproof.tape.plain import require_plain
from gradproof.tape.programs import FRAMEWORK
from gradproof.tape.proof import Proof
from gradproof.tape.structure import flatten, unflatten
from gradproof.tape.tape import GradientTape
from gradproof.tape.variable import Variable


@dataclass(frozen=True, eq=False)
class Arguments:
    """The arguments taken apart: all leaves, and which of them are numbers that can be differentiated for."""

    structure: Any
    leaves: Sequence[Any]
    places: Sequence[int]
    names: Sequence[str]

    @property
    def arrays(self) -> list[np.ndarray[Any, Any]]:
        return [np.asarray(self.leaves[place]) for place in self.places]

    def filled(self, sources: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Positional and keyword arguments with other sources in their places."""
        leaves = list(self.leaves)
        for place, source in zip(self.places, sources):
            leaves[place] = source
        args, kwargs = unflatten(self.structure, iter(leaves))
        return tuple(args), dict(kwargs)


def check(request: Request) -> Checked:
    """Call the function twice as it is and once on a tape; nothing is judged here."""
    arguments = _arguments(request)
    impure, result = _tried(request, arguments)
    if impure is not None and (impure.changed or request.gradient is not None):
        return Checked(FRAMEWORK, names=tuple(arguments.names), impurity=impure)
    is_each = request.output == "each" or (request.gradient is not None and result.size != 1)
    checked_result(result, request, is_each)
    wrong_shapes: list[WrongShape] = []
    left: list[Left] = []
    finished = _differentiated(request, arguments, is_each, wrong_shapes, left)
    alike = (
        request.gradient is None
    )  # a hand-written one is judged row by row, as it may be wrong in any of them
    captures = tuple(capture for each in finished for capture in to_captures(each, alike=alike))
    if request.gradient is not None:
        name, place = name_of(request.gradient), definition_of(request.gradient)
        captures = tuple(with_rule(capture, name, place) for capture in captures)
    return Checked(
        FRAMEWORK, captures, tuple(arguments.names), impure, tuple(wrong_shapes), next(iter(left), None)
    )


def _arguments(request: Request) -> Arguments:
    args = tuple(_with_arrays(arg) for arg in request.args)
    structure = (args, {key: _with_arrays(value) for key, value in request.kwargs.items()})
    leaves = flatten(structure)
    every_name = _names(structure, request.argument_names)
    places = [k for k, leaf in enumerate(leaves) if _is_source(leaf)]
    if not places:
        integers = [
            name for name, leaf in zip(every_name, leaves) if isinstance(leaf, int | np.integer | np.ndarray)
        ]
        hint = f"; write `{integers[0]}` with a decimal point" if integers else ""
        raise InvalidInput(f"check() needs at least one argument of real numbers for `{request.name}`{hint}")
    names = [every_name[k] for k in places]
    for name, leaf in zip(every_name, leaves):
        require_plain(leaf, f"`{name}`")
    for name, place in zip(names, places):
        checked_input(np.asarray(leaves[place]), name)
    return Arguments(structure, leaves, places, names)


def _with_arrays(arg: Any) -> Any:
    """Lists of numbers become arrays, as NumPy itself reads them; other structures keep their form."""
    if isinstance(arg, list) and arg and all(isinstance(leaf, int | float) for leaf in flatten(arg)):
        try:
            return np.asarray(arg)
        except ValueError as error:
            raise InvalidInput(
                f"a list of numbers is taken as an array, but this one is ragged: {error}"
            ) from error
    if isinstance(arg, list | tuple):
        return unflatten(arg, iter([_with_arrays(leaf) for leaf in flatten(arg)]))
    return arg


def _is_source(leaf: Any) -> bool:
    if isinstance(leaf, bool | int | str | bytes) or leaf is None:
        return False
    if isinstance(leaf, float | complex | np.floating | np.complexfloating):
        return True
    if isinstance(leaf, np.ndarray | Array):
        return leaf.dtype.kind in "fc" or leaf.dtype == types.BFLOAT16
    return False


def _names(structure: Any, argument_names: Sequence[str]) -> list[str]:
    """One name per leaf: the function's own for an argument, with the way to the leaf behind it."""
    args, kwargs = structure
    found: list[str] = []
    for name, value in zip(argument_names, (*args, *kwargs.values())):
        found += _paths(value, name)
    return found


def _paths(value: Any, text: str) -> list[str]:
    if isinstance(value, dict):
        return [path for key, item in value.items() for path in _paths(item, f"{text}[{key!r}]")]
    if isinstance(value, list | tuple):
        return [path for k, item in enumerate(value) for path in _paths(item, f"{text}[{k}]")]
    return [text]


def _tried(request: Request, arguments: Arguments) -> tuple[Impurity | None, Any]:
    def run() -> Trial:
        # Copies: what the function does to its arguments must be seen, and must not last.
        copies = [np.array(array) if array.ndim else array[()] for array in arguments.arrays]
        before = [np.array(array) for array in arguments.arrays]
        args, kwargs = arguments.filled(copies)
        value = request.selected(called(request.function, f"`{request.name}`", args, kwargs))
        return Trial(
            np.array(checked_result(value, request, True)), before, [np.asarray(copy) for copy in copies]
        )

    return impurity(run, arguments.names)


def _differentiated(
    request: Request,
    arguments: Arguments,
    is_each: bool,
    wrong_shapes: list[WrongShape],
    left: list[Left],
) -> Iterator[Finished]:
    variables = [Variable(array, name) for array, name in zip(arguments.arrays, arguments.names)]
    args, kwargs = arguments.filled(variables)
    if request.order == 2:
        yield from _second_order(request, variables, args, kwargs)
        return
    with GradientTape(persistent=True) as tape:
        target = _target(request, args, kwargs)
        returned = _hand_written(request, args, kwargs)
    with heard_alone() as heard:
        # Also for a gradient written by hand: the tape knows the program that it has to be the derivative of.
        tape.jacobian(target, variables) if is_each else tape.gradient(target, variables)
    part = left_part(heard[-1].proof, tape._leaves, variables, partial(_elsewhere, request, arguments))
    left += [] if part is None else [part]
    # Whether what left matters has been measured; what the text makes possible is not asked.
    finished = replace(with_zeros(_renamed(heard[-1], request), variables), leaves=())
    if request.gradient is None:
        yield finished
    else:
        yield by_hand(finished, variables, returned, name_of(request.gradient), wrong_shapes)


def _elsewhere(request: Request, arguments: Arguments, at: list[np.ndarray[Any, Any]]) -> Proof | None:
    """The same call with other numbers; None where the function cannot be called there."""
    variables = [Variable(array, name) for array, name in zip(at, arguments.names)]
    try:
        with GradientTape() as tape:
            target = _target(request, *arguments.filled(variables))
        with heard_alone() as heard:
            tape.gradient(target, variables)
    except Exception:  # whatever the user's function raises there
        return None
    return heard[-1].proof


def _target(request: Request, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return request.selected(called(request.function, f"`{request.name}` on a tape", args, kwargs))


def _hand_written(request: Request, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Its numbers; a function is run on the tape as well, so that its rounding can be followed."""
    if not callable(request.gradient):
        return request.gradient
    return called(request.gradient, f"the gradient `{name_of(request.gradient)}`", args, kwargs)


def _second_order(
    request: Request, variables: Sequence[Variable], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Iterator[Finished]:
    """The derivatives of every first derivative: a Jacobian of each gradient."""
    with GradientTape(persistent=True) as outer:
        with GradientTape() as inner:
            target = _target(request, args, kwargs)
        with heard_alone() as heard:
            gradients = inner.gradient(target, list(variables))
    first = with_zeros(_renamed(heard[-1], request), variables)
    if any(isinstance(source, Missing) for source in first.sources):
        yield first  # without a first derivative there is no second one, and the first says why
    for variable, gradient in zip(variables, gradients):
        if not isinstance(gradient, Array):
            continue
        with heard_alone() as heard:
            if gradient.ndim:
                outer.jacobian(gradient, list(variables))
            else:
                outer.gradient(gradient, list(variables))
        second = with_zeros(heard[-1], variables)
        name = f"(d {request.name} / d {variable.name})"
        yield replace(second, proof=replace(second.proof, target_name=name, _known={}))


def _renamed(finished: Finished, request: Request) -> Finished:
    return replace(finished, proof=replace(finished.proof, target_name=request.name, _known={}))
