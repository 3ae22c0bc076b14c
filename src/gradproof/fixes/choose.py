"""The one place where the changes that may mend a fault are collected and put in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from gradproof.diagnosis.case import Case
from gradproof.diagnosis.diagnostic import Diagnostic, Fix
from gradproof.fixes.kind import Fault
from gradproof.fixes.kinds import serving
from gradproof.fixes.tried import Replay

MOST_OTHERS = 6  # kept beside the best, to be tried in its place


def with_offers(
    case: Case, diagnostics: Iterable[Diagnostic], replay: Replay | None
) -> tuple[Diagnostic, ...]:
    """Each with the best change that is known for it, and up to two others."""
    return tuple(_with_best(Fault(case, one, replay)) for one in diagnostics)


def _with_best(fault: Fault) -> Diagnostic:
    found = fault.found
    # What has no advice is no fault; what a cause has run and written as a diff itself needs no other change.
    if found.fix is None or ("@@" in found.fix.patch and found.fix.checked):
        return found
    ordered = sorted(_distinct([found.fix, *_offers(fault)]), key=lambda one: _rank(one, found.fix))
    best, others = ordered[0], [one for one in ordered[1:] if one.patch]
    return replace(found, fix=replace(best, others=tuple(others[:MOST_OTHERS])))


def _offers(fault: Fault) -> Iterator[Fix]:
    for kind in serving(fault.found.kind):
        yield from (fix for fix in kind.offer(fault) if fix.patch or fix.checked)


def _distinct(fixes: Iterable[Fix]) -> list[Fix]:
    """Of changes to the same lines the first that was run."""
    found: dict[str, Fix] = {}
    for fix in sorted(fixes, key=lambda one: not one.checked):
        found.setdefault(fix.patch or fix.text, fix)
    return list(found.values())


def _rank(fix: Fix, own: Fix | None) -> tuple[int, bool, int]:
    """What was run before what was not, the cause's own words before what was not; the same meaning before another.

    What was not run is no advice yet: it stands behind, and `--fix` tries it.
    """
    changed = sum(line[:1] in "+-" for line in fix.patch.splitlines())
    kind = 0 if fix.patch and fix.checked else 1 if fix.checked else 2 if fix is own else 3
    return kind, bool(fix.changes_meaning), changed
