"""The change to the user's lines that makes of their program the one that was run and proven."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gradproof.fixes.align import STEPS, Alignment
from gradproof.fixes.edit import diff, enclosed, quoted_alike, with_a_name, without_parentheses
from gradproof.fixes.inlined import Place, callers
from gradproof.fixes.lines import lines_without
from gradproof.fixes.render_term import Renderer, Unwritten
from gradproof.fixes.signs import with_merged_sign
from gradproof.fixes.source import ParsedSource, Position, parsed, position
from gradproof.fixes.spelling import alias_of
from gradproof.ir.program import Node, Program, ancestors

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
    if source is None or any(_is_inner(old, root) for root in roots):
        return None  # a part of what one call computes has no words of its own
    others = " ".join(text for name, text in sources.items() if name != file)
    writing = _Writing(old, new, roots, source, framework, alias_of(source.tree, framework), others)
    places: list[Place] | None = [(source.at(root.span), root) for root in roots]
    while places is not None:
        try:
            return Patch(file, _diff(source, *writing.edits(places), file))
        except Unwritten:  # where a function is called more may be known than inside it
            places = callers(old, source, places)
    return None


@dataclass(frozen=True, eq=False)
class _Writing:
    """`others` is the text of the other files that took part."""

    old: Program
    new: Program
    roots: list[Node]
    source: ParsedSource
    framework: str
    alias: str | None
    others: str

    def edits(self, places: list[Place]) -> tuple[list[Edit], dict[int, str], list[ast.stmt]]:
        """New texts by position, lines by those that they come before, and statements that nothing needs any more."""
        texts: dict[Position, str] = {}
        ahead: dict[int, str] = {}
        used: set[str] = set()
        written: set[int] = set()
        outermost = list(_outermost(places, self.source))
        for expression, node in outermost:
            alignment = Alignment(self.old, self.source)
            alignment.add(expression, node.id)
            changed = {root.id for root in self.roots}
            renderer = Renderer(self.new, alignment, changed, self.framework, self.alias)
            others = [other for other, _ in outermost if other is not expression]
            place, text = with_merged_sign(self.source, expression, renderer.text(node.id), others)
            text = enclosed(self.source, place, quoted_alike(self.source, text))
            text, before = with_a_name(self.source, place, text)
            if any(ahead.setdefault(number, line) != line for number, line in before.items()):
                raise Unwritten  # two names for one line: nobody would write that
            if texts.setdefault(position(place), text) != text:
                raise Unwritten  # the same line ran in two ways: no one change fits both
            used |= renderer.looked_behind
            written |= renderer.written
            ahead |= self._import_of_math() if renderer.needs_math else {}
        if not written.issuperset({root.id for root in self.roots} & ancestors(self.new, self.new.outputs)):
            raise Unwritten  # the lines would go on saying what was there before
        said = {word for text in (*texts.values(), *ahead.values()) for word in re.findall(r"\w+", text)}
        dropped = self._unneeded(used - said, [expression for expression, _ in outermost])
        return sorted(texts.items(), reverse=True), ahead, dropped

    def _import_of_math(self) -> dict[int, str]:
        """The line that the file lacks, ahead of the first import."""
        imports = [one for one in self.source.tree.body if isinstance(one, ast.Import | ast.ImportFrom)]
        is_there = alias_of(self.source.tree, "math") is not None
        # A `from __future__` has to stay the first.
        later = [one for one in imports if ast.unparse(one).split()[1] != "__future__"]
        return {} if is_there or not later else {later[0].lineno: "import math\n"}

    def _unneeded(self, names: set[str], replaced: list[ast.expr]) -> list[ast.stmt]:
        """What gave names their values that are used only inside of what is replaced, or of what goes with it."""
        gone: list[ast.AST] = [*replaced]
        found: list[ast.stmt] = []
        while names:
            inside = {part for one in gone for part in ast.walk(one)}
            loads = {name: self._loads(name, inside) for name in names}
            free = [name for name in sorted(names) if loads[name] and inside.issuperset(loads[name])]
            if not free:
                return found
            names = names - set(free)
            given = (self._definition(loads[name][0]) for name in free)
            more = [one for one in given if one is not None]
            found, gone = [*found, *more], [*gone, *more]
        return found

    def _loads(self, name: str, inside: set[ast.AST]) -> list[ast.Name]:
        """Where the variables are read that a name stands for inside of what goes."""
        uses = self.source.names(self.source.tree, name)
        owners = {self.source.owner(one) for one in uses if one in inside}
        return [one for one in uses if isinstance(one.ctx, ast.Load) and self.source.owner(one) in owners]

    def _definition(self, use: ast.Name) -> ast.stmt | None:
        functions = [one for one in self.source.tree.body if isinstance(one, ast.FunctionDef)]
        own = [one for one in functions if one.name == use.id]
        if own and re.search(rf"\b{use.id}\b", self.others):
            return None  # other files may call it
        return own[0] if own else self.source.definition(use)


def _is_inner(program: Program, root: Node) -> bool:
    """Whether the same piece of source goes on computing with a node, so that it is not its value."""
    return any(
        root.id in node.inputs and node.span == root.span and node.op not in STEPS for node in program.nodes
    )


def _outermost(places: list[Place], source: ParsedSource) -> Iterator[tuple[ast.expr, Node]]:
    """A change inside a larger one is part of it."""
    if any(expression is None for expression, _ in places):
        raise Unwritten
    all_expressions = {id(expression) for expression, _ in places}
    for expression, node in places:
        assert expression is not None
        outer = source.parents.get(expression)
        while outer is not None and id(outer) not in all_expressions:
            outer = source.parents.get(outer)
        if outer is None:
            yield expression, node


def _diff(
    source: ParsedSource, edits: list[Edit], ahead: dict[int, str], dropped: list[ast.stmt], file: str
) -> str:
    before = source.text.splitlines(keepends=True)
    after: list[str | None] = list(before)
    for (line, column, end_line, end_column), text in edits:
        last = end_line or line
        head = before[line - 1].encode()[:column].decode()
        tail = (after[last - 1] or "").encode()[end_column:].decode()
        head, tail = without_parentheses(head, text, tail)
        after[line - 1] = head + text + tail
        after[line:last] = [None] * (last - line)
    for number in lines_without(source, dropped):
        after[number - 1] = None
    for place, lines in ahead.items():
        after[place - 1] = lines + (after[place - 1] or "")
    return diff(source, [line for line in after if line is not None], file)
