"""`gradproof run`: audits a script that runs as if gradproof were not there."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from gradproof.audit.budget import Budget, parse_checks
from gradproof.audit.crash import ending_of
from gradproof.audit.patched_run import with_tried_patches
from gradproof.audit.run_report import not_looked_at, run_report
from gradproof.audit.runner import INTERRUPTED, Outcome, before_hard_exit, run
from gradproof.audit.second_run import Mended, RerunProgram, with_second_run
from gradproof.audit.session import Session
from gradproof.audit.settings import Settings, find_settings
from gradproof.audit.target import AuditTarget, find_module, find_script
from gradproof.cli import output
from gradproof.cli.apply import apply_fixes, print_fixes
from gradproof.cli.github import tell_github
from gradproof.cli.progress import on_errors
from gradproof.cli.run_arguments import configure
from gradproof.deferred.following import Follower, following
from gradproof.deferred.keeping import FolderKeeper, keeper_in, kept_line, lost_line
from gradproof.deferred.model import Ended
from gradproof.diagnosis.diagnostic import Diagnostic
from gradproof.diagnosis.report import Report, Script
from gradproof.errors import InvalidInput, NotWritten
from gradproof.frontends.select import unserved
from gradproof.internal_error import fault_reason
from gradproof.options import Options
from gradproof.render.to_diff import count_fixes, to_diff

NOTICED = 1.0  # seconds: what the checks of a run took is said from here on; less goes unnoticed


@dataclass(eq=False)
class _Audit:
    """One run: the session, and what is needed to say how it went, once and wherever the program ends."""

    given: argparse.Namespace
    target: AuditTarget
    paths: dict[str, str]
    folder: str
    session: Session
    fix: str | None = None
    started: float = field(default_factory=time.perf_counter)
    is_reported: bool = False
    written: list[str] = field(default_factory=list)
    settings: Settings = field(default_factory=Settings)
    keeper: FolderKeeper | None = None
    follower: Follower | None = None

    @property
    def wants_fixes(self) -> bool:
        return self.fix is not None or self.given.apply or self.given.diff

    def finish(self, outcome: Outcome, is_sudden: bool = False) -> int:
        """Print and write the report; the exit status of the whole.

        A sudden end, by `os._exit`, loses what the program has printed and not flushed: that stays so.
        """
        if self.is_reported or not self.session.is_ours:
            return outcome.exit_status
        self.is_reported = True
        if self.keeper is not None:
            return self._kept(self.keeper, outcome, is_sudden)
        report, is_interrupted = self.concluded(outcome, is_sudden)
        if not is_sudden:
            _flush_output()
        if self.session.withheld and not is_interrupted:
            try:
                report = self._with_withheld(report)
            except KeyboardInterrupt:
                is_interrupted = True
        if self.wants_fixes and not is_interrupted and not is_sudden:
            try:
                report = with_tried_patches(report, self._program(), time.perf_counter() - self.started)
            except KeyboardInterrupt:
                is_interrupted = True
            except Exception as error:  # costs the trial, not the report
                report = replace(
                    report, notes=(*report.notes, fault_reason(error, "the trial of the patches"))
                )
        report = self.settings.applied(report)
        # Files first: pictures are drawn for them, which a framework may comment on, and our words stay the last.
        # After Ctrl-C somebody waits for the text.
        is_told = True
        if is_interrupted:
            self._print(report)
            self._write(report)
        else:
            try:
                is_told = self._write(report)
            except KeyboardInterrupt:
                is_interrupted = True
            is_told &= self._print(report)
        if self.given.detail != "quiet":
            output.say_written(self.written, self.folder, self.fix, count_fixes(report) if self.fix else 0)
        if self.given.diff and not is_interrupted:
            print_fixes(report, self.given.apply)
        if self.given.apply and not is_interrupted:
            is_told &= apply_fixes(report, self.folder)
        if is_interrupted:
            return INTERRUPTED
        return report.exit_status(self.given.fail_on) if is_told else output.NOT_WRITTEN

    def _kept(self, keeper: FolderKeeper, outcome: Outcome, is_sudden: bool) -> int:
        """Nothing is judged here: say where everything is kept, and how to go on."""
        crash, is_interrupted = self._conclude(outcome, is_sudden)
        if not is_sudden:
            _flush_output()
        try:
            keeper.end(self._ended(outcome, crash))
        except NotWritten as error:
            output.say_error(str(error))
            return output.NOT_WRITTEN
        if self.given.detail != "quiet":
            output.say(kept_line(keeper, self.given.defer))
        if keeper.lost:
            output.say_error(lost_line(keeper))
            return output.NOT_WRITTEN
        return INTERRUPTED if is_interrupted else outcome.exit_status

    def _ended(self, outcome: Outcome, crash: Diagnostic | None) -> Ended:
        known, ending = self.session.known(), ending_of(outcome.exception)
        return Ended(known, self.script(outcome), ending, crash, self.own_seconds, self.session.withheld)

    def concluded(self, outcome: Outcome, is_sudden: bool = False) -> tuple[Report, bool]:
        """The report, and whether Ctrl-C has ended the program or what we did after it."""
        crash, is_interrupted = self._conclude(outcome, is_sudden)
        if self.follower is None:
            return self.report(outcome, crash), is_interrupted
        report, is_tired = self.follower.report(replace(self._ended(outcome, crash), withheld=()))
        return report, is_interrupted or is_tired

    def _conclude(self, outcome: Outcome, is_sudden: bool) -> tuple[Diagnostic | None, bool]:
        is_interrupted, crash = isinstance(outcome.exception, KeyboardInterrupt), None
        # Code of the user's may run here: never where the program ended in mid-air, or Ctrl-C ended it.
        if not is_sudden and not is_interrupted:
            try:
                crash = self.session.conclude(outcome.exception)
            except KeyboardInterrupt:
                is_interrupted = True
        self.session.stop()
        return crash, is_interrupted

    def _with_withheld(self, report: Report) -> Report:
        """What was not run again here: run in a child process, or named."""
        if not self.given.rerun:
            return not_looked_at(report, self.session.withheld)
        return with_second_run(report, self._program(), time.perf_counter() - self.started)

    def _program(self) -> RerunProgram:
        """What would have to be run once more."""
        words = [*(["-m", *self.given.module] if self.given.module is not None else self.given.script)]
        folders = [self.folder, os.path.dirname(os.path.abspath(self.target.path)), tempfile.gettempdir()]
        return RerunProgram(words, folders, os.path.abspath(self.target.path))

    def _write(self, report: Report) -> bool:
        """Whether every file that was asked for was written."""
        self.written = output.write_files(report, self.paths, self.given.full)
        wanted = len(self.paths)
        if self.fix is not None:
            wanted += 1
            self.written += [self.fix] if output.write_text(lambda: to_diff(report), self.fix) else []
        return len(self.written) == wanted

    def _print(self, report: Report) -> bool:
        """Whether the report was printed, if there is somewhere to print it."""
        # Not `sys.stderr`, which the program may have put its own stream in the place of, or closed.
        stream = sys.__stderr__
        if stream is None or stream.closed:
            return True
        try:
            if self.given.detail in ("normal", "verbose"):
                output.print_text("\n", stream)  # apart from what the program has written there
            output.print_report(report, stream, self.given.detail)
            if self.given.detail in ("normal", "verbose") and (hint := output.hint(report, self.wants_fixes)):
                output.print_text(f"{hint}\n", stream)
            tell_github(report, stream, self.folder)
        except BrokenPipeError:
            return True  # whoever read it has gone, and what the run came to is not changed by that
        except NotWritten as error:
            output.say_error(str(error))
            return False
        return True

    def report(self, outcome: Outcome, crash: Diagnostic | None = None) -> Report:
        known, own = self.session.known(), self.own_seconds
        if known.spent >= NOTICED:
            cost = (
                f"checking took {known.spent:.1f} s, the script itself {own:.1f} s; "
                "--checks and --budget limit it"
            )
            known = replace(known, last=(*known.last, cost))
        ending = ending_of(outcome.exception)
        return run_report(
            self.session.gradients, known, self.script(outcome), own, ending, crash, self.folder
        )

    def script(self, outcome: Outcome) -> Script:
        served = tuple(unserved(self.session.attachments))
        return Script(self.target.name, outcome.words, outcome.exit_status, unserved=served)

    @property
    def own_seconds(self) -> float:
        """What the program itself has taken."""
        return max(time.perf_counter() - self.started - self.session.budget.spent, 0.0)


def execute(given: argparse.Namespace) -> int:
    folder = os.getcwd()
    given.diff |= given.fix == "" and not given.apply
    paths, fix = output.writable_paths(given), output.writable_path(given.fix or None)
    target, arguments = _target(given)
    _demand_deferrable(given)
    session, settings = _session(given, folder)
    progress = on_errors(session.budget, given.detail == "quiet")
    if progress is not None:
        session.show, session.hide = progress.show, progress.hide
    audit = _Audit(given, target, paths, folder, session, fix, settings=settings)
    if given.defer is not None:
        audit.keeper = session.keeper = keeper_in(given.defer, session.options, settings)
    elif given.jobs is not None:
        audit.follower = following(given.jobs, session.budget, session.options)
        session.keeper = audit.follower.keeper
    audit.session.start()
    with before_hard_exit(lambda status: audit.finish(Outcome(status), is_sudden=True)):
        outcome = run(target, arguments)
        return audit.finish(outcome)


def _demand_deferrable(given: argparse.Namespace) -> None:
    """What is made of a report is asked of the command that makes the report."""
    names = (*output.FORMATS, "fix", "diff", "apply", "rerun", "jobs")
    asked = [f"--{name}" for name in names if getattr(given, name) not in (None, False)]
    if given.defer is not None and asked:
        raise InvalidInput(f"--defer makes no report; {asked[0]} is for `gradproof examine {given.defer}`")


def _session(given: argparse.Namespace, folder: str) -> tuple[Session, Settings]:
    """The audit that was asked for; what the command line leaves open follows the settings of the project."""
    settings = find_settings(folder)
    given.fail_on = given.fail_on or settings.fail_on or "error"
    session = Session(
        Options(witness=given.witness, fixes=not given.no_fix),
        budget=Budget(settings.budget if given.budget is None else given.budget),
        policy=given.checks or parse_checks(settings.checks or "powers"),
        excludes=settings.excludes if settings.exclude else None,
    )
    return session, settings


def silent_report(words: Sequence[str], mended: Mended | None, send: Callable[[Report], None]) -> None:
    """Send the report of a run of which nothing is printed or written; for the child process of `--rerun`.

    With the program's crash mended, it is sent as soon as the gradient that the crash prevented is there.
    """
    parser = argparse.ArgumentParser(allow_abbrev=False)
    configure(parser)
    given = parser.parse_args(words)
    target, arguments = _target(given)
    audit = _Audit(given, target, {}, os.getcwd(), _session(given, os.getcwd())[0])
    if mended is not None:
        audit.target = replace(target, text=mended.text)
    stops_early = mended is not None and mended.line is not None
    if mended is not None and stops_early:
        audit.session.heard = lambda: (
            send(audit.report(Outcome(0))) if mended.is_reached(audit.session.gradients) else None
        )
    audit.session.start()
    outcome = run(audit.target, arguments)
    send(audit.report(outcome) if stops_early else audit.concluded(outcome)[0])


def _target(given: argparse.Namespace) -> tuple[AuditTarget, list[str]]:
    words = [*(given.module or ()), *given.script]
    if words[:1] == ["--"]:
        del words[0]
    if not words:
        raise InvalidInput("`gradproof run` needs a script: gradproof run SCRIPT [ARGS...]")
    find = find_script if given.module is None else find_module
    return find(words[0]), words[1:]


def _flush_output() -> None:
    """What the script printed comes before the report; a stream that is closed is its own affair."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            continue
