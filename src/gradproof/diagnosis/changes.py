"""What changed between two audits of the same program: a library upgrade, another machine, a patch."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from gradproof.diagnosis.report import GradientReport, Report

Kind = Literal["worse", "new fault", "fixed", "better", "new", "gone", "same"]
KINDS: tuple[Kind, ...] = ("worse", "new fault", "fixed", "better", "new", "gone", "same")
"""What to look at first stands first."""

# Digits that come and go with the order of a sum, which is another one on every machine.
NOTICEABLE = 1.0


@dataclass(frozen=True)
class Change:
    """A gradient before and after; None where it was not computed."""

    before: GradientReport | None
    after: GradientReport | None

    @property
    def kind(self) -> Kind:
        if self.before is None or self.after is None:
            return "gone" if self.after is None else "new fault" if self.after.verdict.is_fault else "new"
        if self.before.verdict is not self.after.verdict:
            return self._by_verdict(self.before, self.after)
        lost = _digits_lost(self.before, self.after)
        return "same" if abs(lost) < NOTICEABLE else "worse" if lost > 0 else "better"

    def _by_verdict(self, before: GradientReport, after: GradientReport) -> Kind:
        if before.verdict.is_fault and not after.verdict.is_fault and after.verdict.severity == 0:
            return "fixed"
        return "worse" if after.verdict.severity > before.verdict.severity else "better"

    @property
    def is_bad(self) -> bool:
        return self.kind in ("worse", "new fault")


def _digits_lost(before: GradientReport, after: GradientReport) -> float:
    if before.digits is None or after.digits is None:
        return 0.0
    return before.digits - after.digits


def changes(before: Report, after: Report) -> list[Change]:
    """Every gradient of both audits once, the worst changes first.

    The same gradient has the same file, target, source and order. Lines move when a program is edited, so that among
    several of one name the first is paired with the first.
    """
    old, new = _by_name(before.gradients), _by_name(after.gradients)
    found = [pair for name in dict.fromkeys([*old, *new]) for pair in _paired(old[name], new[name])]
    return sorted(found, key=lambda change: KINDS.index(change.kind))


Name = tuple[str, str, str, str, int, int]


def _by_name(gradients: Sequence[GradientReport]) -> dict[Name, list[GradientReport]]:
    named: dict[Name, list[GradientReport]] = defaultdict(list)
    for one in sorted(gradients, key=lambda one: one.call.line):
        key = (one.call.file, one.framework, one.target, one.source, one.order, one.occurrence)
        named[key].append(one)
    return named


def _paired(old: Sequence[GradientReport], new: Sequence[GradientReport]) -> Iterator[Change]:
    """By their lines where both have one at the same, else in their order."""
    lines = {one.call.line: one for one in new}
    taken = [(one, lines.pop(one.call.line, None)) for one in old]
    left = [one for one in new if one.call.line in lines]
    for before, after in taken:
        yield Change(before, after if after is not None else left.pop(0) if left else None)
    yield from (Change(None, after) for after in left)
