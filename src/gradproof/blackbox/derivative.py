"""`derivative`, `gradient`, `jacobian` and `directional`: slopes of any callable, with error bars."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from gradproof.blackbox.calls import Calls, Numbers
from gradproof.blackbox.directions import along_direction, along_entry
from gradproof.blackbox.inputs import Input, as_input, as_inputs, direction_like
from gradproof.blackbox.ladder import LadderLine
from gradproof.blackbox.result import Derivative, Derivatives
from gradproof.blackbox.slope import slope
from gradproof.errors import InvalidInput, NotScalar

CALLS_PER_ENTRY = 30  # about; said to the user before a large array is begun
MAX_EVALUATIONS = 300_000


def derivative(function: Callable[[Any], Any], x: Any) -> Derivative:
    """The derivative of a function of one number at x: value, error bar, and the error-against-step curve."""
    one = as_input(x, "derivative")
    if not one.is_scalar:
        raise NotScalar(
            f"derivative() differentiates by one number, but x has shape {one.values.shape}\n"
            "  for a function with one number as result use gradient(), for several jacobian()"
        )
    calls = Calls(function)
    centre = calls.first(one.rebuild(one.values))
    _need_a_scalar(calls, "derivative", "for the slopes of all entries use jacobian()")
    found = slope(along_entry(calls, (one,), 0, 0, centre))
    return (
        replace(found, reason=f"{found.reason}; x was an integer and is taken as a float")
        if one.promoted
        else found
    )


def gradient(
    function: Callable[[Any], Any], x: Any, *, max_evaluations: int = MAX_EVALUATIONS
) -> Derivatives:
    """The gradient of a function with one number as result, entry by entry, each with its error bar."""
    one = as_input(x, "gradient")
    calls = Calls(function)
    centre = calls.first(one.rebuild(one.values))
    _need_a_scalar(calls, "gradient", "for the derivatives of all entries use jacobian()")
    return entry_slopes(calls, (one,), 0, centre, "gradient", max_evaluations)


def jacobian(
    function: Callable[[Any], Any], x: Any, *, max_evaluations: int = MAX_EVALUATIONS
) -> Derivatives:
    """All derivatives of all entries of a result; the shape is that of the result, then that of x."""
    one = as_input(x, "jacobian")
    calls = Calls(function)
    centre = calls.first(one.rebuild(one.values))
    return entry_slopes(calls, (one,), 0, centre, "jacobian", max_evaluations)


def directional(function: Callable[..., Any], x: Any, direction: Any) -> Derivative | Derivatives:
    """The derivative along x + t * direction at t = 0.

    A tuple x is the arguments of the function, and the direction then a tuple too. A function with one
    number as result gives a Derivative, an array of results Derivatives of its shape.
    """
    inputs = as_inputs(x, "directional")
    parts = direction_like(direction, inputs, "directional")
    length = max(float(abs(part).max(initial=0.0)) for part in parts)
    calls = Calls(function)
    centre = calls.first(*(one.rebuild(one.values) for one in inputs))
    line = along_direction(calls, inputs, [part / length for part in parts], centre)
    entries = [_times(found, length) for found in _slopes_of_all_entries(line, centre.size)]
    return entries[0] if centre.ndim == 0 else Derivatives.of(entries, centre.shape, calls.n_points)


def entry_slopes(
    calls: Calls, inputs: Sequence[Input], which: int, centre: Numbers, caller: str, max_evaluations: int
) -> Derivatives:
    """The slopes of every entry of the result by every entry of one argument."""
    values = inputs[which].values
    say_the_cost(calls, values.size, caller, max_evaluations)
    columns = [
        _slopes_of_all_entries(along_entry(calls, inputs, which, index, centre), centre.size)
        for index in range(values.size)
    ]
    by_result = [column[k] for k in range(centre.size) for column in columns]
    return Derivatives.of(by_result, (*centre.shape, *values.shape), calls.n_points)


def _slopes_of_all_entries(line: LadderLine, n_entries: int) -> list[Derivative]:
    """One slope per entry of the result; they share the values, not what is learnt of an entry."""
    found = []
    for entry in range(n_entries):
        line.calls.eps = line.calls.declared_eps
        found.append(slope(replace(line, entry=entry)))
    return found


def _need_a_scalar(calls: Calls, caller: str, instead: str) -> None:
    if calls.shape:
        raise NotScalar(
            f"{caller}() needs a function with one number as result, "
            f"but `{calls.name}` returned shape {calls.shape}\n"
            f"  {instead}"
        )


def say_the_cost(calls: Calls, n_entries: int, caller: str, max_evaluations: int) -> None:
    """Refuse, with the cost, what would take far longer than anyone expects of one call."""
    expected = CALLS_PER_ENTRY * n_entries
    if expected <= max_evaluations:
        return
    seconds = expected * calls.seconds / max(calls.n_points, 1)
    raise InvalidInput(
        f"{caller}() would call `{calls.name}` about {expected:,} times, {CALLS_PER_ENTRY} for each of "
        f"{n_entries:,} entries ({_duration(seconds)} at the speed of the first call)\n"
        f"  pass max_evaluations={expected} to allow it; directional() takes about {CALLS_PER_ENTRY} in all"
    )


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"some {math.ceil(seconds)} s"
    return f"some {seconds / 60:.0f} min" if seconds < 5400 else f"some {seconds / 3600:.0f} h"


def _times(found: Derivative, factor: float) -> Derivative:
    """The slope along a direction that is `factor` times as long."""
    if factor == 1:
        return found
    curve = replace(
        found.curve,
        steps=found.curve.steps / factor,
        differences=found.curve.differences * factor,
        errors=found.curve.errors * factor,
    )
    scaled = {name: getattr(found, name) * factor for name in _SLOPES}
    return replace(found, curve=curve, **scaled)


_SLOPES = ("value", "error", "left", "right", "left_error", "right_error")
