"""A clip to the ends of a function's domain, with its bounds a little inside: what is clipped has a slope there."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import numpy as np

from gradproof.diagnosis.case import Case
from gradproof.engine.trace import Traced, Tracer
from gradproof.fixes.edit import replaced
from gradproof.fixes.retrace import Made, retraced
from gradproof.fixes.source import parsed
from gradproof.ir.program import Node, Program
from gradproof.ir.span import Span

# Both have an infinite slope at -1 and 1. The value there moves by the root of twice the distance.
_OPS = ("acos", "asin")
_INSIDE = 0.999999
_CLIPS = ("clamp", "clip", "clip_by_value", "clamp_")
_TEXT = f"clip to {_INSIDE} instead of 1, so that the slope stays finite"
_MEANING = "what is clipped moves by 1e-6, and the value at the end of the domain by about 0.001"


def narrower_clips(case: Case, program: Program) -> Iterator[tuple[Program, tuple[int, ...], str, str, str]]:
    """The changed program with the nodes, the words, and the patch that are its change."""
    for span in dict.fromkeys(program[one.inputs[0]].span for one in program.nodes if one.op in _OPS):
        source = None if span is None else parsed(case.sources.get(span.file, ""))
        clip = None if source is None else source.at(span)
        if source is None or span is None or not isinstance(clip, ast.Call) or not _is_clip(clip):
            continue
        bounds = [one for one in (*clip.args, *(each.value for each in clip.keywords)) if _is_one(one)]
        ends = [one for one in program.nodes if _is_end(one, span)]
        changed = retraced(program, {one.id: _moved(one) for one in ends}) if bounds and ends else None
        if changed is not None:
            texts = [(one, f"{'-' if isinstance(one, ast.UnaryOp) else ''}{_INSIDE}") for one in bounds]
            yield changed, tuple(one.id for one in ends), _TEXT, _MEANING, replaced(source, texts, span.file)


def _is_clip(call: ast.Call) -> bool:
    return ast.unparse(call.func).rpartition(".")[2] in _CLIPS


def _is_one(part: ast.expr) -> bool:
    """`1.0` or `-1.0`."""
    inner = part.operand if isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.USub) else part
    return isinstance(inner, ast.Constant) and inner.value == 1


def _is_end(node: Node, span: Span) -> bool:
    value = np.asarray(node.value) if node.op == "constant" and node.span == span else np.zeros(1)
    return bool((abs(value) == 1).all())


def _moved(node: Node) -> Made:
    def made(tracer: Tracer, _: list[Traced]) -> Traced:
        value = np.asarray(node.value)
        return tracer.constant((value * _INSIDE).astype(value.dtype))

    return made
