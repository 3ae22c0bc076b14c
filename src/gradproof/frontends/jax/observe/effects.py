"""Steps of a compiled function that the world notices: they are not taken again when it is run op by op."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jax._src import core
from jax._src.state.types import AbstractRef

from gradproof.errors import GradproofError
from gradproof.frontends.after.effects import effect_of

SAID = frozenset({"debug_callback", "debug_print"})
"""Primitives that tell somebody something, and compute nothing."""
_CALLBACKS = frozenset({"io_callback", "pure_callback"})
NOT_TWICE = "`{name}` runs code of the program's, which may have effects and is not run a second time"
CHANGED = "the compiled function changes arrays of the program's in place, and is not run a second time"


def require_harmless(name: str, params: Any) -> None:
    """A callback runs again only if its code can be shown to have no effects."""
    if name not in _CALLBACKS:
        return
    function = getattr(params["callback"], "callback_func", params["callback"])
    if name == "io_callback" or effect_of(function) is not None:
        raise GradproofError(NOT_TWICE.format(name=name))


def may_run(jaxpr: Any) -> bool:
    """Whether a branch that was not taken may be run: no callback in it does more than compute."""
    for equation in jaxpr.eqns:
        try:
            require_harmless(equation.primitive.name, equation.params)
        except GradproofError:
            return False
        if not all(map(may_run, core.jaxprs_in_params(equation.params))):
            return False
    return True


def require_own_arrays(inputs: Iterable[Any]) -> None:
    """What a function is given to change would be changed twice."""
    if any(isinstance(core.typeof(x), AbstractRef) for x in inputs):
        raise GradproofError(CHANGED)


def is_noticed(jaxpr: Any) -> bool:
    """Whether a jaxpr, or one inside of it, has such a step."""
    return any(
        equation.primitive.name in SAID | _CALLBACKS
        or any(is_noticed(inner) for inner in core.jaxprs_in_params(equation.params))
        for equation in jaxpr.eqns
    )
