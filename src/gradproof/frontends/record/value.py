"""The numbers of a tensor; where they stand, if whoever reads them is done before the program goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from gradproof.ir.types import Array


@dataclass(eq=False)
class Loan:
    """Whether numbers that belong to the program were handed out: beyond the block they may be others."""

    is_taken: bool = False


_LOAN: ContextVar[Loan | None] = ContextVar("loan", default=None)


@contextmanager
def lending() -> Iterator[Loan]:
    """In here, arrays may be views of memory that the program will go on to write into."""
    loan = Loan()
    token = _LOAN.set(loan)
    try:
        yield loan
    finally:
        _LOAN.reset(token)


def loan() -> Loan | None:
    return _LOAN.get()


@dataclass(frozen=True)
class Value:
    """A tensor: who it is, what it looks like and, on demand, its numbers.

    `fetch` reads the numbers when `array` is first asked for; what is lent meanwhile is not held for its numbers.
    Where they cannot be known `unknown` says why.
    """

    id: int
    dtype: str
    shape: tuple[int, ...] | None
    fetch: Callable[[], Array] | None = field(default=None, repr=False, compare=False)
    unknown: str | None = None

    @property
    def array(self) -> Array | None:
        return self._kept if "_kept" in self.__dict__ or loan() is None else self._lent

    @cached_property
    def _kept(self) -> Array | None:
        return None if self.fetch is None else np.asarray(self.fetch())

    @cached_property
    def _lent(self) -> Array | None:
        return None if self.fetch is None else np.asarray(self.fetch())
