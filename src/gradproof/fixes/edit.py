"""Changes of single expressions in a source, as diffs."""

from __future__ import annotations

import ast
import difflib
import re
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from keyword import iskeyword

from gradproof.fixes.source import ParsedSource, parsed
from gradproof.ir import syntax

LEAST_NAMED = 16  # characters that are said again: what is shorter is read as quickly as its name
# Both sides are a name or a number: what formatters write without blanks.
_POWER = re.compile(r"(?<![\w.)\]])([\w.]+)( ?)\*\*( ?)(-?[\w.]+)(?![\w.(\[])")
_WORDS = re.compile(r"'([^'\"\\\\]*)'")
_OWN_SCOPES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.IfExp, ast.BoolOp)


def replaced(source: ParsedSource, changes: list[tuple[ast.expr, str]], file: str) -> str:
    """Expressions with other texts in their places; empty where one does not fit."""
    after = with_texts(source, changes)
    return "" if after is None else diff(source, after, file)


def named_before(
    source: ParsedSource,
    expression: ast.expr,
    text: str,
    name: str,
    file: str,
    moved: Sequence[ast.stmt] = (),
) -> str:
    """A new line gives `text` a name, and the name takes the place of an expression.

    Where no line can come before, or could have another meaning there, the text itself does. `moved` are later
    statements that the text needs: they come before it.
    """
    statement = source.statement(expression)
    name = unused_name(source, name)
    after = with_texts(source, [(expression, name)])
    if statement is None or after is None or not _runs_once(source, expression, statement):
        return "" if moved else replaced(source, [(expression, text)], file)
    new = [f"{source.indent(statement)}{name} = {text}\n"]
    shift = len(after) - len(source.text.splitlines())
    for one in sorted(moved, key=lambda each: each.lineno, reverse=True):
        lines = slice(one.lineno - 1 + shift, (one.end_lineno or one.lineno) + shift)
        new[:0] = after[lines]
        del after[lines]
    after[statement.lineno - 1 : statement.lineno - 1] = new
    return diff(source, after, file)


def without_keyword(source: ParsedSource, call: ast.expr | None, name: str, file: str) -> str:
    """A call on one line without one of its keyword arguments; empty where it has none, or stands first of several."""
    found = [one for one in call.keywords if one.arg == name] if isinstance(call, ast.Call) else []
    if not found or not isinstance(call, ast.Call) or call.end_lineno != call.lineno:
        return ""
    parts = sorted((*call.args, *(one.value for one in call.keywords)), key=lambda part: part.col_offset)
    place = parts.index(found[0].value)
    if place == 0 and len(parts) > 1:
        return ""
    lines = source.text.splitlines(keepends=True)
    line = lines[call.lineno - 1].encode()
    if place == 0:
        kept = line[: call.func.end_col_offset] + b"()" + line[call.end_col_offset :]
    else:
        kept = line[: parts[place - 1].end_col_offset] + line[parts[place].end_col_offset :]
    lines[call.lineno - 1] = kept.decode()
    return diff(source, lines, file)


def enclosed(source: ParsedSource, expression: ast.expr, text: str) -> str:
    """In parentheses where what stands around the expression would otherwise bind stronger than its new text."""
    around = source.parents.get(expression)
    if not isinstance(around, ast.expr):
        return text
    new = syntax.expression(text)
    for name, part in ast.iter_fields(around):
        if part is expression:
            fields = {**dict(ast.iter_fields(around)), name: new}
            written = ast.unparse(ast.fix_missing_locations(type(around)(**fields)))
            return (
                f"({text})"
                if f"({ast.unparse(new)})" in written and not isinstance(around, ast.Call)
                else text
            )
    return text


def placed(template: str, text: str) -> str:
    """A text in the place of `{x}`: in parentheses only where it would be read otherwise without them."""
    plain, safe = template.format(x=text), template.format(x=f"({text})")
    return plain if ast.dump(syntax.expression(plain)) == ast.dump(syntax.expression(safe)) else safe


def diff(source: ParsedSource, after: list[str], file: str, context: int = 0) -> str:
    """Imports that the change has made superfluous go with it."""
    before, now = source.text.splitlines(keepends=True), "".join(after).splitlines(keepends=True)
    now = _powers_alike(source, now)
    superfluous = _superfluous(source, "".join(now))  # once for all lines: it reads the whole file
    kept: list[str] = []
    for k, line in enumerate(now):
        is_gap = not line.strip() and k > 0 and now[k - 1] in superfluous
        if line not in superfluous and not (is_gap and not "".join(kept[-1:]).strip()):
            kept.append(line)
    return "".join(difflib.unified_diff(before, kept, file, file, n=context))


def _powers_alike(source: ParsedSource, lines: list[str]) -> list[str]:
    """New lines with powers as the file has them, where it has them in one way only: `x**2` or `x ** 2`."""
    if not any("**" in line for line in lines) or {one[2] for one in _POWER.finditer(source.text)} != {""}:
        return lines
    before = set(source.text.splitlines(keepends=True))
    return [line if line in before else _POWER.sub(r"\1**\4", line) for line in lines]


def quoted_alike(source: ParsedSource, text: str) -> str:
    """With the quotation marks that the file has around the same words."""
    return _WORDS.sub(lambda one: f'"{one[1]}"' if f'"{one[1]}"' in source.text else one[0], text)


def replaced_with_a_name(
    source: ParsedSource, expression: ast.expr, text: str, file: str, part: str = ""
) -> str:
    """As `replaced`; what the text says more than once gets a name in a line of its own, `part` if it is given."""
    text, before = with_a_name(source, expression, text, part)
    after = with_texts(source, [(expression, text)])
    if after is None:
        return ""
    return diff(source, [before.get(k, "") + line for k, line in enumerate(after, 1)], file)


def with_a_name(
    source: ParsedSource, expression: ast.expr, text: str, part: str = ""
) -> tuple[str, dict[int, str]]:
    """The new text of an expression, what it says more than once as a name, and what has to come before which line.

    `part` says what is to be named, however short.
    """
    statement = source.statement(expression)
    tree = syntax.expression(text)
    parts = [one for one in ast.walk(tree) if isinstance(one, ast.Call | ast.BinOp)]
    count = Counter(ast.get_source_segment(text, one) or "" for one in parts)
    again = [one for one in count if len(one) * (count[one] - 1) >= LEAST_NAMED and one in text]
    again = [part] if part else again
    if not again or statement is None or not _runs_once(source, expression, statement):
        return text, {}
    longest, name = max(again, key=len), unused_name(source, "part")
    # A name needs no parentheses, a call does.
    text = re.sub(rf"(?<![\w\])])\({re.escape(longest)}\)", name, text)
    named = f"{source.indent(statement)}{name} = {longest}\n"
    return text.replace(longest, name), {statement.lineno: named}


def _superfluous(source: ParsedSource, text: str) -> set[str]:
    """The lines of imports of one line whose names were used before, and are no longer."""
    changed = parsed(text)
    if changed is None:
        return set()
    lines = source.text.splitlines(keepends=True)
    before, now = (
        {one.id for one in ast.walk(each.tree) if isinstance(one, ast.Name)} for each in (source, changed)
    )
    return {
        lines[one.lineno - 1]
        for one in source.tree.body
        if isinstance(one, ast.Import | ast.ImportFrom) and one.lineno == one.end_lineno
        for names in [{name.asname or name.name.partition(".")[0] for name in one.names}]
        if names <= before and not names & now
    }


def with_texts(source: ParsedSource, changes: Sequence[tuple[ast.expr | ast.arg, str]]) -> list[str] | None:
    """The lines of a file with other texts in the places of expressions; None where two of them overlap."""
    data = source.text.encode()
    last = len(data) + 1
    # From the back, so that earlier places still count.
    for expression, text in sorted(changes, key=lambda one: (one[0].lineno, one[0].col_offset), reverse=True):
        first, end = bounds(source, expression)
        if end > last:
            return None
        head, tail = without_parentheses(data[:first].decode(), text, data[end:].decode())
        data, last = f"{head}{text}{tail}".encode(), len(head.encode())
    return data.decode().splitlines(keepends=True)


def bounds(source: ParsedSource, part: ast.expr | ast.arg) -> tuple[int, int]:
    """Where an expression begins and ends in the bytes of its file."""
    lines = source.text.encode().splitlines(keepends=True)
    starts = [0, *accumulate(map(len, lines))]
    first, last = starts[part.lineno - 1], starts[(part.end_lineno or part.lineno) - 1]
    return first + part.col_offset, last + (part.end_col_offset or 0)


def _runs_once(source: ParsedSource, expression: ast.expr, statement: ast.stmt) -> bool:
    """Whether an expression is computed exactly once when its statement runs, and the statement has its own line."""
    around: ast.AST | None = expression
    while around is not None and around is not statement:
        if isinstance(around, _OWN_SCOPES):
            return False
        around = source.parents.get(around)
    simple = isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Return | ast.Expr)
    return simple and not source.indent(statement).strip()


def unused_name(source: ParsedSource, name: str) -> str:
    """A name that the file does not have yet."""
    taken = {node.id for node in ast.walk(source.tree) if isinstance(node, ast.Name)}
    taken |= {node.arg for node in ast.walk(source.tree) if isinstance(node, ast.arg)}
    while name in taken:
        name += "_"
    return name


def without_parentheses(head: str, text: str, tail: str) -> tuple[str, str]:
    """A call needs no parentheses around it; those of a call that it is the argument of stay."""
    if not (head.endswith("(") and tail.startswith(")")):
        return head, tail
    before = re.search(r"(\w+|[\])])\s*$", head[:-1])
    is_argument = before is not None and not (iskeyword(before[1]) and head[-2:-1].isspace())
    # Those around the old text serve the new one, or those of the new one do.
    is_twice = _is_enclosed(text) or (not is_argument and isinstance(_tree(text), ast.Call | ast.Name))
    return (head[:-1], tail[1:]) if is_twice else (head, tail)


def _tree(text: str) -> ast.expr | None:
    """None for what is no expression by itself, as the arguments of a call are."""
    try:
        return syntax.expression(text)
    except SyntaxError:
        return None


def _is_enclosed(text: str) -> bool:
    """Whether one pair of parentheses is around all of a text: not so in `(a + b) * (c + d)`."""
    depth = 0
    for place, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if depth == 0:
            return text.startswith("(") and place == len(text) - 1
    return False
