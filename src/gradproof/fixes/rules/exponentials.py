"""Exponentials near one, and differences, products and quotients of exponentials."""

from __future__ import annotations

from gradproof.fixes.rule import POSITIVE, rule

_EXPM1 = "use expm1, which keeps the digits that the subtraction of 1 loses"
_NEGATIVE = "for a base that is not positive, whose logarithm has no value"

# fmt: off
rule("exp(X) - 1", "expm1(X)", _EXPM1, {"X": 1e-6})
rule("1 - exp(X)", "-expm1(X)", _EXPM1, {"X": 1e-6})
rule("power(X, Y) - 1", "expm1(Y * log(X))", _EXPM1, {"X": 1.25, "Y": 1e-6}, _NEGATIVE, X=POSITIVE)
rule("1 - power(X, Y)", "-expm1(Y * log(X))", _EXPM1, {"X": 1.25, "Y": 1e-6}, _NEGATIVE, X=POSITIVE)
rule("power(1 + X, Y)", "exp(Y * log1p(X))", "use log1p, which keeps the digits that adding 1 rounds away",
     {"X": 1e-6, "Y": 3e4}, "for x below -1, where the logarithm has no value", X=POSITIVE)
rule("exp(A) - exp(B)", "exp(B) * expm1(A - B)", "subtract the exponents, and use expm1 on their difference",
     {"A": 1.0 + 2.0**-20, "B": 1.0})
rule("(exp(X) - exp(-X)) / 2", "sinh(X)", "use sinh, which does not subtract numbers near 1", {"X": 1e-6})
rule("(exp(X) - exp(-X)) * 0.5", "sinh(X)", "use sinh, which does not subtract numbers near 1", {"X": 1e-6})
rule("exp(X) - exp(-X)", "2 * sinh(X)", "use sinh, which does not subtract numbers near 1", {"X": 1e-6})
rule("exp(X) + exp(-X)", "2 * cosh(X)", "use cosh")
rule("(exp(X) - 2) + exp(-X)", "4 * square(sinh(X / 2))",
     "use the square of sinh(x / 2), which is the same and loses nothing", {"X": 1e-3})
rule("(exp(X) + exp(-X)) - 2", "4 * square(sinh(X / 2))",
     "use the square of sinh(x / 2), which is the same and loses nothing", {"X": 1e-3})
rule("cosh(X) - 1", "2 * square(sinh(X / 2))",
     "use the square of sinh(x / 2), which is the same and loses nothing", {"X": 1e-3})
rule("cosh(X) - sinh(X)", "exp(-X)", "use exp(-x), which is the same", {"X": 9.0})
rule("exp(A) / exp(B)", "exp(A - B)", "subtract the exponents before taking exp", {"A": 100.0, "B": 99.0})
rule("exp(A) * exp(B)", "exp(A + B)", "add the exponents before taking exp", {"A": 100.0, "B": -99.0})
rule("X * exp(-Y)", "X / exp(Y)", "divide by the exponential")
rule("exp(log(X))", "X", "leave out exp and log, which undo each other", X=POSITIVE)
rule("exp(Y * log(X))", "power(X, Y)", "use the power itself", X=POSITIVE)
rule("(exp(X) - exp(-X)) / (exp(X) + exp(-X))", "tanh(X)", "use tanh, which neither cancels nor overflows",
     {"X": 90.0})
rule("(exp(X) - 1) / (exp(X) + 1)", "tanh(X / 2)", "use tanh, which neither cancels nor overflows", {"X": 1e-6})
rule("1 - tanh(X)", "2 * sigmoid(-2 * X)", "use sigmoid(-2 x), which keeps its digits where tanh(x) is near 1",
     {"X": 9.0})
rule("1 + tanh(X)", "2 * sigmoid(2 * X)", "use sigmoid(2 x), which keeps its digits where tanh(x) is near -1",
     {"X": -9.0})
rule("1 - square(tanh(X))", "1 / square(cosh(X))",
     "use 1 / cosh(x)^2, which keeps its digits where tanh(x) is near 1", {"X": 9.0})
rule("1 - sigmoid(X)", "sigmoid(-X)", "use sigmoid(-x), which keeps its digits where sigmoid(x) is near 1",
     {"X": 20.0})
rule("sigmoid(X) - 0.5", "0.5 * tanh(X / 2)", "use tanh(x / 2) / 2, which is the same and does not cancel",
     {"X": 1e-6})
rule("2 * sigmoid(X) - 1", "tanh(X / 2)", "use tanh(x / 2), which is the same and does not cancel", {"X": 1e-6})
rule("1 / (1 + exp(-X))", "sigmoid(X)", "use sigmoid, which does not overflow", {"X": -100.0})
rule("1 / (1 + exp(X))", "sigmoid(-X)", "use sigmoid, which does not overflow", {"X": 100.0})
rule("exp(X) / (1 + exp(X))", "sigmoid(X)", "use sigmoid, which does not overflow")
rule("exp(A) / (exp(A) + exp(B))", "sigmoid(A - B)", "use sigmoid of the difference, which does not overflow",
     {"A": 100.0, "B": 99.0})
rule("exp(X) / (exp(X) - 1)", "-1 / expm1(-X)", "divide by expm1(-x), which neither cancels nor overflows",
     {"X": 1e-6}, X=POSITIVE)
