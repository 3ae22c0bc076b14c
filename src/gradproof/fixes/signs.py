"""A minus that begins a new text, where a person would write it: `a - b` for `a + -b`, `-a * b` for `a * -b`.

The sign of a number is exact, so that what is computed stays the same to the last bit.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from gradproof.fixes.edit import bounds, enclosed
from gradproof.fixes.source import ParsedSource
from gradproof.fixes.spelling import is_negative
from gradproof.ir import syntax

_FLIPPED = {ast.Add: ("+", "-"), ast.Sub: ("-", "+")}


def with_merged_sign(
    source: ParsedSource, place: ast.expr, text: str, others: Sequence[ast.expr] = ()
) -> tuple[ast.expr, str]:
    """The expression that is to be replaced, and by what: a larger one where the sign goes into it.

    Not where the larger one holds `others`, which are replaced by themselves.
    """
    larger, merged = _merged(source, place, text)
    holds = any(part is other for part in ast.walk(larger) for other in others)
    return (place, text) if holds else (larger, merged)


def _merged(source: ParsedSource, place: ast.expr, text: str) -> tuple[ast.expr, str]:
    made = syntax.expression(text)
    if not is_negative(made):
        return place, text
    assert isinstance(made, ast.UnaryOp)
    bare = ast.get_source_segment(text, made.operand) or ast.unparse(made.operand)
    outer = source.parents.get(place)
    while isinstance(outer, ast.BinOp) and isinstance(outer.op, ast.Mult | ast.Div):
        head, tail = _around(source, outer, place)
        place, bare = outer, head + enclosed(source, place, bare) + tail
        outer = source.parents.get(place)
    if is_negative(outer) and isinstance(outer, ast.UnaryOp):
        return outer, bare
    if isinstance(outer, ast.BinOp) and outer.right is place and type(outer.op) in _FLIPPED:
        head, tail = _around(source, outer, place)
        left, (old, new) = _around(source, outer, outer.left)[1], _FLIPPED[type(outer.op)]
        sign = left[: len(left) - len(tail) - _length(source, place)]
        if sign.strip() == old:
            flipped = head[: len(head) - len(sign)] + sign.replace(old, new)
            return outer, flipped + enclosed(source, place, bare) + tail
    return place, _negated(bare)


def _negated(text: str) -> str:
    """With the other sign: a product that begins with a minus loses it."""
    first = syntax.expression(text)
    while isinstance(first, ast.BinOp) and isinstance(first.op, ast.Mult | ast.Div):
        first = first.left
    is_minus = is_negative(first) and text.startswith("-")
    return text[1:].lstrip() if is_minus else f"-{enclosed_negated(text)}"


def enclosed_negated(text: str) -> str:
    """In parentheses where a minus ahead of it would belong to its first term alone."""
    node = syntax.expression(text)
    is_sum = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub)
    return f"({text})" if is_sum or isinstance(node, ast.Compare | ast.IfExp | ast.BoolOp) else text


def _around(source: ParsedSource, outer: ast.expr, inner: ast.expr) -> tuple[str, str]:
    """The text of an expression before and behind a part of it."""
    data, (begin, end), (first, last) = (
        source.text.encode(),
        bounds(source, outer),
        bounds(source, inner),
    )
    return data[begin:first].decode(), data[last:end].decode()


def _length(source: ParsedSource, part: ast.expr) -> int:
    return len(ast.get_source_segment(source.text, part) or "")
