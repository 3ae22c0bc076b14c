"""What a frontend tells a sweep about its library: which ops there are, how each is called, how a script is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gradproof.ir.types import Array

NAMES = ("x", "y", "z", "u", "v", "w", "a", "b", "c", "d")
Entry = tuple[int, ...]
Lines = Callable[[Sequence[str], str, Entry], Sequence[str]]
"""Source for the names of the arguments, the one that is differentiated for, and an entry of it."""
WholeLines = Callable[[Sequence[str], str, Entry | None], Sequence[str]]
"""The same; without an entry for what has none, as None."""
WEIGHTS, DIRECTIONS, FIRST = "weights", "directions", "first"
"""The names under which arrays multiply the result, and its gradient where that is differentiated once more, so that no
entry can hide another; and of the function whose gradient that is."""


@dataclass(frozen=True, eq=False)
class OpCall:
    """One call of an op as text over named arrays, so that what is run is what is shown.

    `arrays` are its real arguments, of which `wrt` are differentiated for; `result` picks a part of what the call
    returns, and `weights` make one number of it: None for a plain sum. A result that is one number has `entry` `()`.
    Of order 2, what is differentiated is the gradient for the first of `wrt`, made one number. `labels` are arguments
    that hold few whole numbers beside others that do not: other numbers mean nothing there.
    """

    op: str
    call: str
    arrays: Mapping[str, Array]
    wrt: tuple[str, ...] = ()
    result: str = "{}"
    weights: Array | None = None
    entry: tuple[int, ...] | None = None
    point: str = "ordinary"
    labels: tuple[str, ...] = ()
    order: int = 1


@dataclass(frozen=True)
class LibraryOp:
    """An op under the name users know, and its calls at ordinary inputs, by dtype; those are made when asked for."""

    name: str
    samples: Callable[[str], Iterator[OpCall]]


@dataclass(frozen=True)
class Part:
    """A part of a result that can be differentiated: how it is picked, its shape, and whether it is complex."""

    pick: str
    shape: tuple[int, ...]
    dtype: str
    is_complex: bool


def parts_of(result: Any, is_number: Callable[[Any], bool], part: Callable[[str, Any], Part]) -> list[Part]:
    """The numbers that a call returns, by itself or among others in a list; `part` describes one of them."""
    if is_number(result):
        return [part("{}", result)]
    if not isinstance(result, tuple | list):
        return []
    return [part(f"{{}}[{k}]", item) for k, item in enumerate(result) if is_number(item)]


@dataclass(frozen=True)
class SweptLibrary:
    """One framework for a sweep. All text in here is source of a user's program.

    `gradient` writes the lines that print an entry of the gradient of `f` for one of its arguments, or that there is
    none; `modes` compute
    entries in other ways than `check` does, by name, and `mode_lines` write the lines for them.
    """

    framework: str
    header: tuple[str, ...]
    ops: Callable[[], Sequence[LibraryOp]]
    array_text: Callable[[Array], str]
    constant: Callable[[Array], Any]
    total: str  # the sum of all entries of {}
    real: str  # the real part of {}
    parts: Callable[[Any], Sequence[Part]]
    gradient: WholeLines
    slope: Callable[
        [Sequence[str]], Sequence[str]
    ]  # the body of a function: the gradient of `first` as one number
    modes: Mapping[str, Callable[[Callable[..., Any], Sequence[Any], int, Sequence[Entry]], Any]] = field(
        default_factory=dict
    )
    mode_lines: Mapping[str, Lines] = field(default_factory=dict)


def at(entry: Entry) -> str:
    """The index of an entry as source."""
    return f"[{', '.join(map(str, entry))}]" if entry else ""


def named(k: int) -> str:
    """What the argument in this place is called in scripts."""
    return NAMES[k] if k < len(NAMES) else f"x{k}"
