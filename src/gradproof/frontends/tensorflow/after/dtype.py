"""Crashes over a tensor of the wrong dtype: whose it is, what was wanted, and a cast that mends it."""

from __future__ import annotations

import ast
import inspect
import linecache
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from types import FrameType
from typing import Any

from tensorflow.python.framework import op_def_registry
from tensorflow.python.framework import tensor as tf_tensor
from tensorflow.python.ops import math_ops

from gradproof.diagnosis.diagnostic import CRASH, Annotation, Diagnostic, Fix
from gradproof.frontends.record.model import OpenTape
from gradproof.frontends.record.source import argument, first_user_frame
from gradproof.ir.span import Span
from gradproof.ir.syntax import tree_of

_EAGER = re.compile(
    r"cannot compute (?P<op>\w+) as input #(?P<index>\d+)\(zero-based\) was expected to be an? "
    r"(?P<wanted>\w+) tensor but is an? (?P<found>\w+) tensor"
)
_GRAPH = re.compile(
    r"Input '(?P<name>\w+)' of '(?P<op>\w+)' Op has type (?P<found>\w+) that does not match "
    r"(?:expected type of (?P<wanted>\w+)|type (?P<other>\w+) of argument)"
)
# What TensorFlow's kernels call the dtypes that Python knows by another name.
_DTYPES = {"float": "float32", "double": "float64", "half": "float16"}


@dataclass(frozen=True)
class Mismatch:
    """Input `index` of an op has dtype `found`, and the op takes `wanted`; `span` is the user's expression."""

    op: str
    index: int
    wanted: str
    found: str
    span: Span

    @property
    def expression(self) -> ast.expr | None:
        """The user's expression that ran the op."""
        tree = tree_of(self.span.file)
        place = (self.span.line, self.span.column, self.span.end_line, self.span.end_column)
        nodes = [] if tree is None else ast.walk(tree)
        for node in (node for node in nodes if isinstance(node, ast.Call | ast.BinOp | ast.Compare)):
            if (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset) == place:
                return node
        return None

    @property
    def operand(self) -> ast.expr | None:
        """The part of it that has the wrong dtype, where the source tells."""
        node = self.expression
        if isinstance(node, ast.BinOp):
            return (node.left, node.right)[self.index] if self.index < 2 else None
        if isinstance(node, ast.Compare):
            return (node.left, *node.comparators)[self.index] if self.index < 2 else None
        name = _input_name(self.op, self.index)
        return argument(node, self.index, name) if isinstance(node, ast.Call) else None


def find_mismatch(error: BaseException, span: Span) -> Mismatch | None:
    text = str(error)
    eager, graph = _EAGER.search(text), _GRAPH.search(text)
    if eager is not None:
        wanted, found = (_DTYPES.get(eager[key], eager[key]) for key in ("wanted", "found"))
        return Mismatch(eager["op"], int(eager["index"]), wanted, found, span)
    if graph is not None:
        names = [one.name for one in _inputs(graph["op"])]
        index = names.index(graph["name"]) if graph["name"] in names else 0
        return Mismatch(graph["op"], index, graph["wanted"] or graph["other"], graph["found"], span)
    return None


def _inputs(op: str) -> list[Any]:
    definition = op_def_registry.get(op)
    return [] if definition is None else list(definition.input_arg)


def _input_name(op: str, index: int) -> str:
    inputs = _inputs(op)
    return str(inputs[index].name) if index < len(inputs) else ""


def diagnose(mismatch: Mismatch, frame: FrameType, tapes: list[OpenTape], checked: str) -> Diagnostic:
    function, operand = _function(mismatch), mismatch.operand
    name = "an argument" if operand is None else f"`{ast.unparse(operand)}`"
    cast = "" if operand is None else f"tf.cast({ast.unparse(operand)}, tf.{mismatch.wanted})"
    if mismatch.wanted == "bool":
        headline = f"{function} needs a boolean, and {name} is {mismatch.found}"
        why = (
            f"TensorFlow takes no number for a truth value: {function} decides by a tensor of dtype bool, and was "
            f"given {mismatch.found}. Nothing after line {mismatch.span.line} has run."
        )
        text = f"pass the comparison itself{f', or `{cast}`' if cast else ''}"
    else:
        headline = f"{function} needs {mismatch.wanted} here, and {name} is {mismatch.found}"
        why = (
            f"TensorFlow converts no dtype on its own: the operands of {function} must have the same. "
            f"Nothing after line {mismatch.span.line} has run."
        )
        text = f"cast it: `{cast}`" if cast else f"cast the argument to {mismatch.wanted}"
    return Diagnostic(
        kind=CRASH,
        severity="error",
        certainty="measured",
        headline=headline,
        primary=Annotation(mismatch.span, f"{mismatch.op} takes {mismatch.wanted}"),
        secondary=tuple(_made(mismatch, operand, frame, tapes)),
        why=why,
        fix=Fix(text, _patch(mismatch, operand, cast), checked),
        op=mismatch.op,
    )


def _function(mismatch: Mismatch) -> str:
    node = mismatch.expression
    if isinstance(node, ast.Call):
        return f"`{ast.unparse(node.func)}`"
    return mismatch.op if node is None else f"`{ast.unparse(node)}`"


def _made(
    mismatch: Mismatch, operand: ast.expr | None, frame: FrameType, tapes: list[OpenTape]
) -> Iterator[Annotation]:
    """Where the argument got its dtype, if it has a name and was made inside a tape."""
    held = frame.f_locals.get(operand.id) if isinstance(operand, ast.Name) else None
    for tape in tapes:
        for event in tape.events:
            if any(value.id == getattr(held, "_id", None) for value in event.outputs):
                if event.span is not None and event.span != mismatch.span:
                    yield Annotation(event.span, f"{event.op} makes it {mismatch.found}")
                return


def _patch(mismatch: Mismatch, operand: ast.expr | None, cast: str) -> str:
    line = linecache.getline(mismatch.span.file, mismatch.span.line).rstrip("\n")
    one_line = operand is not None and operand.lineno == operand.end_lineno == mismatch.span.line
    if operand is None or not one_line or not line.isascii():
        return ""
    changed = line[: operand.col_offset] + cast + line[operand.end_col_offset :]
    return f"-{line}\n+{changed}"


@contextmanager
def casting(mismatch: Mismatch) -> Iterator[None]:
    """While this lasts, the op gets its argument cast when the user's line runs it."""
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", mismatch.op).lower()
    owners = [
        module
        for key, module in list(sys.modules.items())
        if key.startswith("tensorflow.python.ops.gen_") and hasattr(module, name)
    ]
    originals = [(owner, getattr(owner, name)) for owner in owners]
    for owner, original in originals:
        setattr(owner, name, _with_cast(original, mismatch))
    try:
        yield
    finally:
        for owner, original in originals:
            setattr(owner, name, original)


def _with_cast(original: Any, mismatch: Mismatch) -> Any:
    signature = inspect.signature(original)

    @wraps(original)
    def changed(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs)
        caller = first_user_frame(sys._getframe(1))
        name = list(signature.parameters)[mismatch.index]
        is_here = caller is not None and (caller.f_code.co_filename, caller.f_lineno) == (
            mismatch.span.file,
            mismatch.span.line,
        )
        if is_here and isinstance(given.arguments.get(name), tf_tensor.Tensor):
            given.arguments[name] = math_ops.cast(given.arguments[name], mismatch.wanted)
        return original(*given.args, **given.kwargs)

    return changed
