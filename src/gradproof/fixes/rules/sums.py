"""Sums and products taken in another order, so that what cancels does so before anything is rounded."""

from __future__ import annotations

from gradproof.fixes.rule import POSITIVE, rule

_CANCEL = "leave out what is added and taken away again"
_ORDER = "subtract the large numbers from each other first, and add the small one last"
_HALVES = "subtract before you halve, so that the sum of large numbers is never rounded"
_FACTOR = "subtract before you multiply, so that the large products are never formed"
_SCALE = "subtract before you scale, so that the small number is never added to the large one"

# fmt: off
rule("(C + X) - C", "X", _CANCEL, {"C": 1e5, "X": 1e-3})
rule("(X - C) + C", "X", _CANCEL)
rule("C - (C + X)", "-X", _CANCEL, {"C": 1e5, "X": 1e-3})
rule("C - (C - X)", "X", _CANCEL, {"C": 1e5, "X": 1e-3})
rule("(C - X) - C", "-X", _CANCEL, {"C": 1e5, "X": 1e-3})
rule("((C + X) + Y) - C", "X + Y", _CANCEL, {"C": 1e5, "X": 1e-3, "Y": 2e-3})
rule("(A + B) - (A + C)", "B - C", _CANCEL, {"A": 1e5, "B": 1e-3, "C": 2e-3})
rule("(A + B) - (A - B)", "2 * B", _CANCEL, {"A": 1e5, "B": 1e-3})
rule("(X * S + C) - S", "(X - 1) * S + C", _SCALE, {"X": 1.0, "S": 1e10, "C": 1.0})
rule("(X * S - S) + C", "(X - 1) * S + C", _SCALE)
rule("(X * S + C) - T * S", "(X - T) * S + C", _SCALE, {"X": 1.0, "T": 1.0, "S": 1e10, "C": 1.0})
rule("(A + B) - C", "(A - C) + B", _ORDER, {"A": 1e8, "B": 1.0, "C": 1e8})
rule("(A - B) - C", "(A - C) - B", _ORDER, {"A": 1e8, "B": 1.0, "C": 1e8})
rule("(A - B) + C", "A - (B - C)", _ORDER, {"A": 1.0, "B": 1e8, "C": 1e8})
rule("(A + B) + C", "A + (B + C)", _ORDER, {"A": 1.0, "B": 1e8, "C": -1e8})
rule("A - (B + C)", "(A - B) - C", _ORDER, {"A": 1e8, "B": 1e8, "C": 1.0})
rule("A - (B - C)", "(A - B) + C", _ORDER, {"A": 1e8, "B": 1e8, "C": 1.0})
rule("(A + B) - (C + D)", "(A - C) + (B - D)", _ORDER, {"A": 1e8, "B": 1.0, "C": 1e8, "D": 0.5})
rule("(A + B) / 2 - A", "(B - A) / 2", _HALVES, {"A": 1000.0, "B": 1000.0 + 2.0**-14})
rule("((A + B) + C) / 2 - A", "((B - A) + C) / 2", _HALVES, {"A": 1e5, "B": 1e5, "C": 2.0**-20})
rule("((A + B) + C) / 2 - C", "((A - C) + B) / 2", _HALVES, {"A": 1e5, "B": 2.0**-20, "C": 1e5})
rule("A * B - A * C", "A * (B - C)", _FACTOR, {"A": 3.3, "B": 1000.0 + 2.0**-10, "C": 1000.0})
rule("A * B - A", "A * (B - 1)", _FACTOR, {"A": 3.3, "B": 1.0 + 2.0**-20})
rule("A - A * B", "A * (1 - B)", _FACTOR, {"A": 3.3, "B": 1.0 + 2.0**-20})
rule("A / C - B / C", "(A - B) / C", _FACTOR, {"A": 1000.0 + 2.0**-10, "B": 1000.0, "C": 3.3}, C=POSITIVE)
rule("A * (1 + B) - A", "A * B", _CANCEL, {"A": 3.3, "B": 1e-6})
rule("(A + B) * C - A * C", "B * C", _CANCEL, {"A": 1e5, "B": 1e-3, "C": 3.3})
rule("X * (Y / Z)", "(X * Y) / Z", "multiply before you divide", Z=POSITIVE)
rule("(X * Y) / Z", "X * (Y / Z)", "divide before you multiply, so that the product stays in range",
     {"X": 1e30, "Y": 1e30, "Z": 1e30}, Z=POSITIVE)
rule("(X * Y) * Z", "X * (Y * Z)",
     "multiply the large number with the small one first, so that the product stays in range",
     {"X": 1e30, "Y": 1e30, "Z": 1e-30})
rule("X / (Y * Z)", "X / Y / Z", "divide twice, so that the product is never formed",
     {"X": 1e30, "Y": 1e30, "Z": 1e30}, Y=POSITIVE, Z=POSITIVE)
rule("-(A - B)", "B - A", "subtract the other way round")
