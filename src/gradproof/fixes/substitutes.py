"""Functions that take the place of one with a corner, a step or an infinite slope: smooth, and nearly the same."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Substitute:
    """`replacement` is another function than `pattern`; in it `W` is the width of what changes, and `V` its square.

    `N` is just below 1, by that square. `text` is the change as one imperative clause, `meaning` what it computes
    otherwise; both may name the {width}, the {square} and the {shrunk} one.
    """

    pattern: str
    replacement: str
    text: str
    meaning: str
    numpy: str = ""  # where NumPy needs another way to write it

    def written(self, framework: str) -> str:
        return self.numpy if framework == "numpy" and self.numpy else self.replacement


_BEND = "replace the corner by a smooth bend of width {width}"
_SWITCH = "replace the step by a smooth switch of width {width}"
_INSIDE = "add a small number inside, {square}, so that the slope stays finite"
_ROUNDED = "within about {width} of the corner the value is larger, by {width} at most"
_LOWERED = "within about {width} of the corner the value is smaller, by {width} at most"
_BLURRED = "within about {width} of the edge the value passes from one side to the other instead of jumping"

_ENDS = "within about {width} of both ends the corners are rounded off, by {width} at most"

_LOW = "select(greater_equal(A, B), A, B)"
_HIGH = "select(less_equal(A, C), A, C)"
_CLIPPED_AT_0 = "W * (softplus(A / W) - softplus((A - C) / W))"
_CLIPPED = "B + W * (softplus((A - B) / W) - softplus((A - C) / W))"
_LENGTH = "sum(A ** 2)"

CORNERS = (
    *(Substitute(pattern, "sqrt(A ** 2 + V)", _BEND, _ROUNDED) for pattern in (
        "select(greater_equal(A, 0), A, -A)", "select(greater(A, 0), A, -A)", "select(less(A, 0), -A, A)",
        "select(greater(A, 0), A, select(equal(A, 0), 0, -A))",
    )),
    *(Substitute(pattern, "W * softplus(A / W)", _BEND, _ROUNDED) for pattern in (
        "select(greater(A, 0), A, 0)", "select(greater_equal(A, 0), A, 0)",
    )),
    *(Substitute(pattern.replace("B", low), smooth, _BEND, _ENDS)
      for low, smooth in (("0", _CLIPPED_AT_0), ("B", _CLIPPED)) for pattern in (
        f"select(less({_LOW}, C), {_LOW}, C)", f"select(less_equal({_LOW}, C), {_LOW}, C)",
        f"select(greater_equal({_HIGH}, B), {_HIGH}, B)",
    )),
    *(Substitute(f"select({name}(A, B), A, B)", "B + W * softplus((A - B) / W)", _BEND, _ROUNDED)
      for name in ("greater_equal", "greater")),
    *(Substitute(f"select({name}(A, B), A, B)", "A - W * softplus((A - B) / W)", _BEND, _LOWERED)
      for name in ("less_equal", "less")),
)  # fmt: skip


def _switches(name: str, gap: str, gap_at_zero: str) -> tuple[Substitute, ...]:
    """The shortest way to write it comes first: a side of 0 and an edge at 0 need not be written."""
    found = []
    for edge, distance in (("0", gap_at_zero), ("B", gap)):
        inverse = f"(0 - {distance})" if edge == "0" else gap.translate(str.maketrans("AB", "BA"))
        for sides, way, smooth, hyperbolic in (
            ("P, 0", distance, "P * sigmoid(D / W)", "P * (1 + tanh(D / W)) / 2"),
            ("0, Q", inverse, "Q * sigmoid(D / W)", "Q * (1 + tanh(D / W)) / 2"),
            ("P, Q", distance, "Q + (P - Q) * sigmoid(D / W)", "Q + (P - Q) * (1 + tanh(D / W)) / 2"),
        ):
            pattern = f"select({name}(A, {edge}), {sides})"
            texts = (smooth.replace("D", way), _SWITCH, _BLURRED, hyperbolic.replace("D", way))
            found.append(Substitute(pattern, texts[0], texts[1], texts[2], texts[3]))
    return tuple(found)


STEPS = (
    *(one for name in ("greater", "greater_equal") for one in _switches(name, "(A - B)", "A")),
    *(one for name in ("less", "less_equal") for one in _switches(name, "(B - A)", "-A")),
)

UPRIGHT = (
    Substitute(
        "power(A, C)", "power(A + V, C)", _INSIDE, "the base grows by {square}, which shows near 0 only"
    ),
    Substitute("sqrt(A)", "sqrt(A + V)", _INSIDE, "a root of 0 becomes {width}"),
    *(
        Substitute(length, f"sqrt({_LENGTH} + V)", _INSIDE, "a length of 0 becomes {width}")
        for length in (
            f"sqrt({_LENGTH})",
            f"select(equal({_LENGTH}, 0), {_LENGTH}, sqrt(select(equal({_LENGTH}, 0), 1, {_LENGTH})))",
        )
    ),
    Substitute("rsqrt(A)", "rsqrt(A + V)", _INSIDE, "the value at 0 becomes finite: 1 / {width}"),
    Substitute("log(A)", "log(A + V)", _INSIDE, "the logarithm of 0 becomes that of {square}"),
    *(
        Substitute(
            f"{name}(A)",
            f"{name}(A * N)",
            "shrink the argument a little, times {shrunk}, so that the slope stays finite",
            "the value at the end of the domain moves by about {width}",
        )
        for name in ("acos", "asin", "atanh")
    ),
    Substitute("acosh(A)", "acosh(A + V)", _INSIDE, "the value at 1 becomes about {width}"),
)
"""Ops whose curve stands upright at an end of their domain, with a little distance kept from it."""

_SELECTED = "select(greater(A, 0), {taken}(select(greater(A, 0), A, 1)), 0)"
SAME = (
    Substitute("sqrt(A) ** 2", "A", "leave out the root, which the square undoes", ""),
    Substitute(
        "sqrt(A)",
        _SELECTED.format(taken="sqrt"),
        "take the root only where its argument is positive, and give it a harmless one elsewhere",
        "",
    ),
    Substitute(
        "power(A, C)",
        "select(greater(A, 0), power(select(greater(A, 0), A, 1), C), 0)",
        "take the power only where its base is positive, and give it a harmless one elsewhere",
        "",
    ),
    Substitute(
        "atan2(A, B)",
        "atan2(A, select(greater(A ** 2 + B ** 2, 0), B, 1))",
        "ask for the angle of a vector of zeros as that of (1, 0): it is 0 too, and has slopes",
        "",
    ),
)
"""The same functions without the infinite slope, for where it meets a factor of zero."""


_SOFT = "use a smooth function instead of the step, with a width of {width}"
_SOFTENED = "the value passes smoothly from one step to the next, over about {width}"
SOFT = (
    *(Substitute(f"cast({name}(A, {edge}))", f"sigmoid(({gap}) / W)", _SOFT, _SOFTENED) for name, edge, gap in (
        *((name, "0", "A") for name in ("greater", "greater_equal")),
        *((name, "0", "-A") for name in ("less", "less_equal")),
        *((name, "B", "A - B") for name in ("greater", "greater_equal")),
        *((name, "B", "B - A") for name in ("less", "less_equal")),
    )),
    *(Substitute(pattern, "tanh(A / W)", _SOFT, _SOFTENED) for pattern in (
        "cast(sign(A))", "select(greater(A, 0), 1, select(less(A, 0), -1, 0))",
    )),
)  # fmt: skip
"""Steps through which a path is cut, as functions that an optimiser can follow, as wide as numbers are away."""
