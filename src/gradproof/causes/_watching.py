"""Where in a tape's block a line that watches a source has to stand: behind what gives the name its value."""

from __future__ import annotations

import ast

from gradproof.diagnosis.case import Case
from gradproof.fixes.edit import diff
from gradproof.fixes.source import ParsedSource, parsed
from gradproof.ir.span import Span


def watched_early(case: Case, tape: Span, line: str, name: str, drop: int | None = None) -> str:
    """A diff that puts a line into the block of a tape as early as the name it watches has its value.

    `drop` is the number of a line that it takes the place of. Empty where the text does not tell which value the name
    has when it is used: it is given one more than once in the block, or in a part of it that may not run.
    """
    source = parsed(case.sources.get(tape.file, ""))
    block = None if source is None else _block(source, tape)
    if source is None or block is None or not name.isidentifier():
        return ""
    stores = [use for use in source.names(block, name) if not isinstance(use.ctx, ast.Load)]
    given = [source.statement(use) for use in stores]
    if any(one not in block.body for one in given) or len(given) > 1:
        return ""
    lines = source.text.splitlines(keepends=True)
    after = (given[0].end_lineno or 0) if given and given[0] is not None else block.body[0].lineno - 1
    indent = source.indent(block.body[0])
    if indent.strip() or (drop is not None and drop - 1 == after):
        return ""
    kept = list(lines)
    if drop is not None:
        kept[drop - 1] = ""
    kept.insert(after, f"{indent}{line}\n")
    return diff(source, [text for text in kept if text], tape.file, context=1)


def _block(source: ParsedSource, tape: Span) -> ast.With | None:
    found = [
        node for node in ast.walk(source.tree) if isinstance(node, ast.With) and node.lineno == tape.line
    ]
    return found[0] if len(found) == 1 else None
