"""Where in the user's source something stands."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, order=True)
class Span:
    """A stretch of source, counted as Python itself counts it.

    Lines start at 1. Columns are offsets into the line in UTF-8 bytes and start at 0, and the end is the
    first column no longer part of it: what `code.co_positions()` and `ast` give can be passed on unchanged.
    What is not known is None; with `column` unknown the span means the whole line.
    """

    file: str
    line: int
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None
    function: str = ""

    def __str__(self) -> str:
        """`file:line:column`, the column counted from 1 as editors do."""
        place = f"{self.file}:{self.line}"
        return place if self.column is None else f"{place}:{self.column + 1}"

    @property
    def last_line(self) -> int:
        return self.line if self.end_line is None else max(self.line, self.end_line)

    def in_file(self, file: str) -> Span:
        """The same place under another name of the file, such as a path relative to the user's folder."""
        return replace(self, file=file)
