"""What is known of a gradient call without reading what ran: who asked where, for what, and the names of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradproof.frontends.jax.observe.asked import function_name, source_names
from gradproof.frontends.jax.observe.notes import Ending, Execution
from gradproof.frontends.jax.observe.peel import Bottom
from gradproof.frontends.jax.read.inside import SHARED
from gradproof.frontends.jax.read.rules import is_small
from gradproof.frontends.jax.read.values import value_of
from gradproof.frontends.record.model import FunctionCall, GradientCall, Mode, Observed, Operand, Tape, Value
from gradproof.frontends.record.source import spans_of

NO_TAPE = Tape(0, "tape", None)
"""There is no tape in JAX: a function hears all that it runs."""
TOO_LONG = "it has more ops than are kept"


def bare_call(ending: Ending) -> GradientCall:
    """What is known of a call without reading what ran."""
    execution = ending.execution
    spans = spans_of((*ending.asked.places, *(() if execution is None else execution.places)))
    is_cut = ending.of.forward.is_cut or ending.backward.is_cut
    operands = [
        tuple(Operand(name, _outside(ending, one)) for name, one in zip(names, bottoms))
        for names, bottoms in (
            (names_of_sources(ending), ending.of.sources),
            (names_of_targets(ending), ending.of.targets),
        )
    ]
    return GradientCall(
        id=ending.id,
        api="gradient",
        span=spans[0] if spans else None,
        stack=spans,
        through=ending.asked.api,
        occurrence=ending.of.occurrence if execution is None else execution.occurrence,
        mode=_mode(ending),
        tape=NO_TAPE,
        targets=operands[1],
        sources=operands[0],
        observed=tuple(as_observed(ending)(_outside(ending, one)) for one in ending.results),
        observed_from="returned" if execution is None else "interpreted",
        unconnected_gradients="zero",
        framework="jax",
        calls=tuple(
            _function_call(ending, one)
            for one in (ending.of.compiled if execution is None else (execution, *ending.of.compiled))
        ),
        failure=TOO_LONG if is_cut else None,
        doubt=SHARED if ending.of.is_shared else None,
        differences=ending.differences if len(ending.of.targets) == 1 else None,
    )


def _mode(ending: Ending) -> Mode:
    """How JAX ran it: a compiled function that is differentiated is compiled again, forward and backward apart."""
    if ending.execution is not None:
        return "xla"
    return "eager" if all(map(is_small, ending.of.pieces)) else "parts"


def _function_call(ending: Ending, execution: Execution) -> FunctionCall:
    span = spans_of(execution.places)[0] if execution.places else None
    return FunctionCall(ending.id, execution.name, "xla", span, (), (), baked=execution.frozen)


def _outside(ending: Ending, one: Bottom) -> Value:
    """A value without running anything: an array that was passed, or a variable that nobody has numbers of."""
    if not one.is_staged:
        return value_of(one.value)
    aval = one.value.aval
    return Value(-1, str(aval.dtype), tuple(aval.shape), unknown="the compiled function was not run op by op")


def names_of_sources(ending: Ending) -> list[str]:
    return source_names(ending.of.asked, ending.of.tree, ending.of.paths, _caller(ending))


def _caller(ending: Ending) -> tuple[Any, ...]:
    return () if ending.execution is None else ending.execution.places


def names_of_targets(ending: Ending) -> list[str]:
    name = function_name(ending.of.asked.function)
    n_targets = len(ending.of.targets)
    return [name] if n_targets == 1 else [f"{name}[{k}]" for k in range(n_targets)]


def as_observed(ending: Ending) -> Callable[[Value], Observed | None]:
    """The gradient that came back; of a compiled function, what the user's own run returned, if it did."""

    def observed(value: Value) -> Observed | None:
        return None if value.dtype == "none" else Observed(value, ids=(value.id,))

    return observed
