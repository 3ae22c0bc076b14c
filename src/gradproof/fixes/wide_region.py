"""Statements computed in float64: what enters them is cast, and what leaves them is cast back."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gradproof.fixes.edit import diff, with_texts
from gradproof.fixes.source import ParsedSource
from gradproof.fixes.spelling import imported_names
from gradproof.frameworks import Framework
from gradproof.ir import syntax

Edit = tuple[ast.expr, str]

_FACTS = frozenset(
    {"shape", "dtype", "ndim", "size", "device"}
)  # attributes of an array that are no numbers of it
_NARROW = frozenset({"float16", "bfloat16", "half", "float32"})
_CASTS = frozenset({"cast", "to", "type", "astype"})
_MODULES = frozenset({"np", "numpy", "math", "scipy"})


@dataclass(frozen=True, eq=False)
class WideRegion:
    """Statements that follow each other in one block of a file, with the name it has imported the framework by."""

    source: ParsedSource
    statements: Sequence[ast.stmt]
    language: Framework
    alias: str

    def patch(self, back: str, file: str) -> str:
        """A diff in which the last statement gives a number of the dtype `back` again; empty where it cannot be one."""
        # A loop goes back to its first line: what is given a value anywhere in the region is wide in all of it.
        loops = any(not isinstance(one, ast.Assign | ast.Return) for one in self.statements)
        inner = {name for one in _flat(self.statements) for name in _value(one)[1]} if loops else set()
        found: list[tuple[ast.expr, list[ast.expr]]] = []
        for statement in _flat(self.statements):
            value, names = _value(statement)
            if value is None:
                return ""
            found.append((value, list(self.leaves(value, inner))))
            inner |= names
        if not isinstance(self.statements[-1], ast.Assign | ast.Return) or not any(
            leaves for _, leaves in found
        ):
            return ""
        words, first = self._words([leaf for _, leaves in found for leaf in leaves]), self.statements[0]
        edits = [(leaf, words[self._text(leaf)]) for _, leaves in found[:-1] for leaf in leaves]
        value, leaves = found[-1]
        edits.append((value, self._back(value, [(leaf, words[self._text(leaf)]) for leaf in leaves], back)))
        return self._diff(edits, words, first, file)

    def expression(self, part: ast.expr, back: str, file: str) -> str:
        """The same for one expression."""
        leaves, statement = list(self.leaves(part, set())), self.source.statement(part)
        if not leaves or statement is None:
            return ""
        words = self._words(leaves)
        texts = [(leaf, words[self._text(leaf)]) for leaf in leaves]
        return self._diff([(part, self._back(part, texts, back))], words, statement, file)

    def _words(self, leaves: list[ast.expr]) -> dict[str, str]:
        """What is written for each array; one that is used more than once gets a name, so that it is cast once.

        Each cast rounds the gradient that passes it: two of them would round what cancels between them.
        """
        count = Counter(map(self._text, leaves))
        taken = {one.id for one in ast.walk(self.source.tree) if isinstance(one, ast.Name)}
        words = {}
        for leaf in leaves:
            text = self._text(leaf)
            name = re.sub(r"\W+", "_", text).strip("_") + "_wide"
            words[text] = name if count[text] > 1 and name not in taken else self._wide(leaf)
        return words

    def _text(self, leaf: ast.expr) -> str:
        return ast.get_source_segment(self.source.text, leaf) or ""

    def _diff(self, edits: list[Edit], words: dict[str, str], before: ast.stmt, file: str) -> str:
        after = with_texts(self.source, edits)
        if after is None:
            return ""
        indent = self.source.indent(before)
        named = [(text, word) for text, word in words.items() if word.endswith("_wide")]
        if named and indent.strip():
            return ""
        casts = [
            f"{indent}{word} = {self._spelled(self.language.cast, text, 'float64')}\n" for text, word in named
        ]
        after[before.lineno - 1 : before.lineno - 1] = casts
        after = with_setting(self.source, self.language, self.language.wide_setting, after)
        return diff(self.source, after, file)

    def _wide(self, leaf: ast.expr) -> str:
        dtype = _narrowing(leaf)
        if dtype is not None:  # a cast to the narrow dtype becomes one to the wide
            wide = ast.get_source_segment(self.source.text, dtype) or ""
            return _spliced(self._text(leaf), leaf, dtype, f"{wide.rpartition('.')[0]}.float64")
        return self._spelled(self.language.cast, leaf, "float64")

    def _spelled(self, template: str, part: ast.expr | str, dtype: str) -> str:
        text = part if isinstance(part, str) else ast.get_source_segment(self.source.text, part) or ""
        is_plain = isinstance(_parsed(text), ast.Name | ast.Attribute | ast.Subscript | ast.Call)
        text = text if is_plain or not template.startswith("{x}") else f"({text})"
        return template.replace(f"{self.language.alias}.", f"{self.alias}.").format(x=text, dtype=dtype)

    def _back(self, value: ast.expr, texts: list[Edit], dtype: str) -> str:
        """The text of an expression with its parts cast, cast back as a whole."""
        segment = ast.get_source_segment(self.source.text, value) or ""
        for leaf, text in sorted(texts, key=lambda one: (one[0].lineno, one[0].col_offset), reverse=True):
            segment = _spliced(segment, value, leaf, text)
        return self._spelled(self.language.cast, segment, dtype)

    def leaves(self, part: ast.AST, inner: set[str]) -> Iterator[ast.expr]:
        """The arrays that an expression takes from outside; what was made in the region is wide already."""
        match part:
            case ast.Name(id=name):
                # A plain number takes the dtype of what it meets, and some frameworks could not cast it.
                if name not in inner and name not in self._modules() and not self.source.is_number(part):
                    yield part
            case ast.Attribute(value=value, attr=attr):
                if attr not in _FACTS and self._root(part) not in self._modules() | inner:
                    yield part
                elif self._root(part) in inner and not isinstance(value, ast.Name):
                    yield from self.leaves(value, inner)
            case ast.Subscript():
                if self._root(part) not in inner | self._modules() and isinstance(_base(part), ast.Name):
                    yield part
                elif self._root(part) not in inner:
                    yield from self.leaves(part.value, inner)
            case ast.Call() if _narrowing(part) is not None:
                yield part
            case ast.Call(func=function, args=args):
                found = [leaf for one in args for leaf in self.leaves(one, inner)]
                is_own = self._root(function) == self.alias
                if isinstance(function, ast.Attribute) and self._root(function) not in self._modules():
                    found = [*self.leaves(function.value, inner), *found]
                elif is_own and not found and not any(self._names(one) & inner for one in args):
                    found = [part]  # numbers that the framework makes into an array of its own
                yield from found
            case ast.Lambda() | ast.ListComp() | ast.GeneratorExp() | ast.DictComp() | ast.Compare():
                return
            case ast.BinOp() | ast.UnaryOp() | ast.Tuple() | ast.List() | ast.IfExp():
                for child in ast.iter_child_nodes(part):
                    yield from self.leaves(child, inner)

    def _names(self, part: ast.AST) -> set[str]:
        return {one.id for one in ast.walk(part) if isinstance(one, ast.Name)}

    def _modules(self) -> set[str]:
        return {*_MODULES, *imported_names(self.source.tree), self.alias}

    def _root(self, part: ast.expr) -> str:
        base = _base(part)
        return base.id if isinstance(base, ast.Name) else ""


def _narrowing(part: ast.expr) -> ast.Attribute | None:
    """`tf.float16` of `tf.cast(x, tf.float16)`."""
    if not isinstance(part, ast.Call) or not isinstance(part.func, ast.Attribute) or not part.args:
        return None
    dtype = part.args[-1]
    is_narrow = isinstance(dtype, ast.Attribute) and dtype.attr in _NARROW and part.func.attr in _CASTS
    return dtype if is_narrow and isinstance(dtype, ast.Attribute) else None


def _flat(statements: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements themselves and those of the loops among them."""
    for one in statements:
        if isinstance(one, ast.For | ast.While):
            yield from _flat(one.body)
        else:
            yield one


def _parsed(text: str) -> ast.expr:
    return syntax.expression(f"({text}\n)")


def _base(part: ast.expr) -> ast.expr:
    while isinstance(part, ast.Attribute | ast.Subscript):
        part = part.value
    return part


def _value(statement: ast.stmt) -> tuple[ast.expr | None, set[str]]:
    """What a statement computes, and the names it gives to it."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            return value, {name}
        case ast.AugAssign(target=ast.Name(id=name), value=value):
            return value, {name}
        case ast.Return(value=value):
            return value, set()
    return None, set()


def _spliced(segment: str, value: ast.expr, leaf: ast.expr, text: str) -> str:
    """The text of an expression with another text in the place of one of its parts."""
    lines = segment.split("\n")
    row, last = leaf.lineno - value.lineno, (leaf.end_lineno or leaf.lineno) - value.lineno
    start = leaf.col_offset - (value.col_offset if row == 0 else 0)
    end = (leaf.end_col_offset or 0) - (value.col_offset if last == 0 else 0)
    head, tail = lines[row].encode()[:start].decode(), lines[last].encode()[end:].decode()
    lines[row : last + 1] = [head + text + tail]
    return "\n".join(lines)


def with_setting(source: ParsedSource, language: Framework, setting: str, lines: list[str]) -> list[str]:
    """Lines of a file with a setting of the framework behind its imports, where one is needed."""
    package = _imports(source.tree, language.package)
    wanted = setting.replace(f"{language.package}.", f"{package or language.package}.")
    if not wanted or any(wanted in line for line in lines):
        return lines
    imports = [one for one in source.tree.body if isinstance(one, ast.Import | ast.ImportFrom)]
    place = (imports[-1].end_lineno or 0) if imports else 0
    needed = "" if package else f"import {language.package}\n"
    return [*lines[:place], needed, f"\n{wanted}\n", *lines[place:]] if place else lines


def _imports(tree: ast.Module, module: str) -> str:
    for node in tree.body:
        for alias in node.names if isinstance(node, ast.Import) else ():
            if alias.name == module:
                return alias.asname or module
    return ""
