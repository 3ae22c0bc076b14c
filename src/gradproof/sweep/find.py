"""What a sweep has found: a gradient that is not right, confirmed by differences of what was computed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradproof.audit.by_norm import is_right_by_norm
from gradproof.diagnosis.report import GradientReport
from gradproof.frontends.library.model import OpCall
from gradproof.ir import types
from gradproof.ir.capture import Capture
from gradproof.ir.types import Array
from gradproof.options import Options
from gradproof.sweep.oracle import by_differences, exact_value

MODE_DEPENDENT = "mode-dependent"
KINDS = ("wrong", "nonfinite", "inaccurate", "missing", MODE_DEPENDENT)
# There the problem itself, and not the way of solving it, magnifies roundings; or the rule departs on purpose.
_NO_FAULT = ("ill-conditioned", "straight-through")
SMALL = 1e-300  # zero is known to no relative precision
SHARP = 1e-6  # a reference that is less sure than this, beside itself, is none
AGREES = 1e-9  # of the reference and the oracle, beyond the radius: neither is the other's echo


@dataclass(frozen=True, eq=False)
class Find:
    """A gradient that is not right: for which argument, at which entry, and what it should be."""

    kind: str
    sample: OpCall
    source: str
    entry: tuple[int, ...]
    observed: float | None
    expected: float
    dtype: str
    mode: str | None = None
    cause: str = ""
    rule: str = ""
    headline: str = ""
    value: float | None = None  # of the function there


@dataclass(frozen=True, eq=False)
class Row:
    """A judged gradient with what it was judged from."""

    report: GradientReport
    capture: Capture
    place: int


def find_in(sample: OpCall, row: Row, options: Options) -> Find | None:
    """The find that a judged gradient is, if it is the library's and the oracle confirms it."""
    report = row.report
    kind = report.verdict.value
    if kind not in KINDS or report.reference is None or not report.reference.size:
        return None
    if not has_value(row.capture):
        return None  # a function whose value is beyond the dtype has no gradient in it either
    if report.observed is None and not report.reference.any():
        return None  # a derivative that is zero may well be left out
    if not float(np.abs(report.reference).max()) <= float(np.finfo(types.numpy_dtype(report.dtype)).max):
        return (
            None  # it has entries that the dtype does not hold, and what an inverse does with them is its own
        )
    causes = [one for one in report.diagnostics if one.severity != "note"]
    if kind == "inaccurate" and is_right_by_norm(report, options):
        return None
    if any(one.kind in _NO_FAULT for one in causes):
        return None
    entry = worst_entry(report.observed, report.reference)
    expected = confirmed(row, entry)
    if expected is None:
        return None
    observed = None if report.observed is None else float(report.observed[entry])
    if not is_of_the_dtype(observed, expected, report.dtype):
        return None
    if kind == "inaccurate" and not is_beyond(observed, expected, lowest_dtype(sample, row), options):
        return None
    told = causes[0] if causes else None
    return Find(
        kind,
        sample,
        report.source,
        entry,
        observed,
        expected,
        report.dtype,
        cause=told.kind if told else "",
        rule=(told.op or "") if told else "",
        headline=told.headline if told else "",
        value=value_of(report),
    )


def value_of(report: GradientReport) -> float | None:
    return None if report.target_value is None else float(np.real(report.target_value))


def lowest_dtype(sample: OpCall, row: Row) -> str:
    """Of all that goes in and what comes out: no more digits than that can be asked for."""
    names = [row.report.dtype, *(types.dtype_name(x) for x in sample.arrays.values())]
    program = row.capture.program
    names += [] if program is None else [program[id].dtype for id in program.outputs]
    return min(filter(types.is_real, names), key=types.precision_bits)


def is_beyond(observed: float | None, expected: float, dtype: str, options: Options) -> bool:
    """Whether a number is off by more than a dtype allows."""
    if observed is None or not np.isfinite(observed):
        return True
    return not abs(observed - expected) <= options.tolerance(dtype) * abs(expected)


def has_value(capture: Capture) -> bool:
    """Whether the number that was differentiated is one that its dtype holds, be it infinite in the library.

    Where the library says itself that it is no number, it is outside of what the op is meant for.
    """
    program = capture.program
    if program is None:
        return True
    (target,) = (program[id] for id in program.outputs)
    if target.value is None or bool(np.isfinite(target.value).all()):
        return True
    if bool(np.isnan(target.value).any()):
        return False
    exact = exact_value(capture)
    return exact is not None and abs(exact) <= float(np.finfo(types.numpy_dtype(target.dtype)).max)


def is_of_the_dtype(observed: float | None, expected: float, dtype: str) -> bool:
    """Whether the true value is one that the dtype holds, and the difference is more than its smallest normal number.

    Libraries may flush what is below to zero, and have no other way than infinity above.
    """
    limits = np.finfo(types.numpy_dtype(dtype))
    off = abs(expected) if observed is None else abs(observed - expected)
    return abs(expected) <= float(limits.max) and not off <= float(limits.smallest_normal)


def worst_entry(observed: Array | None, reference: Array) -> tuple[int, ...]:
    """Where the gradient is farthest off; what is not finite comes first."""
    if observed is None or observed.shape != reference.shape:
        off = np.abs(reference)
    else:
        with np.errstate(all="ignore"):
            off = np.abs(observed.astype(np.complex128) - reference)
    place = int(np.argmax(np.where(np.isnan(off), np.inf, off)))
    return tuple(int(k) for k in np.unravel_index(place, reference.shape))


def confirmed(row: Row, entry: tuple[int, ...]) -> float | None:
    """The true value of an entry by differences, where reference and differences agree on it."""
    reference, radius = row.report.reference, row.report.reference_radius
    assert reference is not None
    found = by_differences(row.capture, row.place, entry)
    if found is None or np.iscomplexobj(reference):
        return None
    value = float(reference[entry])
    radius = np.zeros(()) if radius is None else radius
    allowed = float(np.broadcast_to(radius, reference.shape)[entry]) + AGREES * abs(found)
    is_sharp = allowed <= SHARP * max(abs(found), abs(value), SMALL)
    return found if abs(found - value) <= allowed and is_sharp else None
