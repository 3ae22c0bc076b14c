"""A matrix that `cholesky` cannot take apart: it is not positive definite, or is none any more after rounding."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gradproof.causes._nonfinite import diagnose, line_of, way_row
from gradproof.causes._places import capital
from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.diagnostic import Annotation, Diagnostic, Fix
from gradproof.diagnosis.first_nonfinite import Nonfinite
from gradproof.ir.program import Node, Program
from gradproof.ir.span import Span

_NONE_REAL = (
    "{line} asks `cholesky` for a factor of a matrix that has none: only a positive definite matrix, one whose "
    "eigenvalues are all positive, is a factor times its transpose. "
)


def indefinite(case: Case, found: Diagnostic, program: Program, node: Node, span: Span) -> Diagnostic:
    """In exact arithmetic, too, there is no factor."""
    return replace(
        found,
        headline=f"the matrix of `cholesky` is not positive definite, so `{case.capture.target}` has no gradient",
        primary=Annotation(span, "has no factor here"),
        evidence=(*found.evidence, *_eigenvalue(program, node)),
        why=_NONE_REAL.format(line=capital(line_of(span)))
        + f"`{case.capture.target}` has no value here, and a function without a value has no slope.",
        fix=Fix(
            "keep the parameters where the matrix is positive definite, or build it as a factor times its transpose"
        ),
    )


def rounded_indefinite(case: Case, found: Nonfinite) -> list[Diagnostic]:
    """Without rounding there is one, or else the target would have no value; empty for another op."""
    node = found.origin
    if node.op != "cholesky":
        return []
    dtype = found.program[node.inputs[0]].dtype
    return list(
        diagnose(
            case,
            found,
            found.trail[0],
            headline="rounding leaves a matrix to `cholesky` that is not positive definite",
            label=f"has no factor in {dtype}",
            rows=(*_eigenvalue(found.program, node), *way_row(found)),
            why=_NONE_REAL.format(line=capital(line_of(node.span)))
            + "In exact arithmetic the matrix is. Its smallest eigenvalue is so small beside its largest that rounding "
            "decides its sign. The result is NaN, and spoils everything computed from it, up to the gradient.",
            fix=Fix(
                "add a small number to the diagonal of the matrix, or compute this part in a wider dtype"
            ),
        )
    )


def _eigenvalue(program: Program, node: Node) -> tuple[tuple[str, str], ...]:
    """The smallest one of the matrix as it was given, beside the largest: what the reader can look at."""
    given: Any = program[node.inputs[0]].value
    if given is None or not np.isfinite(given).all():
        return ()
    values = np.linalg.eigvalsh(np.asarray(given, "complex128" if np.iscomplexobj(given) else "float64"))
    worst = values.reshape(-1, values.shape[-1])[np.argmin(values.reshape(-1, values.shape[-1])[:, 0])]
    return (("eigenvalues", f"from {words.significant(worst[0], 3)} to {words.significant(worst[-1], 3)}"),)
