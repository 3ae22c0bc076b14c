"""Every setting that can change a verdict or its cost, in one place and passed explicitly."""

from __future__ import annotations

from dataclasses import dataclass, field

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
    """How strict, how precise, how long."""

    tolerances: dict[str, float] = field(default_factory=lambda: dict(TOLERANCES))
    # An entry is measured against itself or this share of the largest entry of its gradient, whichever is more.
    share_of_largest: float = 1e-3
    precision_cap_bits: int = 2048
    memory_limit_bytes: int = 4 * 2**30
    # Checked between the rungs of the ladder: no gradient is worth more than this unless the user says so.
    seconds: float | None = 60.0

    def tolerance(self, dtype: str) -> float:
        return self.tolerances[dtype]
