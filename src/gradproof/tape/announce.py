"""Tells whoever listens of every gradient that a tape has computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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


def announce(finished: Finished) -> None:
    for listener in tuple(LISTENERS):
        listener(finished)
