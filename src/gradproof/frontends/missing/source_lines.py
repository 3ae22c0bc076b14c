"""What the source says at a line that took part in a missing gradient."""

from __future__ import annotations

import linecache
import re

from gradproof.ir.span import Span


def line_at(span: Span | None) -> str:
    return "" if span is None else linecache.getline(span.file, span.line)


def rebinds(span: Span | None, name: str) -> bool:
    """Whether a line assigns to a name what it computes from the same name."""
    found = re.match(rf"\s*{re.escape(name)}\s*([-+*/@]?)=(?!=)(.*)", line_at(span))
    return found is not None and (
        bool(found[1]) or re.search(rf"\b{re.escape(name)}\b", found[2]) is not None
    )
