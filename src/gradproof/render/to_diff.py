"""All fixes of a report that are patches, as one unified diff with context: what `patch` and `git apply` read."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gradproof.diagnosis.diagnostic import Diagnostic, Fix
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

    @property
    def narrowed(self) -> Hunk:
        """Without the lines of context at its beginning and end."""
        before = _n_equal(self.old, self.new)
        old, new = self.old[before:], self.new[before:]
        after = _n_equal(old[::-1], new[::-1])
        return Hunk(self.first + before, old[: len(old) - after], new[: len(new) - after])

    def fits(self, lines: Sequence[str]) -> bool:
        start = self.first - 1
        return 0 <= start <= len(lines) and list(self.old) == list(lines[start : start + len(self.old)])


def _n_equal(old: Sequence[str], new: Sequence[str]) -> int:
    pairs: Iterator[tuple[str, str]] = zip(old, new)
    return next((k for k, (a, b) in enumerate(pairs) if a != b), min(len(old), len(new)))


@dataclass
class _Changes:
    """What becomes of one file, and what a reader should know of it before applying it."""

    hunks: list[Hunk] = field(default_factory=list)
    count: int = 0  # of fixes, each of which may consist of several hunks
    remarks: list[str] = field(default_factory=list)


def to_diff(report: Report) -> str:
    """Empty where no fix can be shown as a change of lines. Of two that touch the same lines, the first counts.

    Ahead of each file its fixes are told in comments, which `patch` and `git apply` pass over.
    """
    found = sorted(_changes(report).items())
    return "".join(_file_diff(file, changes, report.sources) for file, changes in found)


def patched_texts(report: Report) -> dict[str, str]:
    """Every file that the fixes of a report change, as it is with all of them."""
    found = {file: _after(file, changes, report.sources) for file, changes in _changes(report).items()}
    return {file: "\n".join(lines) + "\n" for file, lines in found.items() if lines is not None}


def held(report: Report) -> Callable[[Diagnostic], bool]:
    """Whether the fix of a diagnostic is in the diff of a report: of two that touch the same lines, one is."""
    found = {file: set(changes.hunks) for file, changes in _changes(report).items()}

    def is_held(diagnostic: Diagnostic) -> bool:
        fix, span = applicable(diagnostic.fix), diagnostic.span
        if fix is None or span is None:
            return False
        return found.get(span.file, set()).issuperset(_to_join(fix.patch, report.sources.get(span.file, "")))

    return is_held


def count_fixes(report: Report) -> int:
    """How many fixes the diff of a report holds."""
    return sum(fixes_by_file(report).values())


def fixes_by_file(report: Report) -> dict[str, int]:
    """How many fixes the diff of a report holds for each file that it changes."""
    found = _changes(report).items()
    return {file: changes.count for file, changes in found if _file_diff(file, changes, report.sources)}


def _changes(report: Report) -> dict[str, _Changes]:
    by_file: dict[str, _Changes] = {}
    for diagnostic in _to_be_mended(report):
        fix, span = applicable(diagnostic.fix), diagnostic.span
        if fix is not None and span is not None:
            hunks = _to_join(fix.patch, report.sources.get(span.file, ""))
            changes = by_file.setdefault(span.file, _Changes())
            if _join(changes.hunks, hunks):
                changes.count += 1
                changes.remarks += _remarks(printable(f"{span.file}:{span.line} ({diagnostic.kind})"), fix)
    return by_file


def applicable(fix: Fix | None) -> Fix | None:
    """A fix, or the first of its others, that is a change of lines."""
    known = () if fix is None else (fix, *fix.others)
    return next((one for one in known if one.patch), None)


def shown_only(report: Report) -> Report:
    """Without the changes that are kept beside those that are shown: nobody has seen yet what they are worth."""
    gradients = [replace(one, diagnostics=tuple(map(_alone, one.diagnostics))) for one in report.gradients]
    return replace(report, gradients=tuple(gradients))


def _alone(diagnostic: Diagnostic) -> Diagnostic:
    return (
        diagnostic if diagnostic.fix is None else replace(diagnostic, fix=replace(diagnostic.fix, others=()))
    )


def _to_be_mended(report: Report) -> Iterator[Diagnostic]:
    """What ended the program comes first, then what was run; what is meant to be as it is stays so.

    A note shows no change, and none is made for it.
    """
    if report.script is not None and report.script.crash is not None:
        yield report.script.crash
    found = [
        one
        for gradient in report.gradients
        if not gradient.intended
        for one in gradient.diagnostics
        if one.rank > 0
    ]
    yield from sorted(found, key=lambda one: (fix := applicable(one.fix)) is None or not fix.checked)


def _remarks(place: str, fix: Fix) -> Iterator[str]:
    yield f"# {place}: {printable(fix.text)}"
    if fix.changes_meaning:
        yield f"#   changes: {printable(fix.changes_meaning)}"
    if not fix.checked:
        yield "#   not checked: the program with this change was not run"


def hunks_of(patch: str, source: str) -> Iterator[Hunk]:
    """The changes of a diff. One without line numbers is placed by its lines, if they occur once in the source."""
    lines = _lines(patch)
    starts = [k for k, line in enumerate(lines) if _HUNK.match(line)]
    if not starts:
        yield from _placed(lines, _lines(source))
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


def _to_join(patch: str, source: str) -> list[Hunk]:
    """The changes without the lines around them, which another change may touch; as they are where these differ."""
    lines = _lines(source)
    return [hunk.narrowed if hunk.fits(lines) else hunk for hunk in hunks_of(patch, source)]


def _join(known: list[Hunk], hunks: list[Hunk]) -> bool:
    """Whether the changes could be added, because they touch no line that another one touches."""
    taken = {line for hunk in known for line in hunk.lines}
    if not hunks or any(line in taken for hunk in hunks for line in hunk.lines):
        return False
    known += hunks
    return True


def _file_diff(file: str, changes: _Changes, sources: Mapping[str, str]) -> str:
    before, after = _lines(sources.get(file, "")), _after(file, changes, sources)
    if after is None:
        return ""
    names = _quoted(f"a/{file}"), _quoted(f"b/{file}")
    diff = list(difflib.unified_diff(before, after, *names, n=CONTEXT, lineterm=""))
    return "".join(line + "\n" for line in (*changes.remarks, *diff)) if diff else ""


def _after(file: str, changes: _Changes, sources: Mapping[str, str]) -> list[str] | None:
    """The lines of a file with its changes; None where the file is not the one that was run."""
    before = _lines(sources.get(file, ""))
    after = list(before)
    for hunk in sorted(changes.hunks, key=lambda one: -one.first):
        place = slice(hunk.first - 1, hunk.first - 1 + len(hunk.old))
        if tuple(before[place]) != hunk.old:
            return None
        after[place] = hunk.new
    return after


def _lines(text: str) -> list[str]:
    """Lines as `patch` and Python count them: `splitlines` would end one at a form feed too."""
    return text.removesuffix("\n").split("\n") if text else []


def _quoted(path: str) -> str:
    """A path as it stands in the head of a diff.

    One with line breaks or other signs that are not shown is quoted as git quotes it, so that no name of a file can
    bring lines of its own into the diff. A blank would end the name, unless a tab comes after it.
    """
    shown = [_octal(sign) if sign in '"\\' or printable(sign) != sign else sign for sign in path]
    if any(len(sign) > 1 for sign in shown):
        return f'"{"".join(shown)}"'
    return f"{path}\t" if " " in path else path


def _octal(sign: str) -> str:
    try:
        data = os.fsencode(sign)  # what is no character is a byte that the file system gave
    except UnicodeEncodeError:
        data = sign.encode("utf-8", "surrogatepass")
    return "".join(f"\\{byte:03o}" for byte in data)
