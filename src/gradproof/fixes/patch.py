"""The change to the user's lines that makes of their program the one that was run and proven."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from keyword import iskeyword

from gradproof.fixes.align import STEPS, Alignment
from gradproof.fixes.edit import enclosed, quoted_alike, with_a_name
from gradproof.fixes.render_term import Renderer, Unwritten
from gradproof.fixes.source import ParsedSource, Position, parsed, position
from gradproof.fixes.spelling import alias_of
from gradproof.ir import syntax
from gradproof.ir.program import Node, Program

Edit = tuple[Position, str]


@dataclass(frozen=True)
class Patch:
    """The lines of a diff, and the file they belong to."""

    file: str
    text: str


def patch_of(
    old: Program, new: Program, changed: tuple[int, ...], sources: Mapping[str, str], framework: str
) -> Patch | None:
    """None where some part of the change is not written in the source, or cannot be."""
    # What a second rule changed of what the first one had made is a part of the first one's text.
    both = {node.id for node in new.nodes} & {node.id for node in old.nodes}
    roots = [old[id] for id in changed if id in both]
    files = {node.span.file for node in roots if node.span is not None}
    if len(files) != 1 or any(node.span is None for node in roots):
        return None
    file = files.pop()
    source = parsed(sources.get(file, ""))
    if source is None:
        return None
    try:
        edits, ahead, dropped = _edits(old, new, roots, source, framework, alias_of(source.tree, framework))
    except Unwritten:
        return None
    return Patch(file, _diff(source, edits, ahead, dropped, file))


def _edits(
    old: Program, new: Program, roots: list[Node], source: ParsedSource, framework: str, alias: str | None
) -> tuple[list[Edit], dict[int, str], list[ast.stmt]]:
    """New texts by position, lines by those that they come before, and statements that nothing needs any more."""
    if any(_is_inner(old, root) for root in roots):
        raise Unwritten  # a part of what one call computes has no words of its own
    texts: dict[Position, str] = {}
    ahead: dict[int, str] = {}
    used: set[str] = set()
    outermost = list(_outermost(roots, source))
    for expression, node in outermost:
        alignment = Alignment(old, source)
        alignment.add(expression, node.id)
        renderer = Renderer(new, alignment, {root.id for root in roots}, framework, alias)
        place, text = _without_double_sign(source, expression, renderer.text(node.id))
        text, before = with_a_name(source, place, enclosed(source, place, quoted_alike(source, text)))
        if any(ahead.setdefault(number, line) != line for number, line in before.items()):
            raise Unwritten  # two names for one line: nobody would write that
        if texts.setdefault(position(place), text) != text:
            raise Unwritten  # the same line ran in two ways: no one change fits both
        used |= renderer.looked_behind
    replaced = [expression for expression, _ in outermost]
    dropped = [found for name in sorted(used) if (found := _unneeded(source, name, replaced)) is not None]
    return sorted(texts.items(), reverse=True), ahead, dropped


def _without_double_sign(source: ParsedSource, expression: ast.expr, text: str) -> tuple[ast.expr, str]:
    """A minus ahead of a new text that begins with one: both are left out."""
    outer, made = source.parents.get(expression), syntax.expression(text)
    if not (_is_negated(outer) and _is_negated(made)):
        return expression, text
    assert isinstance(outer, ast.UnaryOp) and isinstance(made, ast.UnaryOp)
    return outer, ast.get_source_segment(text, made.operand) or ast.unparse(made.operand)


def _is_negated(node: ast.AST | None) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)


def _is_inner(program: Program, root: Node) -> bool:
    """Whether the same piece of source goes on computing with a node, so that it is not its value."""
    return any(
        root.id in node.inputs and node.span == root.span and node.op not in STEPS for node in program.nodes
    )


def _outermost(roots: list[Node], source: ParsedSource) -> Iterator[tuple[ast.expr, Node]]:
    """A change inside a larger one is part of it."""
    found = [(source.at(node.span), node) for node in roots]
    if any(expression is None for expression, _ in found):
        raise Unwritten
    all_expressions = {id(expression) for expression, _ in found}
    for expression, node in found:
        assert expression is not None
        outer = source.parents.get(expression)
        while outer is not None and id(outer) not in all_expressions:
            outer = source.parents.get(outer)
        if outer is None:
            yield expression, node


def _unneeded(source: ParsedSource, name: str, replaced: list[ast.expr]) -> ast.stmt | None:
    """The definition of a name whose only uses were inside what is replaced."""
    inside = {part for expression in replaced for part in ast.walk(expression)}
    uses = [use for use in ast.walk(source.tree) if isinstance(use, ast.Name) and use.id == name]
    loads = [use for use in uses if isinstance(use.ctx, ast.Load)]
    if any(use not in inside for use in loads):
        return None
    return source.definition(loads[0]) if loads else None


def _diff(
    source: ParsedSource, edits: list[Edit], ahead: dict[int, str], dropped: list[ast.stmt], file: str
) -> str:
    before = source.text.splitlines(keepends=True)
    after: list[str | None] = list(before)
    for (line, column, end_line, end_column), text in edits:
        last = end_line or line
        head = before[line - 1].encode()[:column].decode()
        tail = (after[last - 1] or "").encode()[end_column:].decode()
        head, tail = _without_parentheses(head, text, tail)
        after[line - 1] = head + text + tail
        after[line:last] = [None] * (last - line)
    for statement in dropped:
        for number in range(statement.lineno - 1, statement.end_lineno or statement.lineno):
            after[number] = None
    for place, lines in ahead.items():
        after[place - 1] = lines + (after[place - 1] or "")
    changed = "".join(line for line in after if line is not None).splitlines(keepends=True)
    return "".join(difflib.unified_diff(before, changed, file, file, n=0))


def _without_parentheses(head: str, text: str, tail: str) -> tuple[str, str]:
    """A call needs no parentheses around it; those of a call that it is the argument of stay."""
    is_call = isinstance(syntax.expression(text), ast.Call | ast.Name)
    before = re.search(r"(\w+|[\])])\s*$", head[:-1])
    is_argument = before is not None and not iskeyword(before[1])
    if _is_enclosed(text) and head.endswith("(") and tail.startswith(")"):
        return head[:-1], tail[1:]  # those around the old text serve the new one, or those of the new one do
    if is_call and head.endswith("(") and tail.startswith(")") and not is_argument:
        return head[:-1], tail[1:]
    return head, tail


def _is_enclosed(text: str) -> bool:
    """Whether one pair of parentheses is around all of a text: not so in `(a + b) * (c + d)`."""
    depth = 0
    for place, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if depth == 0:
            return text.startswith("(") and place == len(text) - 1
    return False
