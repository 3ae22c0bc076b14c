"""The gradient check by finite differences, and the judgement of the step it was made with."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from gradproof.blackbox.announce import announce
from gradproof.blackbox.calls import Calls, Numbers, from_tensor
from gradproof.blackbox.derivative import MAX_EVALUATIONS, entry_slopes
from gradproof.blackbox.directions import along_entry
from gradproof.blackbox.grid import Floats
from gradproof.blackbox.inputs import Input, as_input
from gradproof.blackbox.result import Derivative, Derivatives, counted, shown
from gradproof.blackbox.step import STEP_FAULTS, StepJudgement
from gradproof.errors import InvalidInput

CheckVerdict = Literal["agrees", "disagrees", "unverified"]

TOLERANCE = 1e-6  # relative, for functions computed in float64
TOLERANCE_FLOAT32 = 1e-3
EXPLAIN_WIDTH = 100  # columns of the long form
TINY = 1e-300  # in place of a scale of zero
# An entry far smaller than the largest one of its gradient is measured against this share of the largest.
SMALL_ENTRY = 1e-3


@dataclass(frozen=True, repr=False)
class NumericalCheck:
    """The outcome of a gradient check: numbers, verdict, and `step-size` where the step is to blame."""

    verdict: CheckVerdict
    cause: Literal["step-size"] | None
    reason: str
    slopes: tuple[Derivatives, ...]  # one per argument, trusted to their error bars
    differences: tuple[Floats, ...] | None  # with the caller's epsilon
    epsilon: float | None
    tolerance: float
    step: StepJudgement | None
    evaluations: int

    @property
    def ok(self) -> bool:
        return self.verdict == "agrees"

    def explain(self) -> str:
        """The long form: what the step or the tolerance did, with the numbers and what would serve."""
        # As in a report: the words stand above this layer, and are fetched when they are asked for.
        from gradproof.causes import step_size, tolerance
        from gradproof.render.diagnostic_text import diagnostic_lines
        from gradproof.render.line import plain

        found = step_size.of_check(self) or tolerance.of_check(self)
        if found is None:
            return repr(self)
        return plain(diagnostic_lines(found, {}, EXPLAIN_WIDTH))

    def __repr__(self) -> str:
        head = f"gradient check: {self.verdict}" + (f", {self.cause} is to blame" if self.cause else "")
        lines = [head, f"  {self.reason}"]
        if self.step is not None and self.cause:
            step = self.step
            lines += [
                f"  difference  {step.difference:.10g}  with epsilon {self.epsilon:g}",
                f"  slope       {shown(step.value, step.error)}",
                f"  predicted   truncation {step.predicted_truncation:.1e}, "
                f"rounding {step.predicted_rounding:.1e}",
            ]
        return "\n".join([*lines, f"  {counted(self.evaluations)}"])


def gradient_check_numerical(
    function: Callable[..., Any],
    xs: Sequence[Any],
    epsilon: float | None = None,
    *,
    gradient: Any = None,
    tolerance: float | None = None,
    max_evaluations: int = MAX_EVALUATIONS,
) -> NumericalCheck:
    """Check by finite differences: `gradient` if there is one, and `epsilon` if the caller chose one.

    Without epsilon the steps are chosen entry by entry. With it, the classic central difference is also
    computed and judged: where it misses the slope by more than the tolerance, the step is to blame.
    `gradient` is a list with one array per argument, or a function of the arguments that returns it.
    """
    if not isinstance(xs, list | tuple):
        xs = [xs]
    inputs = tuple(as_input(x, "gradient_check_numerical") for x in xs)
    if not inputs:
        raise InvalidInput("gradient_check_numerical() was given no argument to differentiate by")
    if epsilon is not None and not (math.isfinite(epsilon) and epsilon > 0):
        raise InvalidInput(f"gradient_check_numerical() needs a positive epsilon, but was given {epsilon}")
    calls = Calls(function)
    centre = calls.first(*(one.rebuild(one.values) for one in inputs))
    slopes = tuple(
        entry_slopes(calls, inputs, which, centre, "gradient_check_numerical", max_evaluations)
        for which in range(len(inputs))
    )
    allowed = tolerance or (TOLERANCE_FLOAT32 if calls.eps > 2.0**-50 else TOLERANCE)
    differences = None if epsilon is None else _differences(calls, inputs, centre, epsilon)
    step = None if epsilon is None or differences is None else _judge(slopes, differences, epsilon, allowed)
    claimed = None if gradient is None else _claimed(gradient, inputs, slopes)
    verdict, cause, reason = _verdict(slopes, claimed, step, epsilon, allowed)
    check = NumericalCheck(
        verdict, cause, reason, slopes, differences, epsilon, allowed, step, calls.n_points
    )
    announce(check, function)
    return check


def _differences(
    calls: Calls, inputs: Sequence[Input], centre: Numbers, epsilon: float
) -> tuple[Floats, ...]:
    """Central differences with one step for every entry, as such checks are usually written."""
    found = []
    for which, one in enumerate(inputs):
        lines = [along_entry(calls, inputs, which, index, centre) for index in range(one.values.size)]
        columns = [
            (calls.elsewhere(*line.place(epsilon)) - calls.elsewhere(*line.place(-epsilon))) / (2 * epsilon)
            for line in lines
        ]
        found.append(np.stack(columns, axis=-1).reshape((*centre.shape, *one.values.shape)))
    return tuple(found)


def _scales(slopes: Derivatives) -> Floats:
    sizes = abs(slopes.value)
    largest = float(np.nanmax(sizes)) if np.isfinite(sizes).any() else 0.0
    return np.maximum(np.nan_to_num(sizes), SMALL_ENTRY * largest)


def _judge(
    slopes: Sequence[Derivatives], differences: Sequence[Floats], epsilon: float, tolerance: float
) -> StepJudgement | None:
    """The entry the differences miss by most, beyond tolerance and error bar; None if they miss none."""
    worst: tuple[float, int, int] | None = None
    for which, (known, seen) in enumerate(zip(slopes, differences)):
        excess = abs(seen - known.value) - known.error - tolerance * _scales(known)
        # A difference that is no number misses every slope.
        excess = np.where(np.isfinite(known.value) & ~np.isfinite(seen), np.inf, excess)
        if np.isfinite(known.value).any():
            k = int(np.nanargmax(excess))
            if worst is None or excess.flat[k] > worst[0]:
                worst = (float(excess.flat[k]), which, k)
    if worst is None or worst[0] <= 0:
        return None
    _, which, k = worst
    entry = slopes[which].entries[k]
    index = tuple(int(i) for i in np.unravel_index(k, slopes[which].value.shape))
    return StepJudgement(
        epsilon,
        which,
        index,
        float(differences[which].flat[k]),
        entry.value,
        entry.error,
        entry.curve.truncation_at(epsilon, entry.value),
        entry.curve.rounding_at(epsilon),
        _usable_for_all(slopes, tolerance),
    )


def _usable_for_all(slopes: Sequence[Derivatives], tolerance: float) -> tuple[float, float] | None:
    """The steps that are good enough for every entry at once."""
    low, high = 0.0, math.inf
    for known in slopes:
        scales = _scales(known).reshape(-1)
        for entry, scale in zip(known.entries, scales):
            if not math.isfinite(entry.value):
                continue
            one = entry.usable_steps(_relative(tolerance, scale, entry))
            if one is None:
                return None
            low, high = max(low, one[0]), min(high, one[1])
    return (low, high) if low < high < math.inf else None


def _relative(tolerance: float, scale: float, entry: Derivative) -> float:
    return tolerance * scale / abs(entry.value) if entry.value else tolerance * (scale or 1.0)


def _claimed(
    gradient: Any, inputs: Sequence[Input], slopes: Sequence[Derivatives]
) -> tuple[NDArray[np.float64], ...]:
    """The gradient under test as arrays of the shapes of the slopes; a single one may come bare."""
    if callable(gradient):
        gradient = gradient(*(one.rebuild(one.values) for one in inputs))
    wanted = [known.value.shape for known in slopes]
    readings: list[Sequence[Any]] = [[gradient]]
    if isinstance(gradient, list | tuple):
        readings.insert(0, gradient)
    for reading in readings:
        arrays = tuple(np.asarray(from_tensor(part), dtype=np.float64) for part in reading)
        if [array.shape for array in arrays] == wanted:
            return arrays
    raise InvalidInput(
        f"gradient_check_numerical() needs a gradient of shapes {wanted}, one per argument, "
        f"but was given {[np.shape(from_tensor(part)) for part in readings[0]]}"
    )


def _verdict(
    slopes: Sequence[Derivatives],
    claimed: Sequence[NDArray[np.float64]] | None,
    step: StepJudgement | None,
    epsilon: float | None,
    tolerance: float,
) -> tuple[CheckVerdict, Literal["step-size"] | None, str]:
    wrong = None if claimed is None else _first_wrong(slopes, claimed, tolerance)
    if wrong is not None:
        return "disagrees", None, wrong
    doubt = _first_doubt(slopes, tolerance)
    if step is None or epsilon is None:
        return (
            ("agrees", None, _agreement(slopes, claimed, tolerance))
            if doubt is None
            else ("unverified", None, doubt)
        )
    blame = _blame(step)
    if claimed is None:
        return "disagrees", "step-size", blame
    # A gradient that was found right stays right, whatever a check with a bad step would say of it.
    if doubt is None:
        return "agrees", "step-size", f"the gradient is right; {blame}"
    return "unverified", "step-size", f"{doubt}; {blame}"


def _first_doubt(slopes: Sequence[Derivatives], tolerance: float) -> str | None:
    """Why not every entry can be judged, None if it can."""
    for which, known in enumerate(slopes):
        for entry in known.entries:
            if entry.status != "ok":
                return f"an entry of argument {which} has no derivative: {entry.status}: {entry.reason}"
    widest = _widest(slopes)
    return (
        f"the slopes are known to {widest:.1e}, the tolerance is {tolerance:.0e}"
        if widest > tolerance
        else None
    )


def _agreement(slopes: Sequence[Derivatives], claimed: Any, tolerance: float) -> str:
    what = "the differences agree with" if claimed is None else "the gradient agrees with"
    return f"{what} slopes known to {_widest(slopes):.1e}, within a tolerance of {tolerance:.0e}"


def _widest(slopes: Sequence[Derivatives]) -> float:
    """The widest error bar, relative to what an entry is measured against."""
    return max(float(np.max(known.error / np.maximum(_scales(known), TINY))) for known in slopes)


def _first_wrong(
    slopes: Sequence[Derivatives], claimed: Sequence[NDArray[np.float64]], tolerance: float
) -> str | None:
    for which, (known, given) in enumerate(zip(slopes, claimed)):
        off = abs(given - known.value) > known.error + tolerance * _scales(known)
        off |= np.isfinite(known.value) & ~np.isfinite(given)
        if off.any():
            k = int(np.argmax(off))
            index = [int(i) for i in np.unravel_index(k, off.shape)]
            entry = known.entries[k]
            return (
                f"the gradient of argument {which} at {index} is {given.flat[k]:.10g}, "
                f"the slope there is {shown(entry.value, entry.error)}"
            )
    return None


def _blame(step: StepJudgement) -> str:
    size, reason = STEP_FAULTS[step.fault]
    where = f"{step.usable[0]:.0e} to {step.usable[1]:.0e}" if step.usable else "none serves all entries"
    return f"epsilon {step.epsilon:g} is too {size}: {reason}; usable steps: {where}"
