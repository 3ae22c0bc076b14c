"""What is known of a derivative after calling the function: value, error bar, and what stood in the way."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from gradproof.blackbox.grid import Floats

Status = Literal["ok", "one-sided", "kink", "jump", "infinite slope", "cannot tell"]

NO_VALUE = math.nan
USABLE_TOLERANCE = 1e-6  # the relative error below which a fixed step is called usable
MAX_SHOWN = 5  # entries without a derivative listed in a text
SEEN = 4.0  # times the noise: a deviation this large is truncation, not noise


@dataclass(frozen=True)
class Curve:
    """Error against step: the central difference at every step that was tried."""

    steps: Floats
    differences: Floats
    errors: Floats  # distance of each difference from the value, its error bar included; NaN without a value
    noise: float  # of single values of the function

    def truncation_at(self, step: float, value: float) -> float:
        """The error a central difference makes because its step is not zero, 0 where none was seen."""
        off = abs(self.differences - value)
        seen = np.flatnonzero(off > SEEN * self.noise / self.steps)
        if not len(seen):
            return 0.0
        k = int(np.argmin(abs(np.log(self.steps[seen] / step))))
        nearest = seen[k]
        return float(off[nearest] * (step / self.steps[nearest]) ** 2)

    def rounding_at(self, step: float) -> float:
        """The error a central difference makes because its step is small: the noise over the step."""
        return self.noise / step


@dataclass(frozen=True, repr=False)
class Derivative:
    """A slope and its error bar, or the reason why there is none.

    `value` is NaN unless `status` is "ok" or "one-sided". The true slope lies within `error` of `value`.
    """

    value: float
    error: float
    status: Status
    reason: str  # one sentence: how the value was found, or why there is none
    left: float  # slopes of the two sides, NaN where a side has none
    right: float
    left_error: float
    right_error: float
    noise: float  # of single values of the function
    evaluations: int
    curve: Curve

    @property
    def digits(self) -> float:
        """Decimal digits of the value that its error bar leaves standing."""
        if not math.isfinite(self.value) or self.value == 0:
            return 0.0
        return min(17.0, max(0.0, -math.log10(max(self.error / abs(self.value), 1e-17))))

    @property
    def usable(self) -> tuple[float, float] | None:
        """The steps for which a plain central difference is good to six digits, or as good as it gets."""
        return self.usable_steps(USABLE_TOLERANCE) or self.usable_steps(10 * self._best_error())

    def usable_steps(self, tolerance: float) -> tuple[float, float] | None:
        """The range of steps for which a plain central difference has a relative error below `tolerance`."""
        curve = self.curve
        if not math.isfinite(self.value) or not len(curve.steps):
            return None
        allowed = tolerance * (abs(self.value) or 1.0)
        off = abs(curve.differences - self.value)
        seen = off > SEEN * curve.noise / curve.steps
        bad = np.flatnonzero(seen & (off > allowed))
        good = np.flatnonzero(seen & (off <= allowed))
        high = float(curve.steps[-1])
        if len(bad):
            high = float(curve.steps[bad[0]] * min(1.0, math.sqrt(allowed / off[bad[0]])))
        if len(good) and len(bad):
            high = max(high, float(curve.steps[good[good < bad[0]]].max(initial=0.0)))
        low = max(curve.noise / allowed, float(curve.steps[0]))
        return (low, high) if low < high else None

    def _best_error(self) -> float:
        """The smallest relative error that any of the steps tried would have had."""
        curve = self.curve
        if not math.isfinite(self.value) or not len(curve.steps):
            return math.inf
        likely = np.maximum(abs(curve.differences - self.value), curve.noise / curve.steps)
        return float(likely.min()) / (abs(self.value) or 1.0)

    def __repr__(self) -> str:
        return "\n".join((f"Derivative: {self._headline()}", f"  {self.reason}", f"  {self._footing()}"))

    def _headline(self) -> str:
        if self.status in ("ok", "one-sided"):
            side = " from one side" if self.status == "one-sided" else ""
            return f"{shown(self.value, self.error)}{side}"
        if self.status == "kink":
            left, right = shown(self.left, self.left_error), shown(self.right, self.right_error)
            return f"none, a kink: {left} from the left, {right} from the right"
        return {"jump": "none, a jump", "infinite slope": "none, an infinite slope"}.get(
            self.status, "cannot tell"
        )

    def _footing(self) -> str:
        usable = self.usable
        steps = (
            f"; a plain central difference needs a step from {usable[0]:.0e} to {usable[1]:.0e}"
            if usable
            else ""
        )
        return f"{counted(self.evaluations)}, noise {self.noise:.0e}{steps}"


@dataclass(frozen=True, repr=False)
class Derivatives:
    """The derivatives of an array: values, error bars and statuses of one shape, and every entry in full."""

    value: Floats  # NaN where an entry has no derivative
    error: Floats
    status: NDArray[np.str_]
    entries: tuple[Derivative, ...]  # in the order of `value.flat`
    evaluations: int

    @classmethod
    def of(cls, entries: Sequence[Derivative], shape: tuple[int, ...], evaluations: int) -> "Derivatives":
        value = np.array([entry.value for entry in entries]).reshape(shape)
        error = np.array([entry.error for entry in entries]).reshape(shape)
        status = np.array([entry.status for entry in entries]).reshape(shape)
        return cls(value, error, status, tuple(entries), evaluations)

    @property
    def ok(self) -> bool:
        """Whether every entry has a derivative."""
        return bool((self.status == "ok").all())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.value, dtype=dtype)

    def __repr__(self) -> str:
        lines = [
            f"Derivatives of shape {self.value.shape}, {counted(self.evaluations)}",
            f"  {self._summary()}",
        ]
        troubled = np.argwhere(self.status != "ok")
        flat = [k for k, entry in enumerate(self.entries) if entry.status != "ok"]
        for place, k in list(zip(troubled.tolist(), flat))[:MAX_SHOWN]:
            lines.append(f"  {place}: {self.entries[k].status}: {self.entries[k].reason}")
        if len(flat) > MAX_SHOWN:
            lines.append(f"  and {len(flat) - MAX_SHOWN} more")
        return "\n".join(lines)

    def _summary(self) -> str:
        n_ok = int((self.status == "ok").sum())
        if not n_ok:
            return "no entry has a derivative"
        worst = float(np.max(self.error[self.status == "ok"]))
        return f"{n_ok} of {self.status.size} entries have a derivative, the widest error bar is {worst:.1e}"


def counted(evaluations: int) -> str:
    """`1 evaluation`, `17 evaluations`."""
    return f"{evaluations} evaluation" if evaluations == 1 else f"{evaluations} evaluations"


def shown(value: float, error: float) -> str:
    """A number to the digits its error bar leaves standing, and the bar."""
    if error == 0 or not math.isfinite(error):
        return f"{value!r}" if error == 0 else f"{value:.3g}"
    size = math.log10(abs(value) / error) if value else 0.0
    digits = min(17, max(1, math.ceil(size) + 1))
    return f"{value:.{digits}g} ± {error:.1e}"
