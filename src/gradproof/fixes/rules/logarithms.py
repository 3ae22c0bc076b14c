"""Logarithms near one, and differences, sums and exponentials of logarithms."""

from __future__ import annotations

from gradproof.fixes.rule import ABOVE_ONE, POSITIVE, UNIT, rule

_NEGATIVE = "for negative numbers, whose logarithm has no value"
_LOG1P = "use log1p, which keeps the digits of x that adding it to 1 rounds away"
_OUT = "take the exponent out of the logarithm, so that its exponential is never formed"

# fmt: off
rule("log(1 + X)", "log1p(X)", _LOG1P, {"X": 1e-6}, X=UNIT)
rule("log(1 - X)", "log1p(-X)", _LOG1P, {"X": 1e-6}, X=UNIT)
rule("log(X)", "log1p(X - 1)", "use log1p of what the argument differs from 1 by", X=POSITIVE)
rule("log(A) - log(B)", "log1p((A - B) / B)",
     "use log1p of the relative difference, which does not subtract two logarithms",
     {"A": 1000.0 + 2.0**-10, "B": 1000.0}, A=POSITIVE, B=POSITIVE)
rule("log(A) - log(B)", "log(A / B)", "take the logarithm of the quotient", A=POSITIVE, B=POSITIVE)
rule("log(A / B)", "log1p((A - B) / B)", "use log1p of the relative difference, which keeps the digits near 1",
     {"A": 1000.0 + 2.0**-10, "B": 1000.0}, A=POSITIVE, B=POSITIVE)
rule("log(A / B)", "log(A) - log(B)", "subtract the logarithms; the quotient may be too large or too small",
     {"A": 1e-30, "B": 1e30}, _NEGATIVE, A=POSITIVE, B=POSITIVE)
rule("log(A * B)", "log(A) + log(B)", "add the logarithms; the product may be too large or too small",
     {"A": 1e-30, "B": 1e-30}, _NEGATIVE, A=POSITIVE, B=POSITIVE)
rule("log(X**2)", "2 * log(X)", "take the exponent out of the logarithm", {"X": 1e-30}, _NEGATIVE, X=POSITIVE)
rule("log(sqrt(X))", "0.5 * log(X)", "take the root out of the logarithm", X=POSITIVE)
rule("log(power(X, Y))", "Y * log(X)", "take the exponent out of the logarithm", {"X": 10.0, "Y": 60.0},
     _NEGATIVE, X=POSITIVE)
rule("log(exp(X))", "X", "leave out log and exp, which undo each other", {"X": 100.0})
rule("log(exp(X) / B)", "X - log(B)", _OUT, {"X": -200.0, "B": 3.0}, B=POSITIVE)
rule("log(exp(X) * B)", "X + log(B)", _OUT, {"X": -200.0, "B": 3.0}, B=POSITIVE)
rule("log(1 + exp(X))", "softplus(X)", "use softplus, which neither overflows nor rounds exp(x) away",
     {"X": 100.0})
rule("log(1 + exp(-X))", "softplus(-X)", "use softplus, which neither overflows nor rounds exp(-x) away",
     {"X": 20.0})
rule("log1p(exp(X))", "softplus(X)", "use softplus, which does not overflow", {"X": 100.0})
rule("log(exp(X) + 1) - X", "softplus(-X)", "use softplus(-x), which is the same and subtracts nothing",
     {"X": 14.0})
rule("softplus(X) - X", "softplus(-X)", "use softplus(-x), which is the same and subtracts nothing",
     {"X": 14.0})
rule("X - softplus(X)", "-softplus(-X)", "use -softplus(-x), which is the same and subtracts nothing",
     {"X": 14.0})
rule("log(exp(A) + exp(B))", "logaddexp(A, B)", "use logaddexp, which does not overflow",
     {"A": 100.0, "B": 99.0})
rule("log(exp(A) + exp(B))", "B + softplus(A - B)", "take the larger exponent out of the logarithm",
     {"A": 100.0, "B": 99.0})
rule("log(1 - exp(X))", "log(-expm1(X))", "use expm1 inside the logarithm, which keeps the digits of small x",
     {"X": -1e-6}, X=(-3.0, -0.01))
rule("log(1 - exp(-X))", "log(-expm1(-X))", "use expm1 inside the logarithm, which keeps the digits of small x",
     {"X": 1e-6}, X=POSITIVE)
rule("log(1 - exp(X))", "log1p(-exp(X))", "use log1p, which keeps the digits of exp(x) where it is small",
     {"X": -15.0}, X=(-3.0, -0.01))
rule("log(exp(X) - 1)", "X + log(-expm1(-X))",
     "take the exponential out of the logarithm, which then cannot overflow", {"X": 100.0}, X=POSITIVE)
rule("log(expm1(X))", "X + log(-expm1(-X))",
     "take the exponential out of the logarithm, which then cannot overflow", {"X": 100.0}, X=POSITIVE)
rule("log(cosh(X))", "(softplus(-2 * X) + X) - log(2)",
     "use x + softplus(-2 x) - log(2), which does not overflow", {"X": 100.0})
rule("log((1 + X) / (1 - X)) / 2", "atanh(X)", "use atanh, which is the same", {"X": 1e-6}, X=UNIT)
rule("log((1 + X) / (1 - X)) * 0.5", "atanh(X)", "use atanh, which is the same", {"X": 1e-6}, X=UNIT)
rule("log((1 + X) / (1 - X))", "2 * atanh(X)", "use 2 atanh(x), which is the same", {"X": 1e-6}, X=UNIT)
rule("log((1 - X) / (1 + X))", "-2 * atanh(X)", "use -2 atanh(x), which is the same", {"X": 1e-6}, X=UNIT)
rule("log(1 + X) - log(1 - X)", "2 * atanh(X)", "use 2 atanh(x), which is the same", {"X": 1e-6}, X=UNIT)
rule("log1p(X) - log1p(-X)", "2 * atanh(X)", "use 2 atanh(x), which is the same", X=UNIT)
rule("log(X + sqrt(X**2 + 1))", "asinh(X)", "use asinh, which is the same and does not cancel", {"X": -1e4})
rule("log(X + sqrt(X**2 - 1))", "acosh(X)", "use acosh, which is the same", {"X": 1e30}, X=ABOVE_ONE)
rule("A * log(A) - A * log(B)", "A * log(A / B)", "take one logarithm of the quotient", A=POSITIVE, B=POSITIVE)
rule("log(log(X))", "log(log1p(X - 1))", "use log1p inside, which keeps the digits of an argument near 1",
     X=ABOVE_ONE)
rule("(X + 1) * log(X + 1) - X * log(X)", "X * log1p(1 / X) + log(X + 1)",
     "take the difference of the logarithms with log1p", {"X": 1e6}, X=POSITIVE)
