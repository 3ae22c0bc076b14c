"""Differences of squares, roots, reciprocals and fractions, written so that nothing cancels."""

from __future__ import annotations

from gradproof.fixes.rule import ABOVE_ONE, POSITIVE, UNIT, rule

_ROOTS = "multiply by the sum of the roots and divide by it again: their difference then is exact"
_SQUARES = "write the difference of squares as a product, (a - b) (a + b)"
_FRACTIONS = "bring the fractions to one denominator"
_NEAR = 1.0 + 2.0**-12

# fmt: off
rule("A**2 - B**2", "(A - B) * (A + B)", _SQUARES, {"A": 4097.0, "B": 4096.5})
rule("A**2 - 1", "(A - 1) * (A + 1)", _SQUARES, {"A": _NEAR})
rule("1 - A**2", "(1 - A) * (1 + A)", _SQUARES, {"A": _NEAR})
rule("(A + B)**2 - A**2", "B * (2 * A + B)", _SQUARES, {"A": 1000.0, "B": 1e-3})
rule("(A + B)**2 - (A - B)**2", "4 * A * B", "write the difference of squares as a product, 4 a b",
     {"A": 1000.0, "B": 1e-3})
rule("(A**2 - 2 * A * B) + B**2", "(A - B)**2", "subtract before you square", {"A": 1000.37, "B": 1000.02})
rule("(A**2 - 2 * (A * B)) + B**2", "(A - B)**2", "subtract before you square", {"A": 1000.37, "B": 1000.02})
rule("(A**2 + B**2) - 2 * A * B", "(A - B)**2", "subtract before you square", {"A": 1000.37, "B": 1000.02})
rule("(A**2 + B**2) - 2 * (A * B)", "(A - B)**2", "subtract before you square", {"A": 1000.37, "B": 1000.02})
rule("A**3 - B**3", "(A - B) * (A**2 + A * B + B**2)", "write the difference of cubes as a product",
     {"A": 1000.5, "B": 1000.0})
rule("(A + B)**3 - A**3", "B * (3 * A**2 + 3 * A * B + B**2)", "write the difference of cubes as a product",
     {"A": 1000.0, "B": 1e-3})
rule("sqrt(A) - sqrt(B)", "(A - B) / (sqrt(A) + sqrt(B))", _ROOTS, {"A": 1e6 + 0.5, "B": 1e6}, A=POSITIVE,
     B=POSITIVE)
rule("sqrt(A) - B", "(A - B**2) / (sqrt(A) + B)", _ROOTS, {"A": 1e6 + 0.5, "B": 1e3}, A=POSITIVE, B=POSITIVE)
rule("B - sqrt(A)", "(B**2 - A) / (sqrt(A) + B)", _ROOTS, {"A": 1e6 + 0.5, "B": 1e3}, A=POSITIVE, B=POSITIVE)
rule("sqrt(A) - 1", "(A - 1) / (sqrt(A) + 1)", _ROOTS, A=POSITIVE)
rule("1 - sqrt(A)", "(1 - A) / (sqrt(A) + 1)", _ROOTS, A=POSITIVE)
rule("sqrt(1 + X) - 1", "X / (sqrt(1 + X) + 1)", _ROOTS, {"X": 1e-6}, X=UNIT)
rule("1 - sqrt(1 + X)", "-X / (sqrt(1 + X) + 1)", _ROOTS, {"X": 1e-6}, X=UNIT)
rule("1 - sqrt(1 - X)", "X / (sqrt(1 - X) + 1)", _ROOTS, {"X": 1e-6}, X=UNIT)
rule("sqrt(1 - X) - 1", "-X / (sqrt(1 - X) + 1)", _ROOTS, {"X": 1e-6}, X=UNIT)
rule("sqrt(1 + X) - sqrt(1 - X)", "2 * X / (sqrt(1 + X) + sqrt(1 - X))", _ROOTS, {"X": 1e-6}, X=UNIT)
rule("sqrt(X + C) - sqrt(X)", "C / (sqrt(X + C) + sqrt(X))", _ROOTS, {"X": 1e6, "C": 1.0}, X=POSITIVE,
     C=POSITIVE)
rule("sqrt(X**2 + C) - X", "C / (sqrt(X**2 + C) + X)", _ROOTS, {"X": 1e4, "C": 1.0}, X=POSITIVE, C=POSITIVE)
rule("X - sqrt(X**2 + C)", "-C / (sqrt(X**2 + C) + X)", _ROOTS, {"X": 1e4, "C": 1.0}, X=POSITIVE, C=POSITIVE)
rule("X - sqrt(X**2 - C)", "C / (sqrt(X**2 - C) + X)", _ROOTS, {"X": 1e4, "C": 1.0}, X=ABOVE_ONE, C=(0.01, 1.0))
rule("sqrt(X**2 - C) - X", "-C / (sqrt(X**2 - C) + X)", _ROOTS, {"X": 1e4, "C": 1.0}, X=ABOVE_ONE,
     C=(0.01, 1.0))
rule("sqrt(X**2 + C) + X", "C / (sqrt(X**2 + C) - X)", _ROOTS, {"X": -1e4, "C": 1.0}, X=(-3.0, -0.01),
     C=POSITIVE)
rule("(sqrt(B**2 - 4 * A * C) - B) / (2 * A)", "-2 * C / (B + sqrt(B**2 - 4 * A * C))",
     "divide by the sum instead of forming the difference", {"A": 1.0, "B": 1e4, "C": 1.0}, A=(0.01, 0.2),
     B=ABOVE_ONE, C=(0.01, 1.0))
rule("(-B + sqrt(B**2 - 4 * A * C)) / (2 * A)", "-2 * C / (B + sqrt(B**2 - 4 * A * C))",
     "divide by the sum instead of forming the difference", {"A": 1.0, "B": 1e4, "C": 1.0}, A=(0.01, 0.2),
     B=ABOVE_ONE, C=(0.01, 1.0))
rule("(-B - sqrt(B**2 - 4 * A * C)) / (2 * A)", "2 * C / (sqrt(B**2 - 4 * A * C) - B)",
     "divide by the sum instead of forming the difference", {"A": 1.0, "B": -1e4, "C": 1.0}, A=(0.01, 0.2),
     B=(-3.0, -1.0), C=(0.01, 1.0))
rule("cbrt(A) - cbrt(B)", "(A - B) / (cbrt(A)**2 + cbrt(A) * cbrt(B) + cbrt(B)**2)",
     "divide by the sum of the squared roots: the difference then is exact", {"A": 1e6 + 0.5, "B": 1e6},
     A=POSITIVE, B=POSITIVE)
rule("1 / A - 1 / B", "(B - A) / (A * B)", _FRACTIONS, {"A": 1e3 + 2.0**-8, "B": 1e3}, A=POSITIVE, B=POSITIVE)
rule("1 / X - 1 / (X + C)", "C / (X * (X + C))", _FRACTIONS, {"X": 1e3, "C": 1e-2}, X=POSITIVE, C=POSITIVE)
rule("1 / (X + C) - 1 / X", "-C / (X * (X + C))", _FRACTIONS, {"X": 1e3, "C": 1e-2}, X=POSITIVE, C=POSITIVE)
rule("1 / sqrt(X) - 1 / sqrt(X + C)", "C / (sqrt(X) * sqrt(X + C) * (sqrt(X) + sqrt(X + C)))", _FRACTIONS,
     {"X": 1e4, "C": 1.0}, X=POSITIVE, C=POSITIVE)
rule("A / B - C / D", "(A * D - C * B) / (B * D)", _FRACTIONS, A=POSITIVE, B=POSITIVE, C=POSITIVE, D=POSITIVE)
rule("1 / X - 1", "(1 - X) / X", _FRACTIONS, {"X": 1.0000131}, X=POSITIVE)
rule("1 - 1 / X", "(X - 1) / X", _FRACTIONS, {"X": 1.0000131}, X=POSITIVE)
rule("A / B - 1", "(A - B) / B", _FRACTIONS, {"A": 1e3 + 2.0**-8, "B": 1e3}, A=POSITIVE, B=POSITIVE)
rule("1 - A / B", "(B - A) / B", _FRACTIONS, {"A": 1e3 + 2.0**-8, "B": 1e3}, A=POSITIVE, B=POSITIVE)
rule("X / (X + C) - 1", "-C / (X + C)", _FRACTIONS, {"X": 1e5, "C": 1.0}, X=POSITIVE, C=POSITIVE)
rule("1 - X / (X + C)", "C / (X + C)", _FRACTIONS, {"X": 1e5, "C": 1.0}, X=POSITIVE, C=POSITIVE)
rule("(1 / (X + 1) - 2 / X) + 1 / (X - 1)", "2 / (X * (X**2 - 1))", _FRACTIONS, {"X": 100.0}, X=ABOVE_ONE)
rule("X / (X + 1) - (X + 1) / (X - 1)", "-(3 * X + 1) / (X**2 - 1)", _FRACTIONS, {"X": 1e4}, X=ABOVE_ONE)
rule("1 / sqrt(1 - X) - 1", "X / (sqrt(1 - X) * (1 + sqrt(1 - X)))", _ROOTS, {"X": 1e-6}, X=UNIT)
