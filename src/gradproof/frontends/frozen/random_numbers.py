"""Random numbers of Python's or NumPy's that are drawn while a function is traced: the same ones in every call."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from gradproof.frontends.frozen.outside_reads import Read


def states_of(reads: Iterable[Read]) -> dict[int, tuple[Read, str]]:
    """What the generators that a function reads are about to draw, by the identity of the generator."""
    found = {}
    for read in reads:
        state = _state(read.value)
        if state is not None:
            found[id(read.value)] = read, state
    return found


def drawn_from(states: dict[int, tuple[Read, str]]) -> Iterator[Read]:
    """Those that have been drawn from since."""
    for read, before in states.values():
        if _state(read.value) != before:
            yield read


def _state(source: Any) -> str | None:
    """As text, which is compared; None for what draws no numbers."""
    if source is np.random or isinstance(source, np.random.RandomState):
        name, keys, *rest = source.get_state(legacy=True)
        return repr((name, np.asarray(keys).tobytes(), rest))
    if source is random or isinstance(source, random.Random):
        return repr(hash(source.getstate()))
    if isinstance(source, np.random.Generator):
        return repr({k: _plain(v) for k, v in source.bit_generator.state.items()})
    return None


def _plain(part: Any) -> Any:
    """NumPy shortens the text of a long array."""
    if isinstance(part, dict):
        return {key: _plain(value) for key, value in part.items()}
    return part.tobytes() if isinstance(part, np.ndarray) else part
