"""Putting things after what they need."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def after_needs(
    things: Iterable[T], needs: Callable[[T], Iterable[T]], key: Callable[[T], Hashable]
) -> Iterator[tuple[T, T]]:
    """Every thing once, after those it needs, otherwise as they come; each beside the one it had its turn for."""
    done: set[Hashable] = set()
    for first in things:
        waiting = [first]
        while waiting:
            thing = waiting[-1]
            missing = [one for one in needs(thing) if key(one) not in done]
            if key(thing) in done:
                waiting.pop()
            elif missing:
                waiting += missing
            else:
                done.add(key(waiting.pop()))
                yield first, thing
