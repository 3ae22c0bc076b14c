"""Lines through a point: along one entry of one argument, or along any direction."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradproof.blackbox.calls import Calls, Numbers
from gradproof.blackbox.inputs import Input
from gradproof.blackbox.ladder import LadderLine


def along_entry(calls: Calls, inputs: Sequence[Input], which: int, index: int, centre: Numbers) -> LadderLine:
    """The line on which entry `index` of argument `which` moves and everything else stays."""
    moving = inputs[which]
    origin = float(moving.values.reshape(-1)[index])
    dtype = moving.values.dtype.type

    def moved(step: Any, kind: Any) -> NDArray[Any]:
        numbers = moving.values.astype(kind)
        numbers.reshape(-1)[index] = origin + step
        return numbers

    def place(step: float) -> tuple[Any, ...]:
        return _arguments(inputs, which, moving.rebuild(moved(step, dtype)))

    def complex_place(step: complex) -> tuple[Any, ...]:
        return _arguments(inputs, which, moving.rebuild(moved(step, np.complex128)))

    def many(steps: Sequence[float]) -> tuple[Any, ...]:
        return (np.stack([moved(step, dtype) for step in steps]),)

    return LadderLine(
        calls,
        place,
        size=abs(origin),
        grain=float(np.spacing(dtype(abs(origin)))) if origin else 0.0,
        step_dtype=dtype,
        complex_place=complex_place if moving.plain else None,
        many=many if moving.plain and len(inputs) == 1 else None,
        origin=origin,
        known={0.0: centre},
    )


def along_direction(
    calls: Calls, inputs: Sequence[Input], direction: Sequence[NDArray[np.float64]], centre: Numbers
) -> LadderLine:
    """The line x + t * direction, for a direction whose largest entry is 1."""
    moves = [bool(part.any()) for part in direction]
    sizes = [float(abs(one.values[part != 0]).max(initial=0.0)) for one, part in zip(inputs, direction)]
    largest = int(np.argmax(sizes))
    dtype = inputs[largest].values.dtype.type

    def place(step: float) -> tuple[Any, ...]:
        return tuple(
            one.rebuild((one.values + step * part).astype(one.values.dtype) if moving else one.values)
            for one, part, moving in zip(inputs, direction, moves)
        )

    def complex_place(step: complex) -> tuple[Any, ...]:
        return tuple(
            one.rebuild(one.values + step * part if moving else one.values)
            for one, part, moving in zip(inputs, direction, moves)
        )

    return LadderLine(
        calls,
        place,
        size=sizes[largest],
        grain=float(np.spacing(dtype(sizes[largest]))) if sizes[largest] else 0.0,
        step_dtype=dtype,
        complex_place=complex_place if all(one.plain for one in inputs) else None,
        known={0.0: centre},
    )


def _arguments(inputs: Sequence[Input], which: int, moved: Any) -> tuple[Any, ...]:
    return tuple(moved if k == which else one.rebuild(one.values) for k, one in enumerate(inputs))
