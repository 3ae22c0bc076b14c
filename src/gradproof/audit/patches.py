"""The last look at a patch before it is offered: the changed file is Python, and its names have values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gradproof.diagnosis.diagnostic import Diagnostic, Fix
from gradproof.fixes.bound import is_runnable
from gradproof.render.to_diff import Hunk, hunks_of


def with_sound_patch(diagnostic: Diagnostic, sources: Mapping[str, str]) -> Diagnostic:
    """Without a patch that the file would not survive; what was said to be checked is not claimed then either."""
    fix, span = diagnostic.fix, diagnostic.span
    if fix is None or span is None or span.file not in sources:
        return diagnostic
    text = sources[span.file]
    others = tuple(one for one in fix.others if _is_sound(one, text))
    if _is_sound(fix, text):
        return replace(diagnostic, fix=replace(fix, others=others))
    return replace(diagnostic, fix=replace(fix, patch="", checked="", others=others))


def _is_sound(fix: Fix, text: str) -> bool:
    return all(is_runnable(*changed) for changed in _changed(text, list(hunks_of(fix.patch, text))))


def _changed(text: str, hunks: list[Hunk]) -> list[tuple[str, range]]:
    """The whole file with all changes, once for each of them, and the lines that are its."""
    lines = text.splitlines()
    places = []
    moved = 0
    for hunk in sorted(hunks, key=lambda one: one.first):
        first = hunk.first - 1 + moved
        lines[first : first + len(hunk.old)] = hunk.new
        places.append(range(first + 1, first + 1 + len(hunk.new)))
        moved += len(hunk.new) - len(hunk.old)
    return [("\n".join(lines) + "\n", place) for place in places]
