"""Tails of distributions, gamma functions and logistic losses."""

from __future__ import annotations

from gradproof.fixes.rule import POSITIVE, rule

_TAIL = "use the function of the tail itself, which keeps its digits"

# fmt: off
rule("1 - erf(X)", "erfc(X)", _TAIL, {"X": 3.0})
rule("1 - erfc(X)", "erf(X)", _TAIL, {"X": 1e-6})
rule("1 + erf(X)", "erfc(-X)", _TAIL, {"X": -3.0})
rule("1 - ndtr(X)", "ndtr(-X)", _TAIL, {"X": 5.0})
rule("log(ndtr(X))", "log_ndtr(X)", "use log_ndtr, which never forms the small probability", {"X": -20.0})
rule("log(1 - ndtr(X))", "log_ndtr(-X)", "use log_ndtr(-x), which never forms the small probability",
     {"X": 20.0})
rule("log(erfc(X))", "log(erfcx(X)) - X**2", "take exp(-x^2) out of the logarithm with erfcx", {"X": 12.0},
     X=POSITIVE)
rule("exp(X**2) * erfc(X)", "erfcx(X)", "use erfcx, which is this product", {"X": 10.0})
rule("log(sigmoid(X))", "log_sigmoid(X)", "use log_sigmoid, which never forms the small probability",
     {"X": -120.0})
rule("log(1 - sigmoid(X))", "-softplus(X)", "use -softplus(x), which never forms the small probability",
     {"X": 20.0})
_OF_LOGISTIC = "use {}, which forms neither the exponential nor the small probability"
rule("log(exp(X) / (1 + exp(X)))", "log_sigmoid(X)", _OF_LOGISTIC.format("log_sigmoid"), {"X": 100.0})
rule("log(1 / (1 + exp(-X)))", "log_sigmoid(X)", _OF_LOGISTIC.format("log_sigmoid"), {"X": -120.0})
rule("log(1 - exp(X) / (1 + exp(X)))", "-softplus(X)", _OF_LOGISTIC.format("-softplus(x)"), {"X": 100.0})
rule("log(1 - 1 / (1 + exp(-X)))", "-softplus(X)", _OF_LOGISTIC.format("-softplus(x)"), {"X": 100.0})
rule("lgamma(X + 1) - lgamma(X)", "log(X)", "use log(x), which is the same", {"X": 1000.0},
     "for negative numbers, whose logarithm has no value", X=POSITIVE)
rule("gamma(X + 1) / gamma(X)", "X", "use x itself, which is the same", {"X": 50.0}, X=POSITIVE)
rule("gamma(A) / gamma(B)", "exp(lgamma(A) - lgamma(B))", "subtract the logarithms of the gamma functions",
     {"A": 50.0, "B": 49.5}, "for negative numbers, where the sign may differ", A=POSITIVE, B=POSITIVE)
rule("log(gamma(X))", "lgamma(X)", "use lgamma, which does not overflow", {"X": 50.0},
     "for negative numbers at which gamma is negative", X=POSITIVE)
