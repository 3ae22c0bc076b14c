"""Functions of matrices whose own value is too large or too small for the dtype."""

from __future__ import annotations

from gradproof.fixes.rule import rule

_LOG_DET = (
    "take the logarithm of the determinant at once, which is an ordinary number where the determinant is none"
)

# fmt: off
rule("log(det(X))", "log_abs_det(X)", _LOG_DET, {"X": 1e-20},
     "for matrices with a negative determinant, whose logarithm has no value")
