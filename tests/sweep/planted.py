"""A small library with derivative rules that are wrong on purpose, and right ones beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gradproof.frontends.library.model import Entry, LibraryOp, OpCall, Part, SweptLibrary, at
from gradproof.frontends.library.written import numbers_text
from gradproof.tape import GradientTape, Variable, custom_gradient

Rule = Callable[[Any, Any], Any]


def _made(name: str, forward: Callable[[Any], Any], rule: Rule) -> Callable[[Any], Any]:
    def function(x: Any) -> Any:
        return forward(x), lambda g: rule(g, x)

    function.__name__ = name
    return custom_gradient(function)


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def _norm(x: Any) -> Any:
    return np.sqrt(np.sum(x * x))


def _two_at_zero(g: Any, x: Any) -> Any:
    return g * np.where(x == 0, 2.0, np.where(x > 0, 1.0, np.exp(x)))


def _nan_at_zero(g: Any, x: Any) -> Any:
    return g * (np.tanh(x) + x * x * (1 - np.tanh(x) ** 2) / x)


def _rounded_constant(g: Any, x: Any) -> Any:
    """Right but for what several roundings of two irrational numbers add up to: no single one explains as much."""
    one = (np.asarray(np.sqrt(np.pi), x.dtype) * np.asarray(1 / np.sqrt(np.pi), x.dtype)) ** 4
    return g * (one - np.tanh(x) ** 2)


# By name: the function, its faulty rule, and the kind of fault that it is.
FAULTS: Mapping[str, tuple[Callable[[Any], Any], Rule, str]] = {
    "sign": (np.sin, lambda g, x: -g * np.cos(x), "wrong"),
    "scale": (np.exp, lambda g, x: 1.5 * g * np.exp(x), "wrong"),
    "a_thousandth": (np.cos, lambda g, x: -1.002 * g * np.sin(x), "wrong"),
    "forgets_inner": (lambda x: np.exp(3 * x), lambda g, x: g * np.exp(3 * x), "wrong"),
    "forgets_term": (lambda x: x * np.exp(x), lambda g, x: g * np.exp(x), "wrong"),
    "ignores_upstream": (np.tanh, lambda g, x: 1 - np.tanh(x) ** 2, "wrong"),
    "squares_upstream": (np.arctan, lambda g, x: g * g / (1 + x * x), "wrong"),
    "reversed_order": (lambda x: x**3, lambda g, x: (g * 3 * x**2)[::-1], "wrong"),
    "shifted": (lambda x: x**2, lambda g, x: np.roll(g * 2 * x, 1), "wrong"),
    "value_for_slope": (_sigmoid, lambda g, x: g * _sigmoid(x), "wrong"),
    "half": (lambda x: x * x, lambda g, x: g * x, "wrong"),
    "absolute": (lambda x: x**3, lambda g, x: g * 3 * np.abs(x) * x, "wrong"),
    "zero": (np.log1p, lambda g, x: 0.0 * g / (1 + x), "wrong"),
    "identity": (np.sinh, lambda g, x: g, "wrong"),
    "wrong_side": (lambda x: np.where(x >= 0, x, np.exp(x) - 1), _two_at_zero, "wrong"),
    "wrong_at_zero": (lambda x: x * np.exp(x), lambda g, x: g * np.where(x == 0, 0.0, np.exp(x) * (1 + x)), "wrong"),
    "transposed_sum": (lambda x: np.cumsum(x), lambda g, x: np.cumsum(g), "wrong"),
    "norm_unscaled": (_norm, lambda g, x: g * x, "wrong"),
    "nan_at_zero": (lambda x: x * np.tanh(x), _nan_at_zero, "nonfinite"),
    "overflows": (_sigmoid, lambda g, x: g * np.exp(-x) / (1 + np.exp(-x)) ** 2, "nonfinite"),
    "cancels": (lambda x: np.log1p(x * x), lambda g, x: g * ((1 + x) ** 2 - 1 - x * x) / (1 + x * x), "inaccurate"),
    "rounded_constant": (np.tanh, _rounded_constant, "inaccurate"),
    "nothing": (np.sin, lambda g, x: None, "wrong"),
}  # fmt: skip

SOUND: Mapping[str, tuple[Callable[[Any], Any], Rule]] = {
    "sine": (np.sin, lambda g, x: g * np.cos(x)),
    "cube": (lambda x: x**3, lambda g, x: g * 3 * x**2),
    "sum_so_far": (lambda x: np.cumsum(x), lambda g, x: np.cumsum(g[::-1])[::-1]),
    "logistic": (_sigmoid, lambda g, x: g * _sigmoid(x) * (1 - _sigmoid(x))),
}

# Right once, and wrong where the gradient is differentiated again: what the rule computes with has a wrong rule.
_COSINE = _made("cosine", np.cos, lambda g, x: g * np.sin(x))
_SQUARE = _made("square", lambda x: x * x, lambda g, x: g * x)
SECOND: Mapping[str, tuple[Callable[[Any], Any], Rule]] = {
    "sign_of_second": (np.sin, lambda g, x: g * _COSINE(x)),
    "half_of_second": (lambda x: x**3, lambda g, x: 3 * g * _SQUARE(x)),
}

# Departs on purpose, as `straight-through` has it: told to who uses it, and no fault of a library.
INTENDED: Mapping[str, tuple[Callable[[Any], Any], Rule]] = {
    "clipped": (lambda x: x * x, lambda g, x: np.clip(g * 2 * x, -5.0, 5.0)),
}

OPS = {
    name: _made(name, forward, rule)
    for name, (forward, rule, *_) in {**FAULTS, **SECOND, **SOUND, **INTENDED}.items()
}


def mode_dependent(x: Any) -> Any:
    """Right as the tape has it, and not in the other mode of this library."""
    return np.exp(x)


def library() -> SweptLibrary:
    return SweptLibrary(
        framework="numpy",
        header=("import numpy as np", "from tests.sweep import planted"),
        ops=lambda: [_op(name) for name in [*OPS, "mode_dependent"]],
        array_text=lambda x: f"np.array({numbers_text(x)}, np.{x.dtype})",
        constant=np.asarray,
        total="np.sum({})",
        real="np.real({})",
        parts=lambda result: [Part("{}", np.shape(result), str(np.asarray(result).dtype), False)],
        gradient=_gradient,
        slope=lambda names: [f"return np.sum(planted.slope(first, {names[0]}) * directions)"],
        modes={"other": _other},
        mode_lines={"other": lambda names, wrt, entry: [f"print(planted.other(f, {wrt}){at(entry)})"]},
    )


def _op(name: str) -> LibraryOp:
    path = "planted.mode_dependent" if name == "mode_dependent" else f"planted.OPS['{name}']"

    def samples(dtype: str) -> Iterator[OpCall]:
        x = np.array([0.4, 1.1, -0.3], dtype)
        yield OpCall(name, f"{path}(x)", {"x": x}, ("x",))

    return LibraryOp(name, samples)


def _gradient(names: Sequence[str], wrt: str, entry: Entry | None) -> list[str]:
    return [f"print(planted.gradient(f, {wrt}){at(entry or ())})"]


def slope(function: Callable[[Any], Any], x: Any) -> Any:
    """The gradient, as something that can be differentiated."""
    with GradientTape() as tape:
        x = tape.watch(x)
        target = function(x)
    return tape.gradient(target, x)


def gradient(function: Callable[[Any], Any], x: Any) -> Any:
    variable = Variable(x)
    with GradientTape() as tape:
        target = function(variable)
    return np.asarray(tape.gradient(target, variable))


def _other(
    function: Callable[..., Any], args: Sequence[Any], place: int, entries: Sequence[Entry]
) -> list[float]:
    """A mode that is off for one function only."""
    found = gradient(function, args[place])
    factor = 1.1 if "mode_dependent" in function.__code__.co_names else 1.0
    return [factor * float(found[entry]) for entry in entries]


def other(function: Callable[[Any], Any], x: Any) -> Any:
    """The mode as a script calls it."""
    return np.asarray(_other(function, [x], 0, list(np.ndindex(np.shape(x))))).reshape(np.shape(x))
