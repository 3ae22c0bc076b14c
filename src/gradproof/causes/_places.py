"""Names for places of a program in the user's terms: `x[1] = 0`, the op of a line, the slope of a function."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.flow import PASSING, Place, feeding, forward_op, places, value_at
from gradproof.ir.program import Node, Program

__all__ = ["capital", "forward_op", "name_of", "number_at", "op_words", "short", "slope_words", "spoken"]

MAX_MOVES = 50  # reshapes and slices between a variable and its use
# The slope of a function of x, as it is taught.
_SLOPES = {
    "log": "1/x", "log2": "1/x", "log10": "1/x", "log1p": "1/(1 + x)", "sqrt": "1/(2 sqrt(x))", "rsqrt": "1/x^1.5",
    "reciprocal": "1/x^2", "cbrt": "1/x^(2/3)", "acos": "1/sqrt(1 - x^2)", "asin": "1/sqrt(1 - x^2)",
    "atanh": "1/(1 - x^2)", "acosh": "1/sqrt(x^2 - 1)",
}  # fmt: skip
_OP_WORDS = {
    "div": "the division", "add": "the sum", "sub": "the difference", "mul": "the product",
    "matmul": "the matrix product",
    "integer_power": "the power", "power": "the power", "greater": "`>`", "greater_equal": "`>=`", "less": "`<`",
    "less_equal": "`<=`", "equal": "`==`", "not_equal": "`!=`", "argmax": "the choice of the largest",
    "argmin": "the choice of the smallest", "truncate": "the cast to an integer", "argsort": "the sorting order",
    "sum": "the sum", "mean": "the mean", "square": "the square", "neg": "the negation", "cast": "the cast",
}  # fmt: skip


def op_words(node: Node) -> str:
    """`log` in backticks for what has a name, an English word for an operator."""
    return _OP_WORDS.get(node.op, f"`{node.op}`")


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def slope_words(node: Node) -> str:
    """`slope 1/x`, or plainly the slope where no formula is short."""
    formula = _SLOPES.get(node.op)
    return "the slope" if formula is None else f"slope {formula}"


def name_of(case: Case, program: Program, place: Place) -> str | None:
    """`x[1]`, where the number is an entry of something the user has named; else None."""
    names = dict(program.names) | {s.node: s.name for s in case.capture.sources if s.node is not None}
    for _ in range(MAX_MOVES):
        node = program[place.id]
        if node.id in names:
            return names[node.id] + (f"[{', '.join(map(str, place.index))}]" if place.index else "")
        if node.op not in PASSING:
            return None
        found = [one for id, mask in feeding(program, place) for one in places(id, mask)]
        if len(found) != 1:
            return None
        place = found[0]
    return None


def spoken(case: Case, program: Program, place: Place) -> str:
    """`x[1] = 0`, or `an argument of 0` for a number without a name."""
    value = number_at(program, place)
    name = name_of(case, program, place)
    if name is not None:
        return f"{name} = {value}"
    return f"an argument of {value}"


def number_at(program: Program, place: Place) -> str:
    value: Any = value_at(program, place)
    return short(value, program[place.id].dtype)


def short(value: Any, dtype: str = "float64") -> str:
    """A number without a needless `.0`, and zero without a sign."""
    text = words.number(np.asarray(value).item(), dtype=dtype).removesuffix(".0")
    return "0" if text == "-0" else text
