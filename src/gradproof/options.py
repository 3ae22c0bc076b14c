"""Every setting that can change a verdict or its cost, in one place and passed explicitly."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gradproof.errors import InvalidInput, did_you_mean

# Relative error up to which a gradient counts as correct (design, section 2).
TOLERANCES = {
    "float64": 1e-8,
    "float32": 1e-3,
    "float16": 3e-2,
    "bfloat16": 3e-2,
    "complex128": 1e-8,
    "complex64": 1e-3,
}


@dataclass(frozen=True)
class Options:
    """How strict, how precise, how long. A dtype that `tolerances` does not name keeps the tolerance it has."""

    tolerances: Mapping[str, float] = field(default_factory=lambda: dict(TOLERANCES))
    # An entry is measured against itself or this share of the largest entry of its gradient, whichever is more.
    share_of_largest: float = 1e-3
    precision_cap_bits: int = 2048
    memory_limit_bytes: int = 4 * 2**30
    # Checked between the rungs of the ladder: no gradient is worth more than this unless the user says so.
    seconds: float | None = 60.0
    # Have every reference confirmed by differences of the function itself, also where that takes long.
    witness: bool = False
    # Look for what mends a fault, too.
    fixes: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "tolerances", {**TOLERANCES, **_known_dtypes(self.tolerances)})
        for dtype, tolerance in self.tolerances.items():
            _demand_number(f'tolerances["{dtype}"]', tolerance)
        _demand_number("share_of_largest", self.share_of_largest)
        _demand_whole("precision_cap_bits", self.precision_cap_bits)
        _demand_whole("memory_limit_bytes", self.memory_limit_bytes)
        if self.seconds is not None:
            _demand_number("seconds", self.seconds)

    def tolerance(self, dtype: str) -> float:
        return self.tolerances[dtype]

    def under(self, policy: str | None) -> Options:
        """What may be asked of a program whose own policy is to compute in that dtype, whatever its results are.

        Every number on the way is rounded so, and small entries of a gradient bear the roundings of large ones: they
        are measured against the largest.
        """
        if policy is None:
            return self
        least = self.tolerance(policy)
        wider = {dtype: max(least, own) for dtype, own in self.tolerances.items()}
        return replace(self, tolerances=wider, share_of_largest=1.0)


def options_of(given: Options | None) -> Options:
    """What a caller has passed as `options=`, or the defaults."""
    if given is None:
        return Options()
    if not isinstance(given, Options):
        raise InvalidInput(
            f"options= takes a gradproof.Options, not an object of type {type(given).__name__}"
        )
    return given


def _known_dtypes(tolerances: Any) -> Mapping[str, float]:
    if not isinstance(tolerances, Mapping):
        raise InvalidInput(
            f'Options.tolerances maps dtypes to numbers, as in {{"float32": 1e-4}}; it was {tolerances!r}'
        )
    for dtype in tolerances:
        if dtype not in TOLERANCES:
            meant = did_you_mean(str(dtype), TOLERANCES)
            raise InvalidInput(f"Options.tolerances has no dtype {dtype!r}{meant}")
    return tolerances


def _demand_number(name: str, value: Any) -> None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or value < 0:
        raise InvalidInput(f"Options.{name} is a finite number from 0 on; it was {value!r}")


def _demand_whole(name: str, value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise InvalidInput(f"Options.{name} is a whole number from 1 on; it was {value!r}")
