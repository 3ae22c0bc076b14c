"""Gives the sums that a framework makes of gradients the line where the paths that they come from meet.

A tensor that is used twice gets a gradient from each use, and the framework adds them. No rule of an op does that, so
such a sum is recorded at the line that asked for the gradient, where a reader can change nothing. What is added
there comes from paths that part at the tensor and meet again in the forward program, and the line where they meet is to
blame for digits that are lost in the sum: `log(1 + x) - x` meets at the minus sign.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from gradproof.ir.capture import Capture, Pullback
from gradproof.ir.program import Node, Program, behind_copies
from gradproof.ir.span import Span

MAX_USES = (
    64  # a tensor that is used more often (a weight in a long loop) has no one place where its paths meet
)


def with_sums_placed(capture: Capture) -> Capture:
    """The same capture, where sums of gradients stand at the line at which their paths meet."""
    program = capture.gradient_program
    if program is None or not capture.rules.pullbacks:
        return capture
    uses = _uses(program, capture.rules.pullbacks)
    parts: dict[int, frozenset[int]] = {}
    nodes: list[Node] = []
    for node in program.nodes:
        if node.phase != "backward" or node.op != "add" or not _same_line(node.span, capture.call):
            nodes.append(node)
            continue
        parts[node.id] = frozenset[int]().union(*(parts.get(id, {id}) for id in node.inputs))
        span = _meeting(program, parts[node.id], uses)
        nodes.append(node if span is None else replace(node, span=span))
    return replace(capture, gradient_program=replace(program, nodes=tuple(nodes)))


def _same_line(span: Span | None, call: Span) -> bool:
    return span is not None and (span.file, span.line) == (call.file, call.line)


def _uses(program: Program, pullbacks: Iterable[Pullback]) -> Mapping[int, list[tuple[int, tuple[int, ...]]]]:
    """By gradient: which tensor it may belong to, and the results of the op that used that tensor."""
    uses: dict[int, list[tuple[int, tuple[int, ...]]]] = {}
    for pullback in pullbacks:
        for tensor, gradient in zip(pullback.inputs, pullback.results):
            if gradient is not None:
                uses.setdefault(gradient, []).append((behind_copies(program, tensor), pullback.outputs))
    return uses


def _meeting(
    program: Program, gradients: frozenset[int], uses: Mapping[int, list[tuple[int, tuple[int, ...]]]]
) -> Span | None:
    """The first forward node that all uses of the one tensor lead to; None where they cannot be told."""
    if not 2 <= len(gradients) <= MAX_USES or not gradients <= uses.keys():
        return None
    shared = set.intersection(*({tensor for tensor, _ in uses[gradient]} for gradient in gradients))
    if len(shared) != 1:
        return None
    (tensor,) = shared
    branches = [
        {output for owner, outputs in uses[gradient] if owner == tensor for output in outputs}
        for gradient in gradients
    ]
    reached: dict[int, int] = {}  # by node, one bit for every branch that leads to it
    for node in program.nodes:
        if node.phase == "backward":
            continue
        bits = sum(1 << k for k, branch in enumerate(branches) if node.id in branch)
        for id in node.inputs:
            bits |= reached.get(id, 0)
        if bits == (1 << len(branches)) - 1:
            return node.span
        if bits:
            reached[node.id] = bits
    return None
