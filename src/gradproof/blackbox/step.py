"""What a fixed step does to a finite difference: the bend of the function, a corner, or rounding."""

from dataclasses import dataclass
from typing import Literal

StepFault = Literal["bend", "corner", "rounding"]

STEP_FAULTS: dict[StepFault, tuple[str, str]] = {
    "bend": ("large", "the function bends within it"),
    "corner": ("large", "within it the function turns a corner, or bends sharply"),
    "rounding": ("small", "rounding drowns the difference"),
}
"""What is wrong with a step: too large or too small, and why."""

# An error this many times the predicted one is not the bend that was seen around the point, nor rounding.
UNEXPLAINED = 30.0


@dataclass(frozen=True)
class StepJudgement:
    """What the caller's epsilon does to the worst entry of a finite-difference check."""

    epsilon: float
    argument: int
    index: tuple[int, ...]
    difference: float  # the central difference with epsilon
    value: float  # the slope with its error bar
    error: float
    predicted_truncation: float
    predicted_rounding: float
    usable: tuple[float, float] | None  # the steps that would have been good enough for every entry

    @property
    def fault(self) -> StepFault:
        """A step that misses the slope by more than is explained reaches where the function is another one."""
        off = abs(self.difference - self.value)
        is_small = self.usable is not None and self.epsilon < self.usable[0]
        if not is_small and not off <= UNEXPLAINED * (self.predicted_truncation + self.predicted_rounding):
            return "corner"
        return "bend" if self.predicted_truncation >= self.predicted_rounding else "rounding"
