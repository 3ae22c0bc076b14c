"""Tells whoever listens of every gradient that a tape has computed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from gradproof.tape.missing import Missing
from gradproof.tape.program import TapeSource
from gradproof.tape.proof import Proof
from gradproof.tape.state import TapeExit


@dataclass(frozen=True, eq=False)
class Finished:
    """A call of `gradient` or `jacobian` after its end.

    `given` are the sources as they were passed, `names` what the user calls them, `sources` what the tape
    found for each. `proof` has those of them that have a gradient, in the same order. `leaves` are the numbers that
    left while the tape recorded.
    """

    proof: Proof
    given: Sequence[Any]
    names: Sequence[str]
    sources: Sequence[TapeSource | Missing]
    leaves: Sequence[TapeExit] = ()


Listener = Callable[[Finished], None]

LISTENERS: list[Listener] = []


# What a check asks a tape is not the program's own: it alone hears the answer.
_ALONE: ContextVar[list[Finished] | None] = ContextVar("alone", default=None)


@contextmanager
def heard_alone() -> Iterator[list[Finished]]:
    """The calls made inside, in the order in which they ended; no other listener is told of them."""
    heard: list[Finished] = []
    token = _ALONE.set(heard)
    try:
        yield heard
    finally:
        _ALONE.reset(token)


def announce(finished: Finished) -> None:
    alone = _ALONE.get()
    for listener in tuple(LISTENERS) if alone is None else (alone.append,):
        listener(finished)
