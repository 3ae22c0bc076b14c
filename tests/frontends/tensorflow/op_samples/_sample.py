"""What a sample is, and the numbers samples are made of: generic ones, away from kinks, from a fixed seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Sample:
    """A call of TensorFlow with the arrays it is differentiated by.

    `verdicts` has one word per input; one word stands for all of them. `why` says what is TensorFlow's fault where
    the verdict is not `correct`. `is_bounded` is False where TensorFlow's backward ops compute something without a
    meaning, such as the logarithm of a negative number, and then do not use it.
    """

    call: Callable[..., Any]
    inputs: tuple[Array, ...]
    verdicts: tuple[str, ...] = ("correct",)
    why: str = ""
    is_bounded: bool = True

    def verdict(self, index: int) -> str:
        return self.verdicts[index if len(self.verdicts) > 1 else 0]


def sample(
    call: Callable[..., Any],
    *inputs: Array,
    verdicts: Any = "correct",
    why: str = "",
    is_bounded: bool = True,
) -> Sample:
    words = (verdicts,) if isinstance(verdicts, str) else tuple(verdicts)
    return Sample(call, inputs, words, why, is_bounded)


class Numbers:
    """Arrays from one seed."""

    def __init__(self, seed: int, dtype: str = "float64") -> None:
        self._rng = np.random.default_rng(seed)
        self._dtype = dtype

    def any(self, *shape: int) -> Array:
        """Of both signs, none nearer to zero than 0.2."""
        size = self._rng.uniform(0.2, 1.7, shape)
        return np.asarray(size * self._rng.choice([-1.0, 1.0], shape), self._dtype)

    def positive(self, *shape: int) -> Array:
        return np.asarray(self._rng.uniform(0.3, 1.7, shape), self._dtype)

    def share(self, *shape: int) -> Array:
        """Between 0.1 and 0.9."""
        return np.asarray(self._rng.uniform(0.1, 0.9, shape), self._dtype)

    def complex(self, *shape: int) -> Array:
        return (self.any(*shape) + 1j * self.any(*shape)).astype(
            np.complex64 if self._dtype == "float32" else np.complex128
        )

    def regular(self, n: int) -> Array:
        """A matrix that is far from singular."""
        return np.asarray(self.any(n, n) + 3 * np.eye(n), self._dtype)

    def symmetric(self, n: int) -> Array:
        """Positive definite."""
        a = self.any(n, n)
        return np.asarray(a @ a.T + n * np.eye(n), self._dtype)
