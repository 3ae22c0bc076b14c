"""Where only single entries of a gradient are off, and it is right by norm: worth a warning, not an error.

A verdict counts entries, and so does a check that was asked for. In a program that runs, an entry far below the
largest that lost its last digits misleads no optimiser.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gradproof.diagnosis.diagnostic import BY_NORM, Diagnostic
from gradproof.diagnosis.entries import norm
from gradproof.diagnosis.report import GradientReport
from gradproof.ir import types
from gradproof.judge.verdict import Verdict
from gradproof.options import Options


def softened(gradient: GradientReport, options: Options) -> GradientReport:
    """The same gradient; where it is right by norm its causes are warnings and say so, and it does if it has none."""
    if gradient.verdict is not Verdict.INACCURATE or not is_right_by_norm(gradient, options):
        return gradient
    if all(one.rank == 0 for one in gradient.diagnostics):
        return replace(gradient, reason="; ".join(filter(None, (BY_NORM, gradient.reason))))
    return replace(gradient, diagnostics=tuple(map(_softened, gradient.diagnostics)))


def is_right_by_norm(gradient: GradientReport, options: Options) -> bool:
    """By the largest distance that the enclosure allows."""
    observed, reference, radius = gradient.observed, gradient.reference, gradient.reference_radius
    if observed is None or reference is None or observed.shape != reference.shape:
        return False
    distance = np.abs(observed.astype(np.complex128) - reference)
    distance = distance if radius is None else distance + radius
    size = norm(reference)
    tolerance = options.tolerances.get(_dtype(gradient), 0.0)
    return size > 0.0 and norm(distance) <= tolerance * size


def _dtype(gradient: GradientReport) -> str:
    """The dtype whose digits were asked for, which may be narrower than that of the gradient."""
    same = [name for name in types.REAL_BITS if types.digits_possible(name) == gradient.digits_possible]
    return same[0] if same and types.is_real(gradient.dtype) else gradient.dtype


def _softened(diagnostic: Diagnostic) -> Diagnostic:
    if diagnostic.severity != "error":
        return diagnostic
    return replace(diagnostic, severity="warning", notes=(*diagnostic.notes, BY_NORM))
