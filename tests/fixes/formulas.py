"""Known unstable formulas, each with a point at which it loses digits.

Written from the literature on floating point: expressions in the style of FPBench, losses, statistics, geometry,
physics. `python -m tests.fixes.formulas` prints what is found for each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gradproof.fixes.search import Aim, Candidate, search
from gradproof.fixes.verify import GradientPair, rounded_gradient
from gradproof.ir import types
from gradproof.options import Options
from tests.fixes.digits import true_gradient
from tests.fixes.expressions import program_of

OFFSET = tuple(1000.0 + k / 8 for k in range(6))
LOGITS = (100.0, 99.0, 97.5)


@dataclass(frozen=True)
class Formula:
    """An expression, the values of its names, and the dtype it is computed in; the first name is differentiated."""

    family: str
    text: str
    values: dict[str, Any]
    dtype: str = "float32"
    constants: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """Digits of the gradient as written, and with the fix found, if there is one."""

    before: float
    possible: float
    fix: Candidate | None

    @property
    def is_unstable(self) -> bool:
        return self.possible - self.before >= 1.5


def _f(
    family: str, text: str, dtype: str = "float32", constants: tuple[str, ...] = (), **values: Any
) -> Formula:
    return Formula(family, text, values, dtype, constants)


FORMULAS = (
    _f("roots", "sqrt(x + 1) - sqrt(x)", x=1e7),
    _f("roots", "sqrt(x + 1) - sqrt(x)", "float64", x=1e15),
    _f("roots", "square(sqrt(1 + x) - 1)", x=1e-6),
    _f("roots", "log(sqrt(x**2 + 1) - x)", x=3e3),
    _f("roots", "log(x - sqrt(x**2 - 1))", x=1e3),
    _f("roots", "square(1 - sqrt(1 - x**2))", x=1e-3),
    _f("roots", "log(cbrt(x + 1) - cbrt(x))", x=1e6),
    _f("roots", "1 / sqrt(x) - 1 / sqrt(x + 1)", x=1e5),
    _f("roots", "square((sqrt(b**2 - 4 * a * c) - b) / (2 * a))", b=1e4, a=1.0, c=1.0),
    _f("roots", "square((-b - sqrt(b**2 - 4 * a * c)) / (2 * a))", b=-1e4, a=1.0, c=1.0),
    _f("fractions", "1 / (x + 1) - 1 / x", x=1e5),
    _f("fractions", "(1 / (x + 1) - 2 / x) + 1 / (x - 1)", x=300.0),
    _f("fractions", "x / (x + 1) - (x + 1) / (x - 1)", x=3e4),
    _f("fractions", "square(1 - x / (x + 1))", x=1e6),
    _f("exponentials", "log(exp(x) - 1)", x=1e-6),
    _f("exponentials", "(exp(x) - 1) / x", x=1e-5),
    _f("exponentials", "square(exp(x) - 1)", "float64", x=1e-12),
    _f("exponentials", "1 / (exp(x) - 1)", x=1e-6),
    _f("exponentials", "square((exp(x) - exp(-x)) / 2)", x=1e-5),
    _f("exponentials", "sqrt((exp(x) - 2) + exp(-x))", x=1e-3),
    _f("exponentials", "square(cosh(x) - 1)", x=1e-3),
    _f("exponentials", "square(exp(a) - exp(b))", a=1.0000005, b=1.0),
    _f("exponentials", "log(1 - exp(-x))", x=1e-6),
    _f("exponentials", "square(power(1 + x, n) - 1)", x=1e-7, n=12.0, constants=("n",)),
    _f("exponentials", "power(1 + x, n)", x=3e-7, n=1e6, constants=("n",)),
    _f("exponentials", "(exp(x) - exp(-x)) / (exp(x) + exp(-x))", x=95.0),
    _f("exponentials", "square(1 - tanh(x))", x=7.0),
    _f("exponentials", "exp(x) / (exp(x) + 1)", x=100.0),
    _f("exponentials", "exp(x) * exp(-y)", x=100.0, y=101.0),
    _f("exponentials", "square(exp(x) / (exp(x) + exp(y)) - 0.5)", x=1.00001, y=1.0),
    _f("logarithms", "square(log(1 + x))", x=1e-6),
    _f("logarithms", "log(1 + x) / x", x=1e-5),
    _f("logarithms", "log(x + 1) - log(x)", x=1e6),
    _f("logarithms", "square(log((1 - x) / (1 + x)))", x=1e-6),
    _f("logarithms", "square(log((1 + x) / (1 - x)) / 2)", x=1e-6),
    _f("logarithms", "square(log(x / y))", x=1000.0001, y=1000.0),
    _f("logarithms", "log(x + sqrt(x**2 + 1))", x=-3e3),
    _f("logarithms", "((x + 1) * log(x + 1) - x * log(x)) - 1", x=1e6),
    _f("logarithms", "log(cosh(x))", x=100.0),
    _f("losses", "log(1 + exp(x))", x=100.0),
    _f("losses", "log(exp(x) + 1) - x", x=14.0),
    _f("losses", "-log(sigmoid(x))", x=-110.0),
    _f("losses", "-log(1 - sigmoid(x))", x=18.0),
    _f("losses", "-(y * log(sigmoid(x)) + (1 - y) * log(1 - sigmoid(x)))", x=18.0, y=0.25, constants=("y",)),
    _f("losses", "log(sum(exp(x)))", x=LOGITS),
    _f("losses", "log(mean(exp(x)))", x=LOGITS),
    _f("losses", "sum(w * log(softmax(x)))", x=(0.0, 120.0, 1.0), w=(1.0, 0.0, 0.0), constants=("w",)),
    _f("losses", "sum(w * (exp(x) / sum(exp(x))))", x=LOGITS, w=(1.0, 2.0, 4.0), constants=("w",)),
    _f("losses", "log(exp(a) + exp(b))", a=100.0, b=98.0),
    _f("losses", "log(exp(-x**2 / 2) / 2.5)", x=15.0),
    _f("losses", "square(1 - sigmoid(x)) * log(sigmoid(x))", x=12.0),
    _f("losses", "log(prod(x))", x=(1e-20, 2e-20, 3e-20)),
    _f("statistics", "sqrt(mean(x**2) - mean(x)**2)", x=OFFSET),
    _f("statistics", "square(sum(x**2) - sum(x)**2 / 6)", x=OFFSET),
    _f("statistics", "square(mean(x * y) - mean(x) * mean(y))", x=OFFSET, y=tuple(reversed(OFFSET))),
    _f("statistics", "log(1 - erf(x))", x=3.5),
    _f("statistics", "log(1 - ndtr(x))", x=5.0),
    _f("statistics", "log(ndtr(x))", x=-16.0),
    _f("statistics", "log(erfc(x))", x=11.0),
    _f("statistics", "square(lgamma(x + 1) - lgamma(x))", x=3e4),
    _f("statistics", "gamma(x + 1) / gamma(x)", x=40.0),
    _f("geometry", "square(a**2 - b**2)", a=4096.5, b=4096.0),
    _f("geometry", "sqrt((x**2 - 2 * x * y) + y**2)", x=1000.37, y=1000.02),
    _f("geometry", "sqrt(x**2 + y**2)", x=3e25, y=4e25),
    _f("geometry", "x / sqrt(x**2 + y**2)", x=3e25, y=4e25),
    _f("geometry", "acos(1 - x)", x=1.3e-7),
    _f("geometry", "square(1 - cos(x))", x=1e-3),
    _f("geometry", "(1 - cos(x)) / x**2", x=1e-3),
    _f("geometry", "square((1 - cos(x)) / sin(x))", x=1e-3),
    _f("geometry", "square(sin(x + e) - sin(x))", x=1.0, e=1e-5),
    _f("geometry", "square(cos(x + e) - cos(x))", x=1.0, e=1e-5),
    _f("geometry", "square(tan(x + e) - tan(x))", x=1.0, e=1e-5),
    _f("geometry", "log(atan(x + 1) - atan(x))", x=1e4),
    _f("geometry", "sqrt(1 - cos(x)**2)", x=1e-3),
    _f("geometry", "acos(sin(a) * sin(b) + cos(a) * cos(b) * cos(d))", a=0.8, b=0.8001, d=1e-4),
    _f("physics", "square(1 / sqrt(1 - v**2) - 1)", v=1e-3),
    _f("physics", "square(sqrt((1 + b) / (1 - b)) - 1)", b=1e-6),
    _f("physics", "x**3 / (exp(x) - 1)", x=1e-5),
    _f("sums", "square((c + x) - c)", x=1.3, c=1e7, constants=("c",)),
    _f("sums", "square((x * 1e10 + 1) - 1e10)", x=1.0),
    _f("sums", "square(((x + a) - b) - c)", x=0.3, a=1e7, b=1e7, c=0.1),
    _f("sums", "square((x + 1)**2 - 1)", x=1e-6),
    _f("sums", "square((x + y)**2 - x**2)", y=1e-3, x=300.0),
    _f("sums", "square(x * 3.3 - y * 3.3)", x=1000.0001, y=1000.0),
    _f("sums", "square(p * (1 + r) - p)", r=1e-6, p=3.3),
    _f("sums", "square((x * y) / z) * w", x=1e25, y=1e25, z=1e30, w=1.0),
)  # fmt: skip


# Written after the rules, from code that people have asked about; no rule was added for them.
HELD_OUT = (
    _f("held out", "square((1 + x) * exp(-x) - 1)", x=1e-3),
    _f("held out", "square(x - sin(x))", x=1e-2),
    _f("held out", "square(sqrt(x**2 + y**2) - x)", x=1e4, y=1.0),
    _f("held out", "(1 - exp(-a * t)) / a", a=1e-6, t=2.0, constants=("t",)),
    _f("held out", "log((1 - exp(-x)) / (1 + exp(-x)))", x=1e-5),
    _f("held out", "square(1 - x * x / (1 + x * x))", x=3e3),
    _f("held out", "square(log(a) - log(b)) / 2", a=500.001, b=500.0),
    _f("held out", "square(a * c - b * c)", a=3000.001, b=3000.0, c=1.7),
    _f("held out", "square(sqrt(1 + a / b) - 1)", a=1e-3, b=1e4),
    _f("held out", "sum(w * (x - log(sum(exp(x)))))", x=LOGITS, w=(1.0, 0.0, 0.0), constants=("w",)),
    _f("held out", "square(power(1 + x, 0.1) - 1)", x=1e-5),
    _f("held out", "square(atan(x) - 1.5707964)", x=1e5),
)  # fmt: skip


def outcome(formula: Formula) -> Outcome:
    program = program_of(formula.text, formula.values, formula.dtype, formula.constants)
    wrt = program.inputs[0]
    gradients = GradientPair(wrt, true_gradient(program, wrt, formula.dtype), formula.dtype, Options())
    possible = types.digits_possible(formula.dtype)
    observed = rounded_gradient(program, wrt)
    before = 0.0 if observed is None else gradients.digits(observed)
    return Outcome(before, possible, search(program, Aim(gradients, before, possible)))


def main() -> None:
    for formulas in (FORMULAS, HELD_OUT):
        _print_table(formulas)


def _print_table(formulas: tuple[Formula, ...]) -> None:
    mended = total = 0
    for formula in formulas:
        found = outcome(formula)
        fix = found.fix
        total += found.is_unstable
        mended += found.is_unstable and fix is not None
        words = (
            "-"
            if fix is None
            else f"{fix.digits:4.1f}  "
            + "; ".join(f"{one.rule.pattern} -> {one.rule.replacement}" for one in fix.steps)
        )
        mark = "" if found.is_unstable else "  (stable here)"
        print(
            f"{formula.family:13}{formula.text:55}{found.before:5.1f} of {found.possible:4.1f} -> {words}{mark}"
        )
    print(
        f"{mended} of {total} unstable formulas have a proven fix that restores at least half of the lost digits"
    )


def _steps(fix: Candidate) -> str:
    return "; ".join(f"{one.rule.pattern} -> {one.rule.replacement}" for one in fix.steps)


if __name__ == "__main__":
    main()
