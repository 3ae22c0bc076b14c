"""Variances, softmax and other functions of a whole array: `sum`, `mean` and the like go along the same axes."""

from __future__ import annotations

from gradproof.fixes.rule import POSITIVE, rule

_CENTRE = "subtract the mean before you square, not its square afterwards"
_OFFSET = {"X": 1000.0}

# fmt: off
rule("mean(X**2) - mean(X)**2", "mean((X - spread(mean(X)))**2)", _CENTRE, _OFFSET)
rule("sum(X**2) - sum(X)**2 / N", "sum((X - spread(mean(X)))**2)", _CENTRE, _OFFSET)
rule("sum(X**2) - N * mean(X)**2", "sum((X - spread(mean(X)))**2)", _CENTRE, _OFFSET)
rule("sum(X**2) / N - (sum(X) / N)**2", "mean((X - spread(mean(X)))**2)", _CENTRE, _OFFSET)
rule("mean(X * Y) - mean(X) * mean(Y)", "mean((X - spread(mean(X))) * (Y - spread(mean(Y))))",
     "subtract the means before you multiply, not their product afterwards", {"X": 1000.0, "Y": 1000.0})
rule("sum(X) - sum(Y)", "sum(X - Y)", "subtract entry by entry, and sum the differences",
     {"X": 1000.0, "Y": 1000.0})
rule("mean(X) - mean(Y)", "mean(X - Y)", "subtract entry by entry, and average the differences",
     {"X": 1000.0, "Y": 1000.0})
rule("log(sum(exp(X)))", "logsumexp(X)", "use logsumexp, which subtracts the largest exponent first",
     {"X": 100.0})
rule("log(mean(exp(X)))", "logsumexp(X) - log(count(X))",
     "use logsumexp, which subtracts the largest exponent first", {"X": 100.0})
rule("log(sum(exp(X) * Y))", "logsumexp(X + log(Y))",
     "take the factors into the exponents, and use logsumexp, which subtracts the largest of them first",
     {"X": 100.0, "Y": 0.5}, "for factors that are not positive, whose logarithm has no value", Y=POSITIVE)
rule("log(sum(exp(X) / S * Y))", "logsumexp(X + log(Y / S))",
     "take the factors into the exponents, and use logsumexp, which subtracts the largest of them first",
     {"X": 100.0, "Y": 0.5, "S": 2.0}, "for factors that are not positive, whose logarithm has no value",
     S=POSITIVE, Y=POSITIVE)
rule("log(softmax(X))", "log_softmax(X)", "use log_softmax, which never forms the small probabilities",
     {"X": -150.0})
rule("log(moved(softmax(X)))", "moved(log_softmax(X))", "use log_softmax, which never forms the small probabilities",
     {"X": -150.0})
rule("exp(X) / spread(sum(exp(X)))", "softmax(X)", "use softmax, which subtracts the largest exponent first",
     {"X": 100.0})
rule("sum(exp(X) * Y) / sum(exp(X))", "sum(softmax(X) * Y)",
     "weigh with softmax, which subtracts the largest exponent first", {"X": 100.0, "Y": 1.0})
rule("log(exp(X) / spread(sum(exp(X))))", "log_softmax(X)",
     "use log_softmax, which neither overflows nor underflows", {"X": 100.0})
rule("log(exp(X - spread(M)) / spread(sum(exp(X - spread(M)))))", "log_softmax(X)",
     "use log_softmax, which never forms the small probabilities", {"X": -150.0, "M": -1.0})
rule("X - spread(log(sum(exp(X))))", "log_softmax(X)",
     "use log_softmax, which neither overflows nor underflows", {"X": 100.0})
rule("power(prod(X), N)", "exp(N * sum(log(X)))", "sum the logarithms; the product may be too large or too small",
     None, "for negative numbers, whose logarithm has no value", X=POSITIVE)
rule("sqrt(prod(X))", "exp(sum(log(X)) / 2)", "sum the logarithms; the product may be too large or too small",
     {"X": 1e-15}, "for negative numbers, whose logarithm has no value", X=POSITIVE)
rule("log(prod(X))", "sum(log(X))", "sum the logarithms; the product may be too large or too small",
     {"X": 1e-30}, "for negative numbers, whose logarithm has no value", X=POSITIVE)
rule("log(prod(X) / prod(Y))", "sum(log(X)) - sum(log(Y))",
     "sum the logarithms; the products may be too large or too small", {"X": 1e-30, "Y": 0.5},
     "for negative numbers, whose logarithm has no value", X=POSITIVE, Y=POSITIVE)
