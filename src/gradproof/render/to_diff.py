"""All fixes of a report that are patches, as one unified diff with context: what `patch` and `git apply` read."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gradproof.diagnosis.diagnostic import Fix
from gradproof.diagnosis.report import Report
from gradproof.diagnosis.words import printable

CONTEXT = 3  # lines around a change, as other tools show them
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@")


@dataclass(frozen=True)
class Hunk:
    """Lines that take the place of others: `old` begins at the line `first`, counted from 1."""

    first: int
    old: tuple[str, ...]
    new: tuple[str, ...]

    @property
    def lines(self) -> range:
        return range(self.first, self.first + max(len(self.old), 1))


@dataclass
class _Changes:
    """What becomes of one file, and what a reader should know of it before applying it."""

    hunks: list[Hunk] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


def to_diff(report: Report) -> str:
    """Empty where no fix can be shown as a change of lines. Of two that touch the same lines, the first counts.

    Ahead of each file its fixes are told in comments, which `patch` and `git apply` pass over.
    """
    by_file: dict[str, _Changes] = {}
    for gradient in report.gradients:
        if gradient.intended:
            continue  # what is meant to be as it is stays so
        for diagnostic in gradient.diagnostics:
            fix, span = diagnostic.fix, diagnostic.span
            if fix is not None and fix.patch and span is not None:
                hunks = list(hunks_of(fix.patch, report.sources.get(span.file, "")))
                changes = by_file.setdefault(span.file, _Changes())
                if _join(changes.hunks, hunks):
                    changes.remarks += _remarks(f"{span.file}:{span.line} ({diagnostic.kind})", fix)
    return "".join(_file_diff(file, changes, report.sources) for file, changes in sorted(by_file.items()))


def _remarks(place: str, fix: Fix) -> Iterator[str]:
    yield f"# {place}: {printable(fix.text)}"
    if fix.changes_meaning:
        yield f"#   changes: {printable(fix.changes_meaning)}"
    if not fix.checked:
        yield "#   not checked: the program with this change was not run"


def hunks_of(patch: str, source: str) -> Iterator[Hunk]:
    """The changes of a diff. One without line numbers is placed by its lines, if they occur once in the source."""
    lines = patch.splitlines()
    starts = [k for k, line in enumerate(lines) if _HUNK.match(line)]
    if not starts:
        yield from _placed(lines, source.splitlines())
    for start, end in zip(starts, [*starts[1:], len(lines)]):
        match = _HUNK.match(lines[start])
        assert match is not None
        # A hunk that only adds lines names the line after which they come.
        yield _hunk(int(match[1]) + (match[2] == "0"), lines[start + 1 : end])


def _hunk(first: int, lines: Sequence[str]) -> Hunk:
    body = [line for line in lines if line[:1] in ("-", "+", " ")]
    old = tuple(line[1:] for line in body if line[0] != "+")
    new = tuple(line[1:] for line in body if line[0] != "-")
    return Hunk(first, old, new)


def _placed(lines: Sequence[str], source: Sequence[str]) -> Iterator[Hunk]:
    old = _hunk(0, lines).old
    places = [k for k in range(len(source) - len(old) + 1) if tuple(source[k : k + len(old)]) == old]
    if old and len(places) == 1:
        yield _hunk(places[0] + 1, lines)


def _join(known: list[Hunk], hunks: list[Hunk]) -> bool:
    """Whether the changes could be added, because they touch no line that another one touches."""
    taken = {line for hunk in known for line in hunk.lines}
    if not hunks or any(line in taken for hunk in hunks for line in hunk.lines):
        return False
    known += hunks
    return True


def _file_diff(file: str, changes: _Changes, sources: Mapping[str, str]) -> str:
    before = sources.get(file, "").splitlines()
    after = list(before)
    for hunk in sorted(changes.hunks, key=lambda one: -one.first):
        place = slice(hunk.first - 1, hunk.first - 1 + len(hunk.old))
        if tuple(before[place]) != hunk.old:
            return ""  # the file is not the one that was run
        after[place] = hunk.new
    diff = list(difflib.unified_diff(before, after, f"a/{file}", f"b/{file}", n=CONTEXT, lineterm=""))
    return "".join(line + "\n" for line in (*changes.remarks, *diff)) if diff else ""
