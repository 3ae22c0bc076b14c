"""The fixes of a report tried as a whole: the script with all its patches runs once more, shut off from the world.

`--fix` asks for it. A patch that leaves its gradient at fault, or that the script does not survive, gives way to the
next one known for it; what the changed script still gets wrong is mended in it, and the result is run again.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

from gradproof.audit.changed_meaning import RAN, changed_gradient, seen
from gradproof.audit.further import mended_further
from gradproof.audit.second_run import Mended, RerunProgram, ran_again
from gradproof.diagnosis.diagnostic import Diagnostic
from gradproof.diagnosis.report import GradientReport, Report
from gradproof.judge.verdict import Verdict
from gradproof.render.from_json import from_document
from gradproof.render.to_diff import held, hunks_of, patched_texts

MOST_RUNS = 8  # of the changed script
MOST_SECONDS = 300.0  # a script that takes longer is not run again for its patches

# Target, source, and which of the gradients that are called so. Their order may be another once a way is opened.
Key = tuple[str, str, int]


@dataclass(frozen=True, eq=False)
class _Run:
    """What came of the script with all patches: the gradients by name, None where it did not end as before."""

    gradients: dict[Key, GradientReport] | None
    report: Report | None = None
    goes_on: bool = False  # where it ended with an exception before
    meant: frozenset[Key] = frozenset()  # gradients that were not the derivative before either, on purpose
    by_chance: frozenset[Key] = frozenset()  # gradients that differ whenever the script runs, changed or not

    def mends(self, key: Key) -> bool:
        if self.gradients is None or key not in self.gradients:
            # what the call asks for may have other names once there is a way to it
            return self.goes_on and bool(self.gradients) and not self.faults()
        return not self._is_left(key)

    def faults(self) -> list[GradientReport]:
        return [one for key, one in (self.gradients or {}).items() if self._is_left(key)]

    def spoils(self, before: Report) -> bool:
        """Whether a gradient that was not at fault is now: no other that is mended makes up for it."""
        right = {key for key, one in _keyed(before).items() if not is_at_fault(one)}
        return any(key in right and is_at_fault(one) for key, one in (self.gradients or {}).items())

    def _is_left(self, key: Key) -> bool:
        """Whether a gradient is at fault, or another than the derivative since the change: nobody has meant that."""
        assert self.gradients is not None
        found = self.gradients[key]
        return is_at_fault(found) or (found.verdict is Verdict.WRONG and key not in self.meant)


def is_at_fault(gradient: GradientReport) -> bool:
    return gradient.level == "error"


def with_tried_patches(report: Report, program: RerunProgram, seconds: float) -> Report:
    """The report with the patches that stood the trial, and what was seen of them; the others are advice only."""
    file = _file(report, program)
    if file is None or seconds > MOST_SECONDS:
        return report
    advised, report = report, _with_a_patch(report)
    best, waiting, tried = (len(_faulty(report)) + 1, report), [report], set[str]()
    unchanged = cache(lambda: _run(program, advised.sources[file], seconds, advised))
    while waiting and len(tried) < MOST_RUNS:
        current = waiting.pop(0)
        text = patched_texts(current).get(file)
        if text is None or text in tried:
            continue
        tried.add(text)
        run = _run(program, text, seconds, current)
        if run is None:  # this system does not shut a process off: nothing is known, and nothing is claimed
            return report
        run = replace(run, by_chance=_by_chance(current, run, unchanged))
        left = [key for key in _faulty(report) if not run.mends(key) or _is_refuted(current, key, run)]
        told = _told(current, run, left)
        is_better = run.gradients is not None and not run.spoils(report)
        n_left = len(left) + len(run.faults()) if is_better else best[0] + 1
        best = min(best, (n_left, told), key=lambda one: one[0])
        if not n_left:
            return told
        # What the change has brought to light is mended, and another change is tried in its place.
        following = [_of_faults(current), _further(report, told, run, file), _with_others(current, run, left)]
        waiting += [one for one in following if one is not None]
    claimed_of_none = _mapped(advised, lambda gradient, key, one: _as_advice(one))
    return best[1] if best[0] <= len(_faulty(report)) else claimed_of_none


def _file(report: Report, program: RerunProgram) -> str | None:
    """The script as its spans name it, if all that is to be changed is in it."""
    files = list(patched_texts(report))
    paths = [os.path.realpath(os.path.join(program.folders[0], file)) for file in files]
    return files[0] if paths == [os.path.realpath(program.path)] else None


def _keyed(report: Report) -> dict[Key, GradientReport]:
    seen: Counter[tuple[str, str]] = Counter()
    found = {}
    for one in report.gradients:
        name = one.target, one.source
        found[*name, seen[name]] = one
        seen[name] += 1
    return found


def _faulty(report: Report) -> list[Key]:
    return [key for key, gradient in _keyed(report).items() if is_at_fault(gradient)]


def _run(program: RerunProgram, text: str, seconds: float, before: Report) -> _Run | None:
    try:
        document = ran_again(program, Mended(text), seconds)
    except TimeoutError:
        return _Run(None)
    if document is None:
        return None
    again = from_document(document["report"])
    ended, was = (None if one.script is None else one.script.exception for one in (again, before))
    if ended is not None and ended != was:
        return _Run(None, again)
    return _Run(_keyed(again), again, goes_on=was is not None and ended is None, meant=_meant(before))


def _meant(report: Report) -> frozenset[Key]:
    """The gradients that are another than the derivative on purpose: by the script, or by a change that says so."""
    return frozenset(
        key
        for key, one in _keyed(report).items()
        if (one.verdict is Verdict.WRONG and not is_at_fault(one))
        or any(
            each.fix is not None and each.fix.patch and each.fix.changes_meaning for each in one.diagnostics
        )
    )


def _is_refuted(report: Report, key: Key, run: _Run) -> bool:
    """Whether the changed lines compute something else than the program that was proven to be equal."""
    before, now = _keyed(report)[key], (run.gradients or {}).get(key)
    says_equal = any(one.fix is not None and one.fix.patch and one.fix.is_equal for one in before.diagnostics)
    is_compared = key[2] == 0 and key not in run.by_chance
    return says_equal and now is not None and is_compared and bool(changed_gradient(before, now))


def _by_chance(report: Report, run: _Run, unchanged: Callable[[], _Run | None]) -> frozenset[Key]:
    """What random numbers without a seed have changed, and no patch: asked where a patch says to change nothing."""
    before = _keyed(report)
    differ = [
        key
        for key, one in (run.gradients or {}).items()
        if key in before and _keeps_the_meaning(before[key]) and changed_gradient(before[key], one)
    ]
    again = unchanged() if differ else None
    now = {} if again is None or again.gradients is None else again.gradients
    return frozenset(key for key in differ if key in now and changed_gradient(before[key], now[key]))


def _keeps_the_meaning(gradient: GradientReport) -> bool:
    fixes = [one.fix for one in gradient.diagnostics if one.fix is not None and one.fix.patch]
    return bool(fixes) and not any(one.changes_meaning for one in fixes)


def _told(report: Report, run: _Run, left: list[Key]) -> Report:
    """Patches that mend, with what was seen of them; one that was claimed and does not is claimed no longer.

    What was not in the text that ran, as another change of its lines was, is not credited with it.
    """
    ran = held(report)

    def told(gradient: GradientReport, key: Key, diagnostic: Diagnostic) -> Diagnostic:
        fix = diagnostic.fix
        if fix is None or not fix.patch:
            return diagnostic
        if not fix.checked and not ran(diagnostic):
            return _as_advice(diagnostic)
        now = None if run.gradients is None else run.gradients.get(key)
        is_mended = key not in left if is_at_fault(gradient) else _is_gone(diagnostic, now)
        if is_mended and not ran(diagnostic):
            return diagnostic
        if is_mended:
            is_compared = key[2] == 0 and key not in run.by_chance
            return replace(diagnostic, fix=seen(fix, gradient, now, is_first=is_compared))
        is_refuted = key in left and is_at_fault(gradient)
        return replace(diagnostic, fix=replace(fix, checked="" if is_refuted else fix.checked))

    return _with_crash(_mapped(report, told), run)


def _is_gone(warned: Diagnostic, now: GradientReport | None) -> bool:
    """Whether the script that ran with the change for a warning has nothing to warn of any more."""
    return now is not None and all(one.rank == 0 or one.kind != warned.kind for one in now.diagnostics)


def _with_crash(report: Report, run: _Run) -> Report:
    """What mends the end of the script itself, with what was seen of it."""
    script = report.script
    fix = None if script is None or script.crash is None else script.crash.fix
    if script is None or script.crash is None or fix is None or fix.checked or not fix.patch:
        return report
    if not run.goes_on or run.faults():
        return report
    checked = replace(fix, checked=f"{RAN}: it goes on, and no gradient in it is at fault.")
    return replace(report, script=replace(script, crash=replace(script.crash, fix=checked)))


def _mapped(report: Report, change: Callable[[GradientReport, Key, Diagnostic], Diagnostic]) -> Report:
    gradients = [
        replace(one, diagnostics=tuple(change(one, key, each) for each in one.diagnostics))
        for key, one in _keyed(report).items()
    ]
    return replace(report, gradients=tuple(gradients))


def _with_others(report: Report, run: _Run, left: list[Key]) -> Report:
    """The next change for every gradient that is at fault still; where the script failed, for all not checked."""

    def next_one(gradient: GradientReport, key: Key, diagnostic: Diagnostic) -> Diagnostic:
        fix = diagnostic.fix
        is_guilty = key in left and is_at_fault(gradient)
        if fix is None or not fix.patch or not is_guilty or (run.gradients is None and fix.checked):
            return diagnostic
        first, *more = fix.others or (replace(fix, patch="", checked=""),)
        return replace(diagnostic, fix=replace(first, others=tuple(more)))

    return _mapped(report, next_one)


def _with_a_patch(report: Report) -> Report:
    """A change of lines in the place of advice that has one beside it; the advice is what is left if all fail.

    A note is not told in full, so that nobody would see its change.
    """

    def changed(gradient: GradientReport, key: Key, one: Diagnostic) -> Diagnostic:
        if one.rank == 0:
            return _as_advice(one)
        text = "" if one.span is None else report.sources.get(one.span.file, "")
        known = () if one.fix is None else (one.fix, *one.fix.others)
        fixes = [fix for fix in known if fix.patch and any(hunks_of(fix.patch, text))]
        if one.fix is None or not fixes:
            return one
        advice = replace(one.fix, patch="", checked="", others=())
        return replace(one, fix=replace(fixes[0], others=(*fixes[1:], advice)))

    return _faults_first(_mapped(report, changed))


def _faults_first(report: Report) -> Report:
    """What a gradient is warned of beside its fault waits: its change may take the lines that mend the fault."""

    def changed(gradient: GradientReport, key: Key, one: Diagnostic) -> Diagnostic:
        fixes = [each.fix for each in gradient.diagnostics if each.severity == "error"]
        has_way = any(fix is not None and fix.patch for fix in fixes)
        return _as_advice(one) if has_way and one.severity != "error" else one

    return _mapped(report, changed)


def _of_faults(report: Report) -> Report:
    """Only what mends a fault: what is a matter of taste beside it may be what the script did not survive."""
    return _mapped(report, lambda gradient, key, one: one if is_at_fault(gradient) else _as_advice(one))


def _as_advice(one: Diagnostic) -> Diagnostic:
    return one if one.fix is None else replace(one, fix=replace(one.fix, patch="", checked="", others=()))


def _further(first: Report, told: Report, run: _Run, file: str) -> Report | None:
    return None if run.report is None else mended_further(first, told, run.report, run.faults(), file)
