"""What tapes remember: one record per NumPy call, and one per op that the call stands for."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradproof.frontends.record.place import Place
from gradproof.ir.program import Phase

LEAF = "input"  # a Variable or a watched array
CONSTANT = "constant"
CALL = "call"  # a NumPy function, not yet taken apart into ops
CUSTOM = "custom"  # the result of a function with a gradient of its own
ITEM = "item"

_NOTHING: Mapping[str, Any] = {}
_serial = itertools.count()


@dataclass(eq=False)
class TapeToken:
    """Stands for one recording of one tape; records name it, so that a tape can be dropped at once."""

    is_alive: bool = True


@dataclass(frozen=True, eq=False)
class Origin:
    """Why a value is a constant to the tapes although it was computed from something that is not.

    `reason` is one of the causes of a missing gradient, `roots` the leaves the value was computed from.
    """

    reason: str
    place: Place | None
    roots: frozenset[object] = frozenset()
    what: str = ""


_ITSELF = object()


class Record:
    """A value and how it was made. Nothing of it changes later but the cache `lowered`."""

    __slots__ = (
        "_lowered",
        "call",
        "inputs",
        "op",
        "origin",
        "params",
        "phase",
        "place",
        "scope",
        "serial",
        "tapes",
        "value",
    )

    def __init__(
        self,
        op: str,
        inputs: tuple[Record, ...],
        value: Any,
        place: Place | None = None,
        tapes: tuple[TapeToken, ...] = (),
        params: Mapping[str, Any] = _NOTHING,
        phase: Phase = "forward",
        scope: int | None = None,
        call: Any = None,
        origin: Origin | None = None,
    ) -> None:
        self.op, self.inputs, self.value, self.place, self.tapes = op, inputs, value, place, tapes
        self.params, self.phase, self.scope, self.call, self.origin = params, phase, scope, call, origin
        self.serial = next(_serial)
        self._lowered: Any = None

    @property
    def lowered(self) -> Any:
        """None until somebody has looked for it."""
        return self if self._lowered is _ITSELF else self._lowered

    @lowered.setter
    def lowered(self, ended: Any) -> None:
        """A record that held itself would hold all its numbers until the collector comes by."""
        self._lowered = _ITSELF if ended is self else ended

    @property
    def is_discrete(self) -> bool:
        return not isinstance(self.value, tuple) and self.value.dtype.kind in "biu"

    @property
    def is_tracked(self) -> bool:
        """Whether a tape that is still of use has seen it; what only finished tapes saw is a constant."""
        if self.op == LEAF:
            return True
        for token in self.tapes:  # noqa: SIM110 - runs for every operand, and a generator is slow
            if token.is_alive:
                return True
        return False


class TapeCall:
    """A NumPy function and its arguments, with records in the place of traced arrays.

    The function is a callable, or a ufunc and the name of its method.
    """

    __slots__ = ("args", "function", "kwargs")

    def __init__(self, function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any] = _NOTHING) -> None:
        self.function, self.args, self.kwargs = function, args, kwargs

    @property
    def name(self) -> str:
        """As users spell it: `numpy.unwrap`, `add.reduceat`."""
        if isinstance(self.function, tuple):
            return f"numpy.{self.function[0].__name__}.{self.function[1]}"
        module = getattr(self.function, "__module__", None) or "numpy"
        return f"{module}.{self.function.__name__}"


def constant(
    value: Any, origin: Origin | None = None, phase: Phase = "forward", place: Place | None = None
) -> Record:
    return Record(CONSTANT, (), np.asarray(value), place, origin=origin, phase=phase)


def ancestors(
    records: Iterable[Record], inputs: Callable[[Record], Iterable[Record]] | None = None
) -> list[Record]:
    """All records that `records` were made from, themselves included, in the order they were made."""
    found: dict[int, Record] = {}
    waiting = list(records)
    while waiting:
        record = waiting.pop()
        if record.serial not in found:
            found[record.serial] = record
            waiting.extend(record.inputs if inputs is None else inputs(record))
    return [found[serial] for serial in sorted(found)]
