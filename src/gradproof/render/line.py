"""Lines of text whose pieces know their role, so that colour can be added and nothing depends on it."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gradproof.diagnosis.terminal import columns

PROSE_WIDTH = 88  # longer lines of prose are hard to read, however wide the terminal is

# What a role looks like in a terminal. The sixteen basic colours only: the user's theme decides their tone.
STYLES = {
    "error": "bold red",
    "warning": "bold yellow",
    "note": "bold cyan",
    "good": "green",
    "strong": "bold",
    "gutter": "blue",
    "primary": "bold red",
    "secondary": "blue",
    "removed": "red",
    "added": "green",
    "faint": "dim",
}


@dataclass(frozen=True)
class Piece:
    """A stretch of a line and its role, a key of `STYLES` or empty."""

    text: str
    role: str = ""


Line = tuple[Piece, ...]


def line(*parts: str | Piece) -> Line:
    """A line of pieces; plain strings have no role."""
    return tuple(Piece(part) if isinstance(part, str) else part for part in parts)


def plain(lines: Iterable[Line]) -> str:
    """The characters alone, every line without blanks at its end."""
    return "".join("".join(piece.text for piece in each).rstrip() + "\n" for each in lines)


def coloured(lines: Sequence[Line]) -> str:
    """The same characters with the escape sequences of a terminal between them."""
    # rich is wanted for a terminal only; a report that goes to a file does without loading it.
    from rich.console import Console
    from rich.text import Text

    console = Console(file=io.StringIO(), force_terminal=True, color_system="standard", legacy_windows=False)
    for each in lines:
        text = Text(end="\n")
        for piece in each:
            text.append(piece.text, STYLES.get(piece.role, ""))
        text.rstrip()
        console.print(text, soft_wrap=True, highlight=False)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def cut(text: str, width: int) -> str:
    """The text, or as much of its beginning as fits followed by an ellipsis."""
    if columns(text) <= width:
        return text
    kept = text
    while kept and columns(kept) > width - 1:
        kept = kept[:-1]
    return kept.rstrip() + "…"


def cut_middle(text: str, width: int) -> str:
    """The text, or its beginning and end around an ellipsis: both ends of a name tell it from others."""
    if columns(text) <= width:
        return text
    n_kept = width - 1
    while True:
        tail = n_kept // 2
        shortened = f"{text[: n_kept - tail]}…{text[len(text) - tail :]}"
        if columns(shortened) <= width or n_kept == 0:
            return shortened
        n_kept -= 1
