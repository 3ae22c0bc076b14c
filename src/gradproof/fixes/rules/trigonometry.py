"""Differences of angles' functions, and angles from numbers near one."""

from __future__ import annotations

from gradproof.fixes.rule import POSITIVE, UNIT, rule

_HALF = "use the half-angle form, which does not subtract numbers near 1"
_SUM = "use the sum-to-product form, in which only the angles are subtracted"
_STEP = 2.0**-10

# fmt: off
rule("1 - cos(X)", "2 * square(sin(X / 2))", _HALF, {"X": 1e-3})
rule("cos(X) - 1", "-2 * square(sin(X / 2))", _HALF, {"X": 1e-3})
rule("(1 - cos(X)) / sin(X)", "tan(X / 2)", _HALF, {"X": 1e-3}, X=POSITIVE)
rule("sin(X) / (1 + cos(X))", "tan(X / 2)", _HALF, {"X": 3.141}, X=(0.01, 3.0))
rule("1 - sin(X)**2", "cos(X)**2", "use the square of the cosine, which is the same", {"X": 1.57})
rule("1 - cos(X)**2", "sin(X)**2", "use the square of the sine, which is the same", {"X": 1e-3})
rule("cos(X)**2 - sin(X)**2", "cos(2 * X)", "use cos(2 x), which is the same", {"X": 0.7854})
rule("sqrt(1 - cos(X)**2)", "sin(X)", "use the sine, which is the same for angles up to pi", {"X": 1e-3},
     "where the sine is negative, the root is its opposite", X=(0.01, 3.0))
rule("sin(A) - sin(B)", "2 * cos((A + B) / 2) * sin((A - B) / 2)", _SUM, {"A": 1.0 + _STEP**2, "B": 1.0})
rule("cos(A) - cos(B)", "-2 * sin((A + B) / 2) * sin((A - B) / 2)", _SUM, {"A": 1.0 + _STEP**2, "B": 1.0})
rule("tan(A) - tan(B)", "sin(A - B) / (cos(A) * cos(B))", _SUM, {"A": 1.0 + _STEP**2, "B": 1.0}, A=UNIT, B=UNIT)
rule("sin(X + E) - sin(X)", "2 * cos(X + E / 2) * sin(E / 2)", _SUM, {"X": 1.0, "E": 1e-6})
rule("cos(X + E) - cos(X)", "-2 * sin(X + E / 2) * sin(E / 2)", _SUM, {"X": 1.0, "E": 1e-6})
rule("tan(X + E) - tan(X)", "sin(E) / (cos(X) * cos(X + E))", _SUM, {"X": 1.0, "E": 1e-6}, X=(-0.5, 0.5),
     E=(-0.5, 0.5))
rule("atan(A) - atan(B)", "atan2(A - B, 1 + A * B)", "subtract inside one arctangent, atan2(a - b, 1 + a b)",
     {"A": 1000.5, "B": 1000.0})
rule("atan(X + C) - atan(X)", "atan2(C, 1 + X * (X + C))",
     "subtract inside one arctangent, atan2(c, 1 + x (x + c))", {"X": 1000.0, "C": 1.0})
rule("acos(1 - X)", "2 * asin(sqrt(X / 2))", "use the arcsine of the half angle, which keeps its digits near 1",
     {"X": 1e-6}, X=(0.01, 1.9))
rule("acos(X)", "2 * asin(sqrt((1 - X) / 2))",
     "use the arcsine of the half angle, which keeps its digits near 1", X=UNIT)
rule("acos(sqrt(X))", "asin(sqrt(1 - X))", "use the arcsine of the other leg", X=(0.01, 0.95))
rule("asin(X)", "atan2(X, sqrt((1 - X) * (1 + X)))", "use atan2 with both legs, which keeps its digits near 1",
     X=UNIT)
rule("asin(sqrt(1 - X))", "acos(sqrt(X))", "use the arccosine of the other leg", X=(0.01, 0.95))
rule("cos(acos(X))", "X", "leave out both functions, which undo each other", X=UNIT)
rule("sin(asin(X))", "X", "leave out both functions, which undo each other", X=UNIT)
rule("sin(acos(X))", "sqrt((1 - X) * (1 + X))", "use the root of (1 - x) (1 + x)", X=UNIT)
rule("tan(atan(X))", "X", "leave out both functions, which undo each other")
rule("sqrt(A**2 + B**2)", "hypot(A, B)", "use hypot, which neither overflows nor underflows",
     {"A": 1e25, "B": 1e25})
rule("X / sqrt(X**2 + Y**2)", "1 / sqrt(1 + (Y / X)**2)", "divide before you square, so that nothing overflows",
     {"X": 1e25, "Y": 1e25}, "for a negative first leg the sign differs, and for a leg of 0 there is no value",
     X=POSITIVE)
rule("(1 - cos(X)) / X**2", "0.5 * sinc(X / 2)**2",
     "use the square of sinc(x / 2), which has its true value at 0 too", {"X": 1e-3}, X=POSITIVE)
rule("acos(sin(A) * sin(B) + cos(A) * cos(B) * cos(D))",
     "2 * asin(sqrt(sin((A - B) / 2)**2 + cos(A) * cos(B) * sin(D / 2)**2))",
     "use the haversine form, which does not take the arccosine of a number near 1",
     {"A": 0.8, "B": 0.8001, "D": 1e-4}, A=(-1.5, 1.5), B=(-1.5, 1.5), D=(-1.5, 1.5))
