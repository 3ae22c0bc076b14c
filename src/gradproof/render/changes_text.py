"""What changed between two audits, as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from gradproof.diagnosis.changes import KINDS, Change
from gradproof.diagnosis.report import GradientReport
from gradproof.diagnosis.words import comma_list, count, digits_text, gradient_name, ordinal, printable


def to_changes_text(changes: Sequence[Change]) -> str:
    """A line for every gradient that changed, the worst first, and one that counts them."""
    lines = [_line(change) for change in changes if change.kind != "same"]
    return "\n".join([*lines, *([""] if lines else []), _summary(changes)]) + "\n"


def _line(change: Change) -> str:
    return f"{change.kind:<10}{_name(change)}: {', then '.join(_states(change))}"


def _name(change: Change) -> str:
    one = change.after or change.before
    assert one is not None
    run = f" ({ordinal(one.occurrence)} run)" if one.occurrence > 1 else ""
    return printable(f"{one.call.file}:{one.call.line}: {gradient_name(one.target, one.source)}{run}")


def _states(change: Change) -> Iterator[str]:
    for one in (change.before, change.after):
        if one is not None:
            yield _state(one)


def _state(one: GradientReport) -> str:
    digits = ""
    if one.digits is not None and one.digits_possible is not None:
        digits = f", {digits_text(one.digits, one.digits_possible)}"
    causes = comma_list(list(dict.fromkeys(found.kind for found in one.diagnostics if found.rank > 0)))
    return f"{one.verdict}{digits}{f' ({causes})' if causes else ''}"


def _summary(changes: Sequence[Change]) -> str:
    counts = Counter(change.kind for change in changes)
    said = [f"{counts[kind]:,} {kind}" for kind in KINDS if counts[kind] and kind != "same"]
    same = f"{counts['same']:,} the same" if counts["same"] else ""
    total = count(len(changes), "gradient")
    return f"gradproof: {total} compared: {comma_list([*said, *([same] if same else [])]) or 'none'}"
