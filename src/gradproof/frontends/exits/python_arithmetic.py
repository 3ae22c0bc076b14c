"""What plain Python code computed from numbers that had left TensorFlow, read off the source and told as ops."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

import numpy as np

from gradproof.engine.trace import Traced
from gradproof.frontends.assemble.lowering import Lowering
from gradproof.frontends.exits.assignments import ADDED, MOST_ASSIGNMENTS, assignments
from gradproof.frontends.exits.extremes import extreme
from gradproof.ir.syntax import tree_of

DEEPEST = 12  # names and operators followed from where a number comes back to where it had left
NEAR = 2  # names followed to see whether it is worth looking at all

# Functions of `math` and NumPy, and Python's own, that do nothing but hand the number on in another dress.
_SAME = frozenset({
    "float", "array", "asarray", "float16", "float32", "float64", "constant", "convert_to_tensor", "numpy", "item",
    "tolist", "copy", "astype", "asanyarray", "convert_to_numpy", "tensor", "as_tensor", "from_numpy",
})  # fmt: skip
_ENTRYWISE = {
    "exp": "exp", "log": "log", "sqrt": "sqrt", "sin": "sin", "cos": "cos", "tan": "tan", "tanh": "tanh",
    "sinh": "sinh", "cosh": "cosh", "log1p": "log1p", "expm1": "expm1", "square": "square", "atan": "atan",
    "arctan": "atan", "log2": "log2", "log10": "log10", "negative": "neg", "reciprocal": "reciprocal",
}  # fmt: skip
_NUMPY = frozenset({"np", "numpy"})
_MODULES = _NUMPY | {"math", "tf", "tensorflow", "keras", "torch"}
_OF_TWO = {
    "add": "add", "subtract": "sub", "multiply": "mul", "divide": "div", "true_divide": "div", "pow": "power",
    "power": "power", "float_power": "power", "hypot": "hypot", "dot": "dot", "inner": "dot", "vdot": "dot",
    "atan2": "atan2", "arctan2": "atan2", "maximum": "maximum", "minimum": "minimum",
}  # fmt: skip
_SIGNED = frozenset({"abs", "absolute", "fabs"})
_EXTREME = {"max": np.argmax, "amax": np.argmax, "min": np.argmin, "amin": np.argmin}
_REDUCING = frozenset({"mean", "sum", "std", "var", "norm", *_EXTREME})
_BINARY = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div"}

Known = Traced | float
Turns = Callable[[ast.expr], Iterable[None]]
Find = Callable[[ast.expr, ast.Call, str], Traced | None]
"""The numbers of an expression, as a call reads them; the file is that of both."""


class Retelling:
    """Reads one expression.

    `left` gives the numbers that a call in it had handed out, if it was such a call, `computed` those of a tensor whose
    expression is given to a function of NumPy, `source` those of a source that is given so, and `inside` those that a
    call of something unknown has computed and probably returned. `turns` repeats a sum's term for each time that it
    has handed numbers out.
    """

    def __init__(
        self, m: Lowering, file: str, left: Find, computed: Find, source: Find, inside: Find, turns: Turns
    ) -> None:
        self.m, self.file, self._left, self._computed, self._source = m, file, left, computed, source
        self._inside, self._turns = inside, turns

    def told(self, node: ast.expr, depth: int = 0) -> Known | None:
        """The value of an expression; None where it cannot be told from the source."""
        if depth > DEEPEST:
            return None
        if isinstance(node, ast.Constant):
            x = node.value
            return float(x) if isinstance(x, int | float) and not isinstance(x, bool) else None
        if isinstance(node, ast.Name):
            return self._named(node, depth)
        if isinstance(node, ast.BinOp):
            return self._binary(node, depth)
        if isinstance(node, ast.UnaryOp):
            inner = self.told(node.operand, depth + 1)
            return -inner if inner is not None and isinstance(node.op, ast.USub) else None
        if isinstance(node, ast.Subscript):
            return self._item(self.told(node.value, depth + 1), _index(node.slice))
        return self._called(node, depth) if isinstance(node, ast.Call) else None

    def _binary(self, node: ast.BinOp, depth: int) -> Known | None:
        a, b = self.told(node.left, depth + 1), self.told(node.right, depth + 1)
        if a is None or b is None:
            return None
        if isinstance(node.op, ast.Pow):
            return self._power(a, b)
        name = _BINARY.get(type(node.op))
        if name is None:
            return None
        return _folded(name, a, b) if not _is_traced(a, b) else self._number(getattr(self.m, name)(a, b))

    def _power(self, a: Known, b: Known) -> Known | None:
        if isinstance(b, float) and isinstance(a, Traced):
            if b.is_integer() and abs(b) <= 64:
                return self._number(self.m.integer_power(a, exponent=int(b)))
            return self._number(self.m.power(a, b))
        return None

    def _called(self, node: ast.Call, depth: int) -> Known | None:
        name, on = _function(node)
        if name == "sum" and isinstance(on, ast.GeneratorExp | ast.ListComp):
            return self._summed(on.elt, depth)
        if name in _OF_TWO and len(node.args) == 2 and not node.keywords and on is node.args[0]:
            return self._of_two(_OF_TWO[name], node, depth)
        if name == "clip" and len(node.args) == 3 and not node.keywords and on is node.args[0]:
            return self._clipped(node, depth)
        known = name in _SIGNED or name in _ENTRYWISE or name in _REDUCING or name in _SAME
        given: Known | None = self._left(node, node, self.file) if known else None
        if given is None and on is not None:
            given = self._taken(on, node, depth)
            given = self.told(on, depth + 1) if given is None else given
        if not known or given is None:
            return self._inside(node, node, self.file)
        if not isinstance(given, Traced):
            return None
        if name in _SIGNED:
            return self._number(self.m.mul(given, self.m.constant(np.sign(given.value))))
        if name in _ENTRYWISE:
            return self._number(getattr(self.m, _ENTRYWISE[name])(given))
        return self._reduced(name, given, node) if name in _REDUCING else given

    def _of_two(self, name: str, node: ast.Call, depth: int) -> Known | None:
        """A function of two numbers or arrays: of `math`, of NumPy, or Python's own `pow`."""
        reads = (self._read(one, node, depth) if is_reading(node) else None for one in node.args)
        a, b = (self.told(one, depth + 1) if read is None else read for read, one in zip(reads, node.args))
        if a is None or b is None or not _is_traced(a, b):
            return None
        m = self.m
        if name == "power":
            return self._power(a, b)
        if name in ("maximum", "minimum"):
            return extreme(m, name, a, b)
        if name == "hypot":
            return self._number(m.sqrt(m.add(m.mul(a, a), m.mul(b, b))))
        if name == "dot":
            is_vector = all(isinstance(one, Traced) and one.ndim == 1 for one in (a, b))
            return self._number(m.sum(m.mul(a, b), axes=(0,))) if is_vector else None
        return self._number(getattr(m, name)(a, b))

    def _clipped(self, node: ast.Call, depth: int) -> Known | None:
        """`np.clip(x, low, high)`."""
        x, low, high = node.args
        given = (self._read(x, node, depth) if is_reading(node) else None) or self.told(x, depth + 1)
        bounds = [self.told(one, depth + 1) for one in (low, high)]
        if not isinstance(given, Traced) or bounds[0] is None or bounds[1] is None:
            return None
        return extreme(self.m, "minimum", extreme(self.m, "maximum", given, bounds[0]), bounds[1])

    def _taken(self, on: ast.expr, node: ast.Call, depth: int) -> Traced | None:
        """The numbers that a call takes out of a tensor; what NumPy has returned is none."""
        if isinstance(on, ast.Call) and is_reading(on):
            return None
        given = self._left(on, node, self.file) if isinstance(on, ast.Call) else None
        return self._read(on, node, depth) if given is None and is_reading(node) else given

    def _read(self, on: ast.expr, door: ast.Call, depth: int) -> Traced | None:
        """The tensor that NumPy reads: an op of this expression, or of what its name was given to, or a source."""
        found = self._computed(on, door, self.file)
        if found is None and isinstance(on, ast.Name) and depth <= DEEPEST:
            values = [value for _, value, place in assignments(self.file, on) if place is None]
            reads = (self._read(value, door, depth + 1) for value in reversed(values[:MOST_ASSIGNMENTS]))
            found = next((read for read in reads if read is not None), None)
        return self._source(on, door, self.file) if found is None else found

    def _reduced(self, name: str, x: Traced, node: ast.Call) -> Known | None:
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        if set(given) - {"axis"}:
            return None
        axis = _index(given["axis"]) if "axis" in given else None
        if "axis" in given and (axis is None or axis >= x.ndim):
            return None
        axes = tuple(range(x.ndim)) if axis is None else (axis % x.ndim,)
        m = self.m
        if name in _EXTREME:
            flat = None if axis is not None else m.reshape(x, shape=(int(np.size(x.value)),))
            return None if flat is None else self._item(flat, int(_EXTREME[name](x.value)))
        if name == "norm":
            return self._number(m.sqrt(m.sum(m.square(x), axes=axes)))
        if name in ("std", "var"):
            spread = m.var(x, axes=axes)
            return self._number(m.sqrt(spread) if name == "std" else spread)
        return self._number(getattr(m, name)(x, axes=axes))

    def _item(self, x: Known | None, index: int | None) -> Known | None:
        if not isinstance(x, Traced) or index is None or not x.ndim or not -x.shape[0] <= index < x.shape[0]:
            return None
        row = self.m.take(x, np.asarray([index % x.shape[0]]), axis=0)
        return self._number(self.m.reshape(row, shape=x.shape[1:]))

    def _summed(self, term: ast.expr, depth: int) -> Known | None:
        """The sum of what a term was in each turn of its loop."""
        total: Known | None = None
        for _ in self._turns(term):
            told = self.told(term, depth + 1)
            if told is None:
                return None
            total = told if total is None else self.m.add(total, told)
        return total

    def _named(self, node: ast.Name, depth: int) -> Known | None:
        """By the assignments to the name; the one before it in the text is the likeliest."""
        added = [value for _, value, place in assignments(self.file, node, ADDED) if place is None]
        if len(added) == 1:
            start, grown = self._assigned(node, depth), self._summed(added[0], depth)
            return grown if start == 0.0 or grown is None else None
        return self._assigned(node, depth)

    def _assigned(self, node: ast.Name, depth: int) -> Known | None:
        found = list(assignments(self.file, node))
        before = [one for one in found if one[0] <= node.lineno]
        if len(found) > MOST_ASSIGNMENTS:
            return None
        for _, value, place in [*reversed(before), *(one for one in found if one not in before)]:
            told = self.told(value, depth + 1)
            told = told if place is None else self._item(told, place)
            if told is not None:
                return told
        return None

    def _number(self, x: Any) -> Traced | None:
        return x if isinstance(x, Traced) else None


def _is_traced(*values: Known) -> bool:
    return any(isinstance(value, Traced) for value in values)


def _folded(name: str, a: Any, b: Any) -> float | None:
    if name == "div" and b == 0.0:
        return None
    return float({"add": a + b, "sub": a - b, "mul": a * b, "div": a / (b or 1.0)}[name])


def is_reading(node: ast.Call) -> bool:
    """Whether a call is one of NumPy, which takes the numbers out of a tensor without its notice."""
    called = node.func
    if not isinstance(called, ast.Attribute):
        return False
    return _root(called) in _NUMPY or called.attr == "convert_to_numpy"


def _root(node: ast.expr) -> str:
    """`np` of `np.linalg.norm`."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


@lru_cache(maxsize=4096)  # every check asks for the same expressions
def may_read(file: str, node: ast.expr, depth: int = 0) -> bool:
    """Whether an expression, or one that a name in it was given to, has a call that returns plain numbers."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call) and inner.args and is_reading(inner):
            return True
        # A function of the same file is looked into, but not what it calls: that would have no end.
        called = inner.func if isinstance(inner, ast.Call) else None
        if isinstance(called, ast.Name) and not depth and called.id in _reading_functions(file):
            return True
        if isinstance(inner, ast.Name) and depth < NEAR:
            values = [value for _, value, _ in assignments(file, inner)][:MOST_ASSIGNMENTS]
            if any(may_read(file, value, depth + 1) for value in values):
                return True
    return False


@lru_cache(maxsize=64)
def _reading_functions(file: str) -> frozenset[str]:
    """The names of the functions of a file that return what a call of NumPy does, in an expression of their own."""
    tree = tree_of(file)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)] if tree else []
    return frozenset(
        function.name
        for function in functions
        for node in ast.walk(function)
        if isinstance(node, ast.Return) and node.value is not None and _has_reading(node.value)
    )


def _has_reading(node: ast.expr) -> bool:
    return any(isinstance(one, ast.Call) and one.args and is_reading(one) for one in ast.walk(node))


def _function(node: ast.Call) -> tuple[str, ast.expr | None]:
    """What is called, and what it is called on: the first argument, or the object of a method without one."""
    if isinstance(node.func, ast.Attribute):
        on = node.args[0] if node.args else None
        return node.func.attr, on if _root(node.func) in _MODULES else node.func.value
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    return name, node.args[0] if node.args else None


def _index(node: ast.expr) -> int | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _index(node.operand)
        return None if inner is None else -inner
    is_number = (
        isinstance(node, ast.Constant) and isinstance(node.value, int) and not isinstance(node.value, bool)
    )
    return node.value if is_number else None  # type: ignore[attr-defined]
