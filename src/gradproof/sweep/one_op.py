"""One op of a library swept: its samples at all points, its finds reduced, as plain data."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice
from typing import Any

import numpy as np

from gradproof import __version__
from gradproof.audit.silenced import undisturbed
from gradproof.audit.versions import installed_version
from gradproof.cluster.workers import ending_worker_after
from gradproof.frontends.library.model import LibraryOp, OpCall, SweptLibrary
from gradproof.frontends.select import library_of
from gradproof.options import Options
from gradproof.sweep.find import Find
from gradproof.sweep.no_fault import RANDOM
from gradproof.sweep.plan import Plan
from gradproof.sweep.points import ORDINARY, at_points, with_labels
from gradproof.sweep.reduce import reduced
from gradproof.sweep.script import call_of, script_of, with_result
from gradproof.sweep.trial import IMPURE, Tally, tried

FORMAT = 1
SECONDS = 30.0  # of computing for one gradient: there are thousands
LARGEST = 128  # entries of a sample: larger ones show nothing that smaller ones do not
SHORT = 3  # entries of an axis that a sample is cut to if it is larger
PATIENCE = 20  # times the time for an op: calls are reduced after it, and a call cannot be interrupted
PARTS = 3  # of a result that has several
TIME_OVER = "the time for the op was over"


def sweep_op(framework: str, name: str, plan: Plan) -> dict[str, Any]:
    """Everything found about one op."""
    library = library_of(framework)
    ops = library.ops()
    op = next(op for op in ops if op.name == name)
    with ending_worker_after(PATIENCE * plan.seconds * len(plan.dtypes) + SECONDS):
        return {**swept(library, op, plan), "of": len(ops)}


def swept(library: SweptLibrary, op: LibraryOp, plan: Plan) -> dict[str, Any]:
    began = time.process_time()
    options = Options(fixes=False, seconds=SECONDS)
    total, n_samples, groups = Tally(), 0, _Groups()
    for dtype in plan.dtypes:
        samples = _samples(library, op, plan, dtype)
        first = list(islice(samples, 1))  # to look for calls of an op may take longer than to try them
        until = time.process_time() + plan.seconds
        for sample in chain(first, samples):
            if time.process_time() > until:
                total.reasons[TIME_OVER] += 1
                break
            n_samples += 1
            found = tried(library, sample, options)
            if (
                not found.verdicts and len(sample.wrt) > 1
            ):  # a library may refuse some arguments: labels, sizes
                found = tried(library, replace(sample, wrt=sample.wrt[:1]), options)
            total.add(found)
            groups.add(found.finds)
    if (
        total.reasons[IMPURE] or total.reasons[RANDOM]
    ):  # what draws has no gradient of its own, be it drawn alike
        groups = _Groups()
    return {
        "format": FORMAT,
        "gradproof": __version__,
        "framework": library.framework,
        "version": installed_version(library.framework),
        "op": op.name,
        "order": plan.order,
        "plan": plan.to_data(),
        "samples": n_samples,
        "verdicts": dict(total.verdicts),
        "reasons": dict(total.reasons.most_common(20)),
        "faults": _merged([_data(library, finds, options) for finds in groups.found()]),
        "seconds": round(time.process_time() - began, 3),
    }


def _merged(faults: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those whose smallest script is the same are one, whatever cause was seen first in the larger ones."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for fault in faults:
        known = found.setdefault((fault["kind"], fault["mode"], fault["script"]), fault)
        if known is not fault:
            known["seen"] += fault["seen"]
            for field in ("dtypes", "points"):
                known[field] = list(dict.fromkeys([*known[field], *fault[field]]))
    return list(found.values())


class _Groups:
    """Finds of one op that are one fault, as far as can be told: same kind, argument, mode and cause."""

    def __init__(self) -> None:
        self._by_key: dict[tuple[Any, ...], list[Find]] = {}

    def add(self, finds: list[Find]) -> None:
        for find in finds:
            key = (find.kind, find.source, find.mode, find.cause, find.rule)
            self._by_key.setdefault(key, []).append(find)

    def found(self) -> list[list[Find]]:
        return list(self._by_key.values())


def _samples(library: SweptLibrary, op: LibraryOp, plan: Plan, dtype: str) -> Iterator[OpCall]:
    """Those that differ in more than their numbers, the smaller first; the first of them at the edges before the rest.

    What a library compiles it compiles once for all points of a sample, so these are cheaper than another one.
    """
    kept: dict[Any, OpCall] = {}
    with undisturbed():
        drawn = sorted(op.samples(dtype), key=lambda one: _size(one) or LARGEST)
    for sample in map(_small, drawn):
        if sample.arrays and _size(sample) <= LARGEST:
            shapes = tuple((x.ndim, x.size == 0) for x in sample.arrays.values())
            kept.setdefault((sample.call, shapes), with_labels(sample))
    chosen = _spread(list(kept.values()), plan.samples)
    numbers = [replace(one, order=plan.order) for sample in chosen for one in _as_numbers(library, sample)]
    full = [one for one in numbers if all(x.size for x in one.arrays.values())]
    several = [one for one in full if any(x.size > 1 for x in one.arrays.values())]
    at_edges = (several or full)[: plan.at_points]
    for sample in sorted(numbers, key=lambda one: one not in at_edges):
        if ORDINARY in plan.points:
            yield sample
        if sample in at_edges:
            yield from at_points(sample, list(plan.points))


def _small(sample: OpCall) -> OpCall:
    """A large sample with all its axes cut short: where its op does not take that, it is refused as it is called.

    Not where indices stand in the call: they belong to the sizes, and a library may read what they point to unasked.
    """
    if _size(sample) <= LARGEST or "[" in sample.call:
        return sample
    cut = {name: x[(slice(SHORT),) * x.ndim].copy() for name, x in sample.arrays.items()}
    return replace(sample, arrays=cut)


def _spread(samples: list[OpCall], count: int) -> list[OpCall]:
    """So many of them, evenly from the first to the last, so that late attributes and empty arrays have their turn."""
    places = np.linspace(0, len(samples) - 1, min(count, len(samples))).astype(int)
    return [samples[k] for k in places]


def _size(sample: OpCall) -> int:
    return sum(x.size for x in sample.arrays.values())


def _as_numbers(library: SweptLibrary, sample: OpCall) -> Iterator[OpCall]:
    """The sample with each part of its result made one number; nothing where the library refuses the call."""
    try:
        with undisturbed():
            parts = library.parts(call_of(library, sample))
    except Exception:
        return
    for part in parts[:PARTS]:
        if part.shape == () or 0 < int(np.prod(part.shape)) <= LARGEST:
            yield with_result(library, sample, part)


def _data(library: SweptLibrary, finds: list[Find], options: Options) -> dict[str, Any]:
    """A fault by the smallest script that shows it."""
    least = min(finds, key=lambda find: _size(find.sample))
    small = reduced(library, least, options)
    asked = None if small.observed is None else small.entry
    return {
        "kind": least.kind,
        "source": least.source,
        "mode": least.mode,
        "cause": least.cause,
        "rule": least.rule,
        "headline": small.headline,
        "dtypes": sorted({find.dtype for find in finds}),
        "points": list(dict.fromkeys(find.sample.point for find in finds)),
        "seen": len(finds),
        "call": small.sample.call,
        "entry": list(small.entry),
        "observed": None if small.observed is None else repr(small.observed),
        "expected": repr(small.expected),
        "script": script_of(library, small.sample, small.source, asked, small.mode),
    }
