"""Calls of a function that has no samples of its own: its signature says what it takes, and trying says what fits."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from gradproof.frontends.library.model import LibraryOp, OpCall, named
from gradproof.ir.types import Array

Shape = tuple[int, ...]

# Alike for all arrays first, then pairs and triples of products, broadcasts and tables with indices.
_ALIKE: tuple[Shape, ...] = ((3,), (2, 3), (3, 3), (), (0, 3), (1, 4, 4, 2), (2, 2, 3), (1, 4, 4, 4, 2))
_PAIRS: tuple[tuple[Shape, ...], ...] = (
    ((2, 3), (3,)), ((2, 3), (3, 2)), ((3, 3), (3, 2)), ((3, 3), (3,)), ((4,), (2,)), ((1, 4, 4, 2), (2, 2, 2, 1)),
    ((2, 3), (2,)), ((3,), ()), ((2, 3), (1, 3)), ((1, 4, 2), (2, 2, 1)), ((1, 3, 3, 3, 2), (2, 2, 2, 2, 1)),
)  # fmt: skip
_VALUES: dict[str, tuple[float, float]] = {"unit": (0.15, 0.85), "any": (-2.0, 2.0), "above one": (1.2, 3.0)}
# What an argument of this name usually is, as source; several are tried.
_BY_NAME: dict[str, tuple[str, ...]] = {
    "axis": ("0", "-1"), "axes": ("0", "(0, 1)", "1"), "dim": ("0",), "n": ("2",), "k": ("1", "0"), "num": ("3",),
    "num_segments": ("3",), "shape": ("(3, 2)", "(6,)"), "newshape": ("(3, 2)", "(6,)"), "reps": ("2", "(2, 1)"),
    "repeats": ("2",), "shift": ("1",), "pad_width": ("1",), "indices": ("[0, 1]", "[[0, 1]]", "[2, 0]"),
    "segment_ids": ("[0, 0, 1]", "[0, 1]"), "source": ("0",), "destination": ("1",), "axis1": ("0",), "axis2": ("1",),
    "q": ("0.5",), "N": ("3",), "num_classes": ("3",), "permutation": ("(1, 0)",), "perm": ("[1, 0]",),
    "paddings": ("[[1, 1]]", "[[1, 1], [0, 1]]"), "multiples": ("[2]", "[1, 2]"), "strides": ("1", "[1, 1, 1, 1]"),
    "ksize": ("2", "[1, 2, 2, 1]"), "padding": ("'SAME'", "'VALID'"), "block_size": ("2",), "size": ("[3, 5]", "2"),
    "sections": ("3",), "indices_or_sections": ("3",), "num_or_size_splits": ("3",),
    "condition": ("[True, False, True]",), "seq_lengths": ("[1, 2]",),
    "labels": ("[0, 2]", "[0, 1, 2]"), "targets": ("[0, 2]",), "depth": ("3",), "begin": ("[0]", "[0, 1]"),
    "frame_length": ("2",), "frame_step": ("1",), "power": ("3",), "order": ("1",), "rank": ("1",),
    "dims": ("[0]",), "reduction_indices": ("0",), "dimension": ("0",), "num_upper": ("1",), "num_lower": ("1",),
    "dimensions": ("(0,)",), "dtype": (), "fft_length": ("[4]", "[2, 2]"), "equation": ("'ij,jk->ik'",),
}  # fmt: skip
# Optional ones that change the meaning, beyond the switches that every signature shows by itself.
_CHOICES: dict[str, tuple[str, ...]] = {
    "axis": ("0",), "ord": ("1", "'fro'", "'nuc'", "2", "float('inf')"), "norm": ("'ortho'", "'forward'"),
    "ddof": ("1",),
    "reduction": ("'mean'",), "padding": ("'VALID'",), "mode": ("'full'", "'reflect'", "'symmetric'"), "n": ("2",),
    "k": ("1",), "alpha": ("0.5",), "method": ("'bilinear'", "'bicubic'", "'lower'"), "lower": ("False",),
    "keepdims": ("True",), "side": (),
}  # fmt: skip
_NOT_TRIED = frozenset(
    {
        "name",
        "out",
        "precision",
        "preferred_element_type",
        "unique_indices",
        "out_sharding",
        "promote_integers",
    }
)
TRIALS = 120  # calls of one function until one fits
KEPT = 6  # samples of one function that differ in shapes or attributes


@dataclass(frozen=True)
class Probe:
    """How a library's functions are tried: what runs a call, and whether arguments have to be named."""

    evaluate: Callable[[str, Mapping[str, Array]], bool]  # whether the call returns finite real numbers
    by_keyword: bool = False
    given: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # by function: arguments as source


def probed(probe: Probe, path: str, function: Callable[..., Any]) -> LibraryOp:
    """The function as an op whose samples are looked for when they are asked for."""

    def samples(dtype: str) -> Iterator[OpCall]:
        parameters = _parameters(function)
        needed = [p for p in parameters if p.default is inspect.Parameter.empty]
        if not needed or len(needed) > 6:
            return
        n_tried, n_kept = 0, 0
        for alike in _candidates(probe, path, needed, dtype):
            for sample in alike:
                n_tried += 1
                if probe.evaluate(sample.call, sample.arrays):
                    n_kept += 1
                    yield sample
                    yield from _varied(probe, sample, parameters) if n_kept == 1 else ()
                    break
            if n_kept >= KEPT or n_tried >= TRIALS:
                return

    return LibraryOp(path, samples)


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        found = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []
    starred = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    return [p for p in found if p.kind not in starred and p.name not in _NOT_TRIED]


def _candidates(
    probe: Probe, path: str, needed: Sequence[inspect.Parameter], dtype: str
) -> Iterator[Iterator[OpCall]]:
    """Calls that differ in their shapes or attributes, each with several ranges of numbers: one that fits is enough."""
    given = probe.given.get(path, {})
    options = [_options(p, given) for p in needed]
    for chosen in product(*options):
        places = [k for k, text in enumerate(chosen) if text is None]
        if not places:
            continue
        for shapes in _shapes(len(places)):
            yield _in_ranges(probe, path, needed, chosen, shapes, dtype)


def _in_ranges(
    probe: Probe,
    path: str,
    needed: Sequence[inspect.Parameter],
    chosen: Sequence[str | None],
    shapes: Sequence[Shape],
    dtype: str,
) -> Iterator[OpCall]:
    for low, high in _VALUES.values():
        rng = np.random.default_rng(len(path))
        arrays = {named(k): _drawn(rng, shape, low, high, dtype) for k, shape in enumerate(shapes)}
        names = iter(arrays)
        texts = [next(names) if text is None else text for text in chosen]
        yield _sample(probe, path, needed, texts, arrays)


def _options(parameter: inspect.Parameter, given: Mapping[str, str]) -> list[str | None]:
    """What may stand in its place: None is an array."""
    if parameter.name in given:
        return [given[parameter.name]]
    usual = _BY_NAME.get(parameter.name, ())
    return [*usual] if usual else [None]


def _shapes(count: int) -> Iterator[tuple[Shape, ...]]:
    yield from ((shape,) * count for shape in _ALIKE)
    if count == 2:
        yield from _PAIRS
    if count > 2:
        yield from ((first, *(second,) * (count - 1)) for first, second in _PAIRS)


def _drawn(rng: np.random.Generator, shape: Shape, low: float, high: float, dtype: str) -> Array:
    return np.round(rng.uniform(low, high, shape), 3).astype(dtype)


def _sample(
    probe: Probe,
    path: str,
    needed: Sequence[inspect.Parameter],
    texts: Sequence[str],
    arrays: dict[str, Array],
) -> OpCall:
    by_name = [probe.by_keyword or p.kind is inspect.Parameter.KEYWORD_ONLY for p in needed]
    args = [f"{p.name}={text}" if named_ else text for p, text, named_ in zip(needed, texts, by_name)]
    return OpCall(path, f"{path}({', '.join(args)})", arrays, tuple(arrays))


def _varied(probe: Probe, sample: OpCall, parameters: Sequence[inspect.Parameter]) -> Iterator[OpCall]:
    """The same call with one optional argument that is not at its default."""
    for parameter in parameters:
        if parameter.default is inspect.Parameter.empty:
            continue
        texts: tuple[str, ...] = _CHOICES.get(parameter.name, ())
        if isinstance(parameter.default, bool):
            texts = (repr(not parameter.default),)
        for text in texts:
            call = f"{sample.call[:-1]}, {parameter.name}={text})"
            if probe.evaluate(call, sample.arrays):
                yield OpCall(sample.op, call, sample.arrays, sample.wrt)
