"""What a sweep is asked to do: its dtypes, its points, and how much of each op."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from typing import Any

from gradproof.errors import InvalidInput
from gradproof.sweep.points import ORDINARY, POINTS

DTYPES = ("float32", "float64")


@dataclass(frozen=True)
class Plan:
    """The same for every op, so that results of one directory can be held against each other."""

    dtypes: tuple[str, ...] = DTYPES
    points: tuple[str, ...] = (ORDINARY, *POINTS)
    samples: int = 4  # calls of an op that differ in more than their numbers
    at_points: int = 1  # of these, how many are tried at edge inputs
    seconds: float = 20.0  # for one op in one dtype
    order: int = 1  # 2: the gradient of the gradient

    def to_data(self) -> dict[str, Any]:
        known = asdict(self)
        if self.order == 1:
            del known["order"]  # as it was written before there was another
        return {key: list(value) if isinstance(value, tuple) else value for key, value in known.items()}


def plan_of(
    dtypes: str | None, points: str | None, samples: int | None, seconds: float, order: int = 1
) -> Plan:
    """From what was written on the command line; calls whose number is told are all tried at all points."""
    return Plan(
        dtypes=_listed("--dtypes", dtypes, DTYPES),
        points=_listed("--points", points, (ORDINARY, *POINTS)),
        samples=samples or Plan.samples,
        at_points=samples or Plan.at_points,
        seconds=seconds,
        order=order,
    )


def _listed(option: str, text: str | None, known: Sequence[str]) -> tuple[str, ...]:
    if text is None:
        return tuple(known)
    given = tuple(part.strip() for part in text.split(","))
    for one in given:
        if one not in known:
            raise InvalidInput(f"{option} takes {', '.join(known)}; it was {one!r}")
    return given


def matching(names: Sequence[str], pattern: str | None) -> list[str]:
    """The ops that a pattern of the shell names; the last parts of a name are enough."""
    if pattern is None:
        return list(names)
    wanted = [part.strip() for part in pattern.split(",")]
    found = [
        name
        for name in names
        if any(fnmatchcase(name, one) or fnmatchcase(name, f"*.{one}") for one in wanted)
    ]
    if not found:
        raise InvalidInput(f"--ops {pattern} names none of the {len(names)} ops of the library")
    return found
