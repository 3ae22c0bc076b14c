"""What one entry of one op is in exact arithmetic, on the very inputs it had."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from flint import arb

from gradproof.diagnosis.flow import Place, operand, value_at
from gradproof.domains.ball import BallDomain
from gradproof.errors import GradproofError
from gradproof.ir.program import Program
from gradproof.ops import TABLE, Arithmetic

BITS = 256
MAX_ENTRIES = 20_000  # an op on more numbers is not computed in balls only to name the kind of a fault
QUOTIENTS = frozenset({"div", "xdivy"})
ORDINARY = (0.5, 2.0)  # every entrywise op is defined at one of them, whatever its domain
LONGEST_EXPONENT = 1e6  # beyond, the exponent itself is told by its size
LARGEST = {
    "float16": 65504.0, "bfloat16": 3.3895313892515355e38, "float32": 3.4028234663852886e38,
    "float64": 1.7976931348623157e308, "complex64": 3.4028234663852886e38, "complex128": 1.7976931348623157e308,
}  # fmt: skip
SMALLEST_NORMAL = {
    "float16": 2.0**-14, "bfloat16": 2.0**-126, "float32": 2.0**-126, "float64": 2.0**-1022,
    "complex64": 2.0**-126, "complex128": 2.0**-1022,
}  # fmt: skip


@dataclass(frozen=True)
class Exact:
    """An entry known to many digits, or known to have no value. Sizes are logarithms: they may exceed every dtype."""

    is_defined: bool
    is_zero: bool = False
    sign: float = 1.0
    log10_size: float = -math.inf

    def is_beyond(self, dtype: str) -> bool:
        """Too large for the dtype."""
        return self.is_defined and not self.is_zero and self.log10_size > math.log10(LARGEST[dtype])

    def is_below(self, dtype: str) -> bool:
        """Too small for the dtype to hold with all its digits, and not zero."""
        return self.is_defined and not self.is_zero and self.log10_size < math.log10(SMALLEST_NORMAL[dtype])

    @property
    def words(self) -> str:
        """Two digits, however large or small."""
        if self.is_zero or not self.is_defined:
            return "0" if self.is_zero else "no number"
        if abs(self.log10_size) > LONGEST_EXPONENT:
            return f"about 10^{self.log10_size:.1e}"
        exponent = math.floor(self.log10_size)
        digits = 10.0 ** (self.log10_size - exponent)
        if round(digits, 1) >= 10.0:
            digits, exponent = 1.0, exponent + 1
        sign = "-" if self.sign < 0 else ""
        if -4 <= exponent <= 5:
            return f"{sign}{float(f'{digits * 10.0**exponent:.2g}'):g}"
        return f"{sign}{digits:.1f}e{exponent}"


def exact_entry(program: Program, place: Place) -> Exact | None:
    """None where it is not known: an op without exact meaning, or on too many numbers."""
    return measured(local_ball(program, place))


def is_exact(program: Program, place: Place) -> bool:
    """Whether an op returned what exact arithmetic gives on the very inputs it had: nothing was rounded here."""
    ball, value = local_ball(program, place), value_at(program, place)
    return isinstance(ball, arb) and np.isrealobj(value) and bool(ball == arb(float(value)))


def local_ball(program: Program, place: Place, instead: Mapping[int, float] = MappingProxyType({})) -> Any:
    """The ball of an entry, computed from the inputs it had; None where its op has no meaning or is too large.

    `instead` puts other numbers in the place of operands of an entrywise op.
    """
    node = program[place.id]
    op = TABLE.get(node.op)
    if op is None or node.is_discrete or op.n_outputs > 1:
        return None
    m = Arithmetic(BallDomain(BITS))
    entrywise = op.slopes is not None
    if not entrywise and sum(int(np.prod(program[id].shape)) for id in node.inputs) > MAX_ENTRIES:
        return None
    try:
        with m.domain.active():
            if entrywise:
                had = (value_at(program, operand(program, place, k)) for k in range(len(node.inputs)))
                xs = [instead.get(k, x) for k, x in enumerate(had)]
            else:
                xs = [program[id].value for id in node.inputs]
            y = getattr(m, node.op)(*(m.literal(np.asarray(x)) for x in xs), **node.params)
            return np.asarray(y, object)[() if entrywise else place.index]
    except (GradproofError, ValueError, TypeError, AttributeError, IndexError):
        return None


def culprit_of(program: Program, place: Place) -> Place | None:
    """The operand that an entrywise op has no finite result for.

    That is the first one that lets the op have a value when an ordinary number stands in its place. Where the op has
    a value and only its dtype cannot hold it: what it divides by, or else its first operand.
    """
    node = program[place.id]
    op = TABLE.get(node.op)
    if op is None or op.slopes is None or not node.inputs:
        return None
    usual = 1 if node.op in QUOTIENTS else 0
    trials = () if len(node.inputs) == 1 or _has_value(program, place) else range(len(node.inputs))
    gives = (k for k in trials if any(_has_value(program, place, {k: x}) for x in ORDINARY))
    return operand(program, place, next(gives, usual))


def _has_value(program: Program, place: Place, instead: Mapping[int, float] = MappingProxyType({})) -> bool:
    ball = local_ball(program, place, instead)
    return ball is not None and bool(ball.is_finite())


def measured(entry: Any) -> Exact | None:
    """A real ball as an exact value; None where its width hides even its size."""
    if not isinstance(entry, arb):
        return None
    if not entry.is_finite():
        return Exact(is_defined=False)
    if entry.is_zero():
        return Exact(is_defined=True, is_zero=True)
    low = entry.abs_lower()
    if not low > 0:
        return None
    return Exact(True, False, 1.0 if entry > 0 else -1.0, float(low.log()) / math.log(10.0))
