"""A find made small: fewer arguments, fewer entries, plainer numbers, as long as the same fault shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from gradproof.frontends.library.model import OpCall, SweptLibrary
from gradproof.ir.types import Array
from gradproof.options import Options
from gradproof.sweep.find import Find
from gradproof.sweep.trial import tried

TRIALS = 60  # of one find: a smaller script is worth seconds, not minutes
PLAIN = (1.0, 0.0, 2.0, 0.5, -1.0)
FEW = 8  # entries up to which each number is looked at


def reduced(library: SweptLibrary, find: Find, options: Options) -> Find:
    """The smallest sample found that shows a fault of the same kind for the same argument."""
    trials = iter(range(TRIALS))

    def attempt(sample: OpCall) -> Find | None:
        if next(trials, None) is None:
            return None
        finds = tried(library, sample, options, with_modes=find.mode is not None).finds
        same = [one for one in finds if _shows_the_same(one, find)]
        return same[0] if same else None

    best = find
    for step in (_alone, _plain_result, _smaller, _one_entry, _plain_result, _plainer):
        best = _improved(best, step, attempt)
    return best


def _shows_the_same(one: Find, other: Find) -> bool:
    return (one.kind, one.source, one.mode) == (other.kind, other.source, other.mode)


def _improved(
    find: Find, step: Callable[[Find], Iterator[OpCall]], attempt: Callable[[OpCall], Find | None]
) -> Find:
    """Take the first proposal that still shows the fault, and propose anew from there."""
    while True:
        better = next((found for sample in step(find) if (found := attempt(sample)) is not None), None)
        if better is None:
            return find
        find = better


def _alone(find: Find) -> Iterator[OpCall]:
    """Only one argument is differentiated for."""
    if find.sample.wrt != (find.source,):
        yield replace(find.sample, wrt=(find.source,))


def _plain_result(find: Find) -> Iterator[OpCall]:
    """The result as it is, or a sum without weights."""
    if find.sample.entry is None:
        yield replace(find.sample, weights=None, entry=())
    if find.sample.weights is not None:
        yield replace(find.sample, weights=None)


def _one_entry(find: Find) -> Iterator[OpCall]:
    """One entry of the result: of those left, the first that shows the fault."""
    sample = find.sample
    if sample.weights is not None:
        yield from (
            replace(sample, weights=None, entry=tuple(int(k) for k in entry))
            for entry in np.argwhere(np.ones(sample.weights.shape, bool))[:FEW]
        )


def _smaller(find: Find) -> Iterator[OpCall]:
    """All axes of one length cut to a shorter one, or an array made a single number; the result with them."""
    sample = find.sample
    if sample.weights is not None:
        return  # they have the shape of a result that would change
    arrays = sample.arrays
    lengths = sorted({n for array in arrays.values() for n in array.shape if n > 1}, reverse=True)
    for length in lengths:
        for wanted in sorted({1, 2, length // 2, length - 1} - {0, length}):
            if wanted < length:
                yield replace(sample, arrays={key: _cut(x, length, wanted) for key, x in arrays.items()})
    for key, x in arrays.items():
        if x.ndim and x.size:
            yield replace(sample, arrays={**arrays, key: x.reshape(-1)[0].reshape(())})
            yield replace(sample, arrays={**arrays, key: x[0]})


def _cut(x: Array, length: int, wanted: int) -> Array:
    return np.ascontiguousarray(
        x[tuple(slice(wanted) if n == length else slice(None) for n in x.shape)]
    ).reshape(tuple(wanted if n == length else n for n in x.shape))


def _plainer(find: Find) -> Iterator[OpCall]:
    """Numbers with few digits."""
    arrays = find.sample.arrays
    for key, x in arrays.items():
        for made in _plainer_arrays(x) if key not in find.sample.labels else ():
            if not np.array_equal(made, x):
                yield replace(find.sample, arrays={**arrays, key: made})


def _plainer_arrays(x: Array) -> Iterator[Array]:
    for digits in (1, 2, 3):
        rounded = np.array([float(f"{value:.{digits - 1}e}") for value in x.reshape(-1)]).reshape(x.shape)
        if int(_cost(x)) > int(_cost(rounded.astype(x.dtype))):
            yield rounded.astype(x.dtype)
    if x.size > FEW:
        return
    for k in range(x.size):
        for value in PLAIN:
            made = x.copy()
            made.reshape(-1)[k] = value
            if _cost(made) < _cost(x):
                yield made


def _cost(x: Array) -> int:
    """How much there is to read, with the plain numbers in the order in which they are preferred."""
    order = {value: k for k, value in enumerate(PLAIN)}
    return sum(order.get(float(value), 10 * len(str(value))) for value in x.reshape(-1))
