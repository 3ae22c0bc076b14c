"""The same gradient in the other modes of a library, against the reference that has already been proven."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from gradproof.engine.refine import Enclosure
from gradproof.errors import GradproofError
from gradproof.frontends.library.model import Entry, OpCall, SweptLibrary
from gradproof.ir.types import Array
from gradproof.judge.compare import compare
from gradproof.judge.verdict import Verdict
from gradproof.options import Options
from gradproof.sweep.find import (
    MODE_DEPENDENT,
    Find,
    Row,
    confirmed,
    has_value,
    is_beyond,
    is_of_the_dtype,
    lowest_dtype,
    value_of,
)
from gradproof.sweep.script import function_of

ENTRIES = 4  # that are looked at: forward mode runs once for each


def find_in_modes(
    library: SweptLibrary, sample: OpCall, rows: Sequence[Row], options: Options
) -> Iterator[Find]:
    """Gradients that are right in the ordinary mode and not in another one."""
    for row in rows:
        report = row.report
        is_right = report.verdict is Verdict.CORRECT and report.is_proven and report.reference is not None
        is_asked = report.source in sample.wrt and np.prod(report.shape)
        if not is_right or not is_asked or not has_value(row.capture):
            continue
        entries = _entries(report.reference)
        for mode in library.modes:
            observed = observed_in(library, sample, mode, report.source, entries)
            if observed is not None and _is_beyond(observed, row, entries, options):
                yield from _find(sample, row, mode, entries, observed, options)


def _entries(reference: Array | None) -> list[Entry]:
    """The largest, which the others are measured against, and some from all over the array."""
    assert reference is not None
    places = {
        int(np.argmax(np.abs(reference))),
        *np.linspace(0, reference.size - 1, ENTRIES - 1).astype(int).tolist(),
    }
    return [tuple(int(k) for k in np.unravel_index(place, reference.shape)) for place in sorted(places)]


def observed_in(
    library: SweptLibrary, sample: OpCall, mode: str, source: str, entries: Sequence[Entry]
) -> Array | None:
    """None where the library refuses: what it cannot do in a mode it says itself."""
    function, args = function_of(library, sample)
    try:
        return np.asarray(library.modes[mode](function, args, sample.wrt.index(source), entries))
    except Exception:
        return None


def _is_beyond(observed: Array, row: Row, entries: Sequence[Entry], options: Options) -> bool:
    reference, radius = row.report.reference, row.report.reference_radius
    assert reference is not None
    mids = np.array([reference[entry] for entry in entries])
    rads = np.zeros(len(entries)) if radius is None else np.array([radius[entry] for entry in entries])
    try:
        outcome = compare(observed, Enclosure(mids, rads), row.report.dtype, options).outcome
    except GradproofError:
        return False
    return outcome in ("beyond", "nonfinite")


def _find(
    sample: OpCall, row: Row, mode: str, entries: Sequence[Entry], observed: Array, options: Options
) -> Iterator[Find]:
    report = row.report
    assert report.reference is not None
    with np.errstate(all="ignore"):
        off = np.abs(observed - np.array([report.reference[entry] for entry in entries]))
    place = int(np.argmax(np.where(np.isnan(off), np.inf, off)))
    expected = confirmed(row, entries[place])
    value = float(observed[place])
    if expected is None or not is_of_the_dtype(value, expected, report.dtype):
        return
    if not is_beyond(value, expected, lowest_dtype(sample, row), options):
        return
    entry, known = entries[place], value_of(report)
    yield Find(MODE_DEPENDENT, sample, report.source, entry, value, expected, report.dtype, mode, value=known)
