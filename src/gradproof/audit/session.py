"""One audit: takes gradient calls as they come, examines each at once, and makes the report."""

from __future__ import annotations

import os
import sys
import threading
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from gradproof.audit.asked_for import LISTENERS as ANSWERS
from gradproof.audit.asked_for import is_asked_for
from gradproof.audit.budget import Budget, Policy, powers
from gradproof.audit.conclude import conclusion, with_rules_tried
from gradproof.audit.condense import condensed
from gradproof.audit.examine import examine, examined, unexamined
from gradproof.audit.facts import Heard, report_of
from gradproof.audit.history import Histories
from gradproof.audit.keeper import Keeper
from gradproof.audit.numerical import check_reports
from gradproof.audit.silenced import is_undisturbed, undisturbed
from gradproof.audit.versions import imported_frameworks
from gradproof.blackbox.announce import LISTENERS as CHECKS
from gradproof.blackbox.numerical_check import NumericalCheck
from gradproof.clock import Show, TimeIsOver, doing, shown_by, time_limit, unlimited
from gradproof.diagnosis.diagnostic import Diagnostic
from gradproof.diagnosis.report import GradientReport, Report, Script, Unchecked
from gradproof.fixes.allowance import SearchTime, checking
from gradproof.frameworks import Framework, all_frameworks, framework
from gradproof.frontends.after.rerun import withheld
from gradproof.frontends.attachment import Attachment, Skipped
from gradproof.frontends.record.place import here, span_of
from gradproof.frontends.record.value import lending
from gradproof.frontends.select import attach_all
from gradproof.internal_error import fault_reason
from gradproof.ir.capture import Capture
from gradproof.ir.span import Span
from gradproof.options import Options

EXCLUDED = "the settings of the project exclude this file"
INTERRUPTED = "interrupted: Ctrl-C came while it was checked"


@dataclass(eq=False)
class Session:
    """What was found so far. Nothing in here raises into the user's program."""

    options: Options = field(default_factory=Options)
    budget: Budget = field(default_factory=Budget)
    policy: Policy = powers
    gradients: list[GradientReport] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    attachments: list[Attachment] = field(default_factory=list)
    checks_option: str = "--checks"  # what the user has set the policy with
    excludes: Callable[[str], bool] | None = None  # whether the gradients that a file asks for are left alone
    hears_checks: bool = True  # whether gradients that `check` was called for are part of the report
    show: Show | None = None  # shows what is being checked; `hide` is called before the program goes on
    hide: Callable[[], None] = lambda: None
    heard: Callable[[], None] = lambda: None  # called when gradients were added
    keeper: Keeper | None = None  # keeps what was captured for a later judgement
    withheld: tuple[str, ...] = ()  # what was not run again after the program's end, and why
    _pid: int = field(default_factory=os.getpid)
    _histories: Histories = field(default_factory=Histories)
    _search_time: SearchTime = field(default_factory=SearchTime)  # many small checks have no more than one
    _concluding: bool = False  # gradients that are computed meanwhile are ours
    _unspoken: list[str] = field(default_factory=list)  # faults that no gradient tells of
    _remarks: list[str] = field(default_factory=list)
    _early: list[Framework] = field(default_factory=list)  # listened to, and there before
    _excluded: Counter[Span] = field(default_factory=Counter)
    # Precision is a setting of the whole process in the library of balls: one examination at a time.
    _lock: threading.RLock = field(default_factory=threading.RLock)

    @property
    def is_ours(self) -> bool:
        """False in a process that the user's program has forked off: its gradients are not in this report."""
        return os.getpid() == self._pid

    def start(self) -> None:
        here_now = {one.name for one in all_frameworks() if one.module in sys.modules}
        self.attachments = attach_all(self.receive, self._wants)
        listened = [framework(one.framework) for one in self.attachments if one.framework in here_now]
        self._early = [
            one for one in listened if one.returns_none
        ]  # our own tape is heard from any moment on
        CHECKS.append(self._receive_check)
        if self.hears_checks:
            ANSWERS.append(self._write_down)

    def stop(self) -> None:
        CHECKS[:] = [listener for listener in CHECKS if listener != self._receive_check]
        ANSWERS[:] = [listener for listener in ANSWERS if listener != self._write_down]
        for attachment in self.attachments:
            attachment.remove()

    def recount(self) -> None:
        """Choose among the executions of every line anew: what follows is a part with a report of its own."""
        for attachment in self.attachments:
            attachment.recount()

    def conclude(self, error: BaseException | None) -> Diagnostic | None:
        """After the program: try the rules it left unused, and look at what it was about when it crashed.

        The explanation of the crash, if it is understood. Code of the user's is run here, so that this is
        only for programs that have ended.
        """
        crash = None
        for attachment in self.attachments:
            attachment.ended()
        self._concluding = True
        with withheld() as left_out, self._checking(), doing("what the program left unused"):
            try:
                self._try_rules()
                if error is not None:
                    found = conclusion(error, self.attachments, self.options)
                    self.gradients += found.gradients
                    crash = found.crash
            except TimeIsOver as over:
                self._remarks.append(f"{over}, so that rules the program left unused were not all tried")
            except KeyboardInterrupt:
                self._remarks.append("interrupted: rules the program left unused were not all tried")
                raise
            except Exception:
                self.faults.append(traceback.format_exc())
                self._unspoken.append(self.faults[-1])
            finally:
                self._concluding = False  # what observers have waited with to the end comes after this
        self.withheld = tuple(left_out)
        self._hand_over()
        return crash

    def _try_rules(self) -> None:
        """Look again at gradients with hand-written rules that never ran, with what the rules return."""
        captures = [capture for attachment in self.attachments for capture in attachment.tried()]
        if captures and (self.keeper is None or not self.keeper.keep(captures, are_tried=True)):
            tried = [report for capture in captures for report in examine(capture, self.options)]
            if self.keeper is not None:
                self.keeper.tell(tried, are_tried=True)
            self.gradients = with_rules_tried(self.gradients, tried)

    def _receive_check(self, check: NumericalCheck, function: Callable[..., Any]) -> None:
        self._write_down(check_reports(check, function, span_of(here()) or Span("<unknown>", 0)))

    def _write_down(self, found: Sequence[GradientReport]) -> None:
        """A check by finite differences, and a call of `check`, has its own verdict already."""
        if self.is_ours and not self._concluding:
            with self._lock:
                self.gradients = condensed([*self.gradients, *found])
                self._hand_over()

    def _wants(self, occurrence: int) -> bool:
        """The first execution of a line is always wanted: even without time left, the report names it."""
        if not self.is_ours:
            return False
        return self.policy(occurrence) and (occurrence == 1 or not self.budget.is_used_up)

    def receive(self, read: Callable[[], Sequence[Capture]], unread: Callable[[str], Capture]) -> None:
        """Examined before the user's program goes on, so that no record of a large model is held for long."""
        if not self.is_ours or self._concluding or is_asked_for():
            return
        if is_undisturbed():
            return
        if self._is_excluded(unread):
            return
        with self._checking():
            try:
                self.gradients += self._examined(read, unread)
            except TimeIsOver as over:
                self.gradients += self._unexamined(unread, str(over))
            except KeyboardInterrupt:
                self.gradients += self._unexamined(unread, INTERRUPTED)
                raise  # the program is told as it would be without us
            except Exception as error:
                self.faults.append(traceback.format_exc())
                self.gradients += self._unexamined(unread, fault_reason(error))
            self.gradients = condensed(self.gradients)
            self._hand_over()
        self.heard()

    def _hand_over(self) -> None:
        """What was judged at once, where the rest is kept for later: kept in its place among it."""
        if self.keeper is None or not self.gradients:
            return
        told, self.gradients = self.gradients, []
        try:
            self.keeper.tell(told)
        except Exception:
            self.faults.append(traceback.format_exc())
            self._unspoken.append(self.faults[-1])

    def _is_excluded(self, unread: Callable[[str], Capture]) -> bool:
        if self.excludes is None:
            return False
        try:
            with self._lock, undisturbed():
                call = unread(EXCLUDED).call
        except Exception:
            return False  # what goes wrong here goes wrong again where it is told
        if not self.excludes(call.file):
            return False
        self._excluded[call] += 1
        return True

    @contextmanager
    def _checking(self) -> Iterator[None]:
        """Around all work of ours: alone, unnoticed, on time and shown."""
        with (
            self._lock,
            undisturbed(),
            self.budget.spending(),
            shown_by(self.show),
            time_limit(self.budget.left, self.budget.overrun_reason),
        ):
            try:
                yield
            finally:
                self.hide()

    def _examined(
        self, read: Callable[[], Sequence[Capture]], unread: Callable[[str], Capture]
    ) -> list[GradientReport]:
        if self.budget.is_used_up:
            return unexamined(unread(self.budget.reason))
        captures, is_kept = self._kept(read)
        if captures is None:
            captures = self._noted(read)
        self._histories.learn(captures)
        if is_kept:
            return []
        with checking(self._search_time):
            return [report for capture in captures for report in examined(capture, self.options)]

    def _kept(self, read: Callable[[], Sequence[Capture]]) -> tuple[list[Capture] | None, bool]:
        """Whether the captures of a call are kept; None for them where they cannot be used beyond this moment."""
        if self.keeper is None:
            return None, False
        with lending() as loan:
            captures = self._noted(read)
            is_kept = self.keeper.keep(captures)
        return captures if is_kept or not loan.is_taken else None, is_kept

    def _noted(self, read: Callable[[], Sequence[Capture]]) -> list[Capture]:
        return [self._histories.noted(capture) for capture in read()]

    def _unexamined(self, unread: Callable[[str], Capture], reason: str) -> list[GradientReport]:
        try:
            with unlimited():
                return unexamined(unread(reason))
        except Exception:
            self.faults.append(traceback.format_exc())
            self._unspoken.append(self.faults[-1])
            return []

    def report(self, script: Script | None = None, timing: Mapping[str, float] | None = None) -> Report:
        """All that is known now, with the text of the files it speaks of."""
        return report_of(self.gradients, self.known(), script, timing)

    def known(self) -> Heard:
        """What is known beside the gradients."""
        skipped = [skipped for attachment in self.attachments for skipped in attachment.skipped()]
        named = {gradient.framework for gradient in self.gradients}
        named |= set() if self.keeper is None else self.keeper.frameworks
        return Heard(
            frameworks=imported_frameworks(named),
            unchecked=(
                *(self._unchecked(row) for row in skipped),
                *(Unchecked(call, n, EXCLUDED) for call, n in self._excluded.items()),
            ),
            failures=(
                *(failure for attachment in self.attachments for failure in attachment.failures()),
                *self._unspoken,
            ),
            remarks=(
                *self._remarks,
                *(one for attachment in self.attachments for one in attachment.remarks()),
            ),
            last=() if named else self._unseen(),
            spent=self.budget.spent,
        )

    def _unchecked(self, row: Skipped) -> Unchecked:
        reason = (
            self.budget.reason
            if self.budget.is_used_up
            else f"only some executions of a line are checked ({self.checks_option})"
        )
        if row.nonfinite:
            reason += f"; {row.nonfinite:,} of them returned NaN or infinity"
        return Unchecked(row.span, row.count, reason)

    def _unseen(self) -> tuple[str, ...]:
        """What may have run unseen, where only one framework can be meant."""
        if len(self._early) != 1:
            return ()
        return tuple(one.unseen_before for one in self._early if one.unseen_before)
