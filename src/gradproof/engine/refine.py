"""The precision ladder: float64 balls first, then `arb` balls of doubling precision, until the question is decided."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gradproof.clock import TimeIsOver, doing, now
from gradproof.domains.ball import BallDomain
from gradproof.domains.ball64 import BallDomain64, all_finite
from gradproof.domains.exact_product64 import SharpBallDomain64
from gradproof.domains.flint_library import library
from gradproof.domains.packed_ball import PackedBallDomain
from gradproof.engine.derive import vjp
from gradproof.engine.run import Run, run
from gradproof.errors import BeyondMemory, NotSupported
from gradproof.ir import types
from gradproof.ir.program import Program
from gradproof.ir.types import Array
from gradproof.options import Options

FIRST_ARB_BITS = 128
BYTES_PER_BALL = {
    SharpBallDomain64: 16,
    BallDomain64: 16,
    PackedBallDomain: 48,
    BallDomain: 110,
}  # the last as Python objects, measured
MANY = 5_000  # numbers in a program from which balls in plain memory pay
DEARER = 4.0  # how much longer than the last rung the next one takes, measured on convolutional networks


@dataclass(frozen=True)
class Enclosure:
    """The true value of an array: within `rad` of `mid`, entry by entry. An infinite radius: nothing is known."""

    mid: Array
    rad: Array

    @cached_property
    def is_bounded(self) -> bool:
        return all_finite(self.rad)


@dataclass(frozen=True)
class Refined:
    """Enclosures of everything asked for, the rung that gave them, and whether the question was decided there."""

    enclosures: tuple[Enclosure, ...]
    rung: str
    precision_bits: int
    decided: bool
    reason: str | None  # why the climb ended undecided
    run: Run


class Unknown:
    """Counts the entries without a bound from rung to rung of arbitrary precision.

    What is unknown on two of them is not unknown for want of precision.
    """

    def __init__(self) -> None:
        self._counts: list[int] = []

    def see(self, enclosures: Sequence[Enclosure], result: Run) -> None:
        if isinstance(result.m.domain, BallDomain64):
            return
        unbounded = (e.rad for e in enclosures if not e.is_bounded)
        self._counts.append(sum(int(np.count_nonzero(~np.isfinite(rad))) for rad in unbounded))

    @property
    def stays(self) -> bool:
        return len(self._counts) > 1 and 0 < self._counts[-1] == self._counts[-2]


Measure = Callable[[Run], Sequence[Any]]
Question = Callable[[tuple[Enclosure, ...], Run], bool]


def refine(program: Program, measure: Measure, is_decided: Question, options: Options) -> Refined:
    """Climb until `is_decided` accepts the enclosures of what `measure` computes from a run."""
    deadline = None if options.seconds is None else now() + options.seconds
    refined: Refined | None = None
    reason, took = None, 0.0
    for domain, bits in _rungs(program, options.precision_cap_bits):
        began = now()
        if refined is not None and deadline is not None and began + DEARER * took > deadline:
            # What is decided by now would be lost if the next rung were given up halfway.
            reason = (
                f"the time limit of {options.seconds:g} s (Options.seconds) ends the climb at {refined.rung}"
            )
            break
        try:
            _check_memory(program, domain, options)
            with doing(domain.name):
                refined = _climb(domain, bits, program, measure, is_decided)
        except NotSupported as error:
            reason = str(error)  # the next rung may be able to
            continue
        except BeyondMemory as error:
            if refined is None:
                raise
            reason = str(error)
            break
        except TimeIsOver as error:
            if refined is None:
                raise
            reason = str(error)
            break
        if refined.decided:
            return refined
        took = now() - began
        reason = f"the enclosure is still too wide at {refined.rung}"
    if refined is None:
        raise NotSupported(reason or "no domain can run this program")
    return Refined(refined.enclosures, refined.rung, refined.precision_bits, False, reason, refined.run)


def gradient_measure(wrt: Sequence[int]) -> Measure:
    """What to compute from a run when the gradient of its scalar output is wanted."""

    def measure(result: Run) -> Sequence[Any]:
        # Where the function has no value (the log of -1) it has no slope, though a formula for one may go on.
        seed = 1.0 if has_value(result) else np.nan
        return vjp(result, [result.m.literal(np.asarray(seed))], wrt)

    return measure


def has_value(result: Run) -> bool:
    """Whether the scalar output of a run is a number, be it too large for float64."""
    y = result.values[result.program.outputs[0]]
    if isinstance(y, np.ndarray) and y.dtype == object:
        return all(bool(entry.is_finite()) for entry in y.reshape(-1))
    return bool(np.isfinite(result.m.domain.leave(y)).all())


def _rungs(program: Program, cap_bits: int) -> Iterator[tuple[Any, int]]:
    yield BallDomain64(), 53
    if entry_count(program) > MANY:
        yield SharpBallDomain64(), 53
    bits = FIRST_ARB_BITS
    while bits <= cap_bits:
        yield arb_domain(program, bits), bits
        bits *= 2


def arb_domain(program: Program, bits: int) -> BallDomain | PackedBallDomain:
    """Balls of this precision; for a large real program in plain memory, where the library allows it."""
    is_real = not any(types.is_complex(node.dtype) for node in program.nodes)
    packs = bits == PackedBallDomain.precision_bits and is_real and entry_count(program) > MANY
    return PackedBallDomain() if packs and library() is not None else BallDomain(bits)


def _climb(domain: Any, bits: int, program: Program, measure: Measure, is_decided: Question) -> Refined:
    result = run(domain, program)
    with domain.active():
        enclosures = tuple(Enclosure(*domain.leave(value)) for value in measure(result))
    return Refined(enclosures, domain.name, bits, is_decided(enclosures, result), None, result)


def _check_memory(program: Program, domain: Any, options: Options) -> None:
    entries = entry_count(program)
    needed = 2 * entries * BYTES_PER_BALL[type(domain)]  # every value and every gradient
    if needed > options.memory_limit_bytes:
        raise BeyondMemory(
            f"{domain.name} for {entries:,} numbers would take {_size(needed)}, "
            f"and the limit is {_size(options.memory_limit_bytes)}"
        )


def _size(n_bytes: int) -> str:
    for unit, name in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if n_bytes >= unit:
            return f"{n_bytes / unit:.1f} {name}"
    return f"{n_bytes} bytes"


def entry_count(program: Program) -> int:
    """How many real numbers a program computes."""
    return sum(math.prod(node.shape) for node in program.nodes if not types.is_discrete(node.dtype))
