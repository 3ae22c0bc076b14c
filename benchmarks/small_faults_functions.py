"""Functions with right rules, written once for every framework, and ways to spoil a rule by a little."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Rule = Callable[..., Any]  # (m, dy, y, x) -> the gradient for x
V = np.array([0.3, -1.2, 2.0, 0.7], np.float32)
P = np.array([0.4, 1.7, 0.9, 2.6], np.float32)
A = np.random.default_rng(20).normal(size=(3, 3)).astype(np.float32)
GELU = 0.7978845608028654


@dataclass(frozen=True)
class Function:
    """A forward of one argument and its rule; `m` has the functions of a framework by the names of NumPy."""

    name: str
    forward: Callable[..., Any]
    rule: Rule
    at: Any


def _softmax(m: Any, x: Any) -> Any:
    e = m.exp(x)
    return e / m.sum(e)


def _gelu(m: Any, x: Any) -> Any:
    return 0.5 * x * (1.0 + m.tanh(GELU * (x + 0.044715 * x * x * x)))


def _gelu_rule(m: Any, dy: Any, y: Any, x: Any) -> Any:
    t = m.tanh(GELU * (x + 0.044715 * x * x * x))
    return dy * (0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * GELU * (1.0 + 0.134145 * x * x))


def _swish_rule(m: Any, dy: Any, y: Any, x: Any) -> Any:
    s = 1.0 / (1.0 + m.exp(-x))
    return dy * (s + x * s * (1.0 - s))


FUNCTIONS: tuple[Function, ...] = (
    Function("sin", lambda m, x: m.sin(x), lambda m, dy, y, x: dy * m.cos(x), V),
    Function("tanh", lambda m, x: m.tanh(x), lambda m, dy, y, x: dy * (1.0 - y * y), V),
    Function("log", lambda m, x: m.log(x), lambda m, dy, y, x: dy / x, P),
    Function("root", lambda m, x: m.sqrt(x), lambda m, dy, y, x: dy / (2.0 * y), P),
    Function("cube", lambda m, x: x * x * x, lambda m, dy, y, x: dy * 3.0 * x * x, V),
    Function("exponential", lambda m, x: m.exp(x), lambda m, dy, y, x: dy * y, V),
    Function("quotient", lambda m, x: 1.0 / (1.0 + x * x), lambda m, dy, y, x: -dy * 2.0 * x * y * y, V),
    Function(
        "sine of a square",
        lambda m, x: m.sin(x * x),
        lambda m, dy, y, x: dy * m.cos(x * x) * 2.0 * x,
        V,
    ),
    Function("softmax", _softmax, lambda m, dy, y, x: y * (dy - m.sum(dy * y)), V),
    Function("swish", lambda m, x: x / (1.0 + m.exp(-x)), _swish_rule, V),
    Function("gelu", _gelu, _gelu_rule, V),
    Function(
        "matrix product",
        lambda m, x: m.matmul(x, m.constant(A)),
        lambda m, dy, y, x: m.matmul(dy, m.constant(A.T.copy())),
        A,
    ),
)


def _at(function: Function, name: str, at: Any) -> Function:
    return Function(f"{function.name}, {name}", function.forward, function.rule, np.asarray(at, np.float32))


_SINGLE = Function("sin of a number", FUNCTIONS[0].forward, FUNCTIONS[0].rule, np.float32(0.8).reshape(()))
CONTROLS: tuple[Function, ...] = (
    *FUNCTIONS,
    _SINGLE,
    *(_at(one, "elsewhere", one.at[::-1] * 0.37) for one in FUNCTIONS[:8]),
)


def _hard() -> tuple[Function, ...]:
    sin = lambda scale: (
        lambda m, x: m.sin(scale * x),
        lambda m, dy, y, x: dy * scale * m.cos(scale * x),
    )
    power = lambda n: (lambda m, x: x**n, lambda m, dy, y, x: dy * n * x ** (n - 1))
    made = [
        *(Function(f"sin({s:g} x)", *sin(s), V) for s in (1e-6, 1e-3, 0.1, 3.3, 1e2, 1e3, 1e4)),
        *(Function(f"power {n}", *power(n), P) for n in (2, 3, 5, 7, 10, 15, 20)),
        *(
            Function(f"offset {c:g}", lambda m, x, c=c: c + m.sin(x), FUNCTIONS[0].rule, V)
            for c in (1e2, 1e4, 1e6)
        ),
        *(
            Function(f"steep {k:g}", lambda m, x, k=k: m.exp(k * x), lambda m, dy, y, x, k=k: dy * k * y, P)
            for k in (0.1, 1.7, 5.3, 10.9, 20.0)
        ),
        *(
            Function(
                f"constant {c:.3g}",
                lambda m, x, c=c: c * m.tanh(x),
                lambda m, dy, y, x, c=c: dy * (c - y * y / c),
                V,
            )
            for c in (np.pi, np.e, 1 / 3, 0.1, 1e-3, 7.77)
        ),
        *(
            Function(
                f"line {a:.3g}",
                lambda m, x, a=a: a * x + x * x,
                lambda m, dy, y, x, a=a: dy * (a + 2.0 * x),
                V,
            )
            for a in (1e6, 1e3, 0.3, 1e-5)
        ),
        Function(
            "relu", lambda m, x: m.maximum(x, 0.0 * x), lambda m, dy, y, x: m.where(x > 0.0, dy, 0.0 * dy), V
        ),
        Function("abs", lambda m, x: m.abs(x), lambda m, dy, y, x: dy * m.sign(x), V * np.float32(1e-6)),
        Function(
            "saturated",
            FUNCTIONS[1].forward,
            lambda m, dy, y, x: dy * (4.0 * m.exp(-2.0 * m.abs(x)) / (1.0 + m.exp(-2.0 * m.abs(x))) ** 2),
            V * np.float32(5),
        ),
        Function("logistic", lambda m, x: 1.0 / (1.0 + m.exp(-x)), lambda m, dy, y, x: dy * y * (1.0 - y), V),
        Function(
            "softplus", lambda m, x: m.log(1.0 + m.exp(x)), lambda m, dy, y, x: dy / (1.0 + m.exp(-x)), V
        ),
        Function("norm", lambda m, x: m.sqrt(m.sum(x * x)), lambda m, dy, y, x: dy * x / y, V),
        Function(
            "log-sum-exp", lambda m, x: m.log(m.sum(m.exp(x))), lambda m, dy, y, x: dy * m.exp(x - y), V
        ),
        Function("mean square", lambda m, x: m.sum(x * x) / 4.0, lambda m, dy, y, x: dy * x * 0.5, V),
        Function(
            "third", lambda m, x: m.sum(x * x) / 3.0, lambda m, dy, y, x: dy * x * 0.6666666666666666, V
        ),
        Function(
            "square of a matrix",
            lambda m, x: m.matmul(x, x),
            lambda m, dy, y, x: m.matmul(dy, m.transpose(x)) + m.matmul(m.transpose(x), dy),
            A,
        ),
    ]
    return tuple(made)


HARD: tuple[Function, ...] = (
    *_hard(),
    *(_at(one, "tiny", one.at * np.float32(1e-3)) for one in (*FUNCTIONS[:4], *FUNCTIONS[5:11])),
    *(_at(one, "near 3", np.float32(3) + one.at * np.float32(0.1)) for one in FUNCTIONS[:11]),
    *(
        _at(one, "a number", np.float32(0.9).reshape(()))
        for one in (*FUNCTIONS[:8], FUNCTIONS[9], FUNCTIONS[10])
    ),
    *(_at(one, "many", np.linspace(0.1, 2.0, 40)) for one in FUNCTIONS[:4]),
)


def spoiled(function: Function, way: str, size: float) -> Rule:
    """The rule with a mistake of this relative size."""

    def rule(m: Any, dy: Any, y: Any, x: Any) -> Any:
        right = function.rule(m, dy, y, x)
        if way == "factor":
            return right * (1.0 + size)
        if way == "extra term":
            return right + size * dy * x if np.shape(y) == np.shape(x) else right + size * x
        factors = np.ones(np.shape(function.at), np.float32)
        factors.reshape(-1)[np.argmax(abs(function.at))] += np.float32(size)
        return right * m.constant(factors)

    return rule
