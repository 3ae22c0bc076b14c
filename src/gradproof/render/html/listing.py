"""The lines of one file: numbers, heat, underlines with their labels, and folds."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gradproof.diagnosis.words import columns, share
from gradproof.render.html.markup import Html, join, prose, tag, text
from gradproof.render.html.tokens import SourceToken
from gradproof.render.snippet import Mark, on_screen

CONTEXT = 4  # lines kept on either side of a line that something is said about
SHORT = 60  # lines of a file that is shown whole
LEAST_FOLD = 6  # lines that are worth a fold; fewer are simply shown
MOST_FOLDED = 1500  # lines of one fold that are kept in the page; of more, only the number
LONGEST_UNDERLINE = 200  # signs; a longer stretch is seen by its colour


@dataclass(frozen=True)
class Listing:
    """A file and everything that is said about its lines."""

    lines: Sequence[str]
    tokens: Mapping[int, list[SourceToken]]
    marks: Mapping[int, list[Mark]]
    below: Mapping[int, list[Html]]
    budget: Mapping[int, tuple[float, str]]
    calls: Mapping[int, Html]
    file: int


def listing_rows(listing: Listing, wanted: set[int]) -> Iterator[Html]:
    """The lines, those far from every line of `wanted` folded away."""
    total = len(listing.lines)
    kept = {n for w in wanted for n in range(w - CONTEXT, w + CONTEXT + 1)}
    if total <= SHORT:
        kept = set(range(1, total + 1))
    for is_kept, run in itertools.groupby(range(1, total + 1), key=kept.__contains__):
        numbers = list(run)
        rows = (row for n in numbers for row in _line(listing, n))
        if is_kept or len(numbers) < LEAST_FOLD:
            yield from rows
            continue
        said = f"lines {numbers[0]:,} to {numbers[-1]:,}"
        if len(numbers) > MOST_FOLDED:
            yield tag("p", f"{said} are not in this page", class_="fold")
        else:
            yield tag("details", tag("summary", said), *rows, class_="fold")


def _line(listing: Listing, number: int) -> Iterator[Html]:
    part, ops = listing.budget.get(number, (0.0, ""))
    here = listing.marks.get(number, [])
    level = "" if not here else (" primary" if any(mark.is_primary for mark in here) else " secondary")
    yield tag(
        "div",
        tag(
            "span",
            share(part) if part else "",
            class_="heat",
            style=f"--part:{min(abs(part), 1):.3f}",
            title=f"{share(part)} of the error: {ops}" if part else None,
            data_line=number,
        ),
        tag(
            "a", str(number), href=f"#f{listing.file}L{number}", class_="number", aria_label=f"line {number}"
        ),
        tag("code", _code(listing.lines[number - 1], listing.tokens.get(number, ()), here)),
        listing.calls.get(number),
        class_=f"line{level}",
        id=f"f{listing.file}L{number}",
    )
    for mark in sorted(here, key=lambda mark: (mark.is_primary, mark.start)):
        if mark.label:
            role, sign = ("primary", "^") if mark.is_primary else ("secondary", "-")
            drawn = tag("span", sign * min(mark.end - mark.start, LONGEST_UNDERLINE), aria_hidden="true")
            yield tag(
                "div",
                drawn,
                " ",
                tag("span", prose(mark.label)),
                class_=f"label {role}",
                style=f"--column:{mark.start}",
            )
    yield from listing.below.get(number, ())


def _code(line: str, tokens: Sequence[SourceToken], marks: Sequence[Mark]) -> Html:
    """A line whose tokens have a role; marked stretches are underlined in the text itself."""
    shown = on_screen(line)
    if shown != line:
        tokens = ()  # tabs or hidden characters were replaced: the tokens' columns no longer fit
    edges = {0, len(shown)} | {edge for t in tokens for edge in (t.start, t.end)}
    stretches = [(_index(shown, m.start), _index(shown, m.end), m.is_primary) for m in marks]
    edges |= {edge for start, end, _ in stretches for edge in (start, end)}
    parts = []
    for start, end in itertools.pairwise(sorted(edges)):
        roles = [t.role for t in tokens if t.start <= start and end <= t.end]
        over = [is_primary for first, last, is_primary in stretches if first <= start and end <= last]
        if over:
            roles.append("mark-primary" if any(over) else "mark-secondary")
        piece = shown[start:end]
        parts.append(tag("span", piece, class_=" ".join(roles)) if roles else text(piece))
    return join(parts)


def _index(shown: str, column: int) -> int:
    """The character at a column of the screen; wide characters take two."""
    if shown.isascii():
        return min(column, len(shown))
    seen = 0
    for k, character in enumerate(shown):
        if seen >= column:
            return k
        seen += columns(character)
    return len(shown)
