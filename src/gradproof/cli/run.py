"""`gradproof run`: audits a script that runs as if gradproof were not there."""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from dataclasses import dataclass, field, replace

from gradproof.audit.budget import Budget, Policy, parse_checks
from gradproof.audit.crash import connect
from gradproof.audit.relocate import relative_to
from gradproof.audit.runner import INTERRUPTED, Outcome, before_hard_exit, run
from gradproof.audit.session import Session
from gradproof.audit.target import Target, find_module, find_script
from gradproof.cli import output
from gradproof.cli.github import tell_github
from gradproof.cli.progress import on_errors
from gradproof.diagnosis.diagnostic import Diagnostic
from gradproof.diagnosis.report import Report, Script
from gradproof.errors import InvalidInput
from gradproof.render.to_diff import to_diff

NOTICED = 1.0  # seconds: what the checks of a run took is said from here on; less goes unnoticed


def configure(parser: argparse.ArgumentParser) -> None:
    parser.usage = (
        "gradproof run [options] SCRIPT [ARGS...]\n       gradproof run [options] -m MODULE [ARGS...]"
    )
    parser.epilog = (
        "The script runs as `python SCRIPT ARGS` would run it. The report goes to the error stream, after "
        "everything the script prints. Exit status: 0 nothing found, 1 a fault at the level of --fail-on, "
        "2 gradproof was called wrongly, 130 Ctrl-C ended it; else that of the script."
    )
    output.configure(parser)
    parser.add_argument(
        "--checks",
        type=_checks,
        default="powers",
        metavar="WHICH",
        help="the executions of a gradient call that are checked: powers (1st, 2nd, 10th, 100th ...; the "
        "default), all, first, or a list such as 1,5,20",
    )
    parser.add_argument(
        "--budget", type=_seconds, metavar="SECONDS", help="stop checking after so much time spent on checks"
    )
    parser.add_argument(
        "--fix",
        metavar="FILE",
        help="write the changes that mend what was found as a diff for `patch -p1`; no source is changed",
    )
    parser.add_argument(
        "-m", dest="module", nargs=argparse.REMAINDER, help="run a module, as `python -m MODULE`"
    )
    parser.add_argument(
        "script", nargs=argparse.REMAINDER, metavar="SCRIPT [ARGS...]", help=argparse.SUPPRESS
    )


def _checks(text: str) -> Policy:
    try:
        return parse_checks(text)
    except InvalidInput as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not seconds >= 0:
        raise argparse.ArgumentTypeError(f"a number of seconds is needed, not {text!r}")
    return seconds


@dataclass(eq=False)
class _Audit:
    """One run: the session, and what is needed to say how it went, once and wherever the program ends."""

    given: argparse.Namespace
    target: Target
    paths: dict[str, str]
    folder: str
    session: Session
    fix: str | None = None
    started: float = field(default_factory=time.perf_counter)
    is_reported: bool = False

    def finish(self, outcome: Outcome, is_sudden: bool = False) -> int:
        """Print and write the report; the exit status of the whole.

        A sudden end, by `os._exit`, loses what the program has printed and not flushed: that stays so.
        """
        if self.is_reported or not self.session.is_ours:
            return outcome.exit_status
        self.is_reported = True
        is_interrupted, crash = isinstance(outcome.exception, KeyboardInterrupt), None
        # Once more code of the user's may run: never where the program ended in mid-air, or Ctrl-C ended it.
        if not is_sudden and not is_interrupted:
            try:
                crash = self.session.conclude(outcome.exception)
            except KeyboardInterrupt:
                is_interrupted = True
        self.session.stop()
        report = self._report(outcome, crash)
        if not is_sudden:
            _flush_output()
        # Files first: pictures are drawn for them, which a framework may comment on, and our last line stays the last.
        # After Ctrl-C somebody waits for the text.
        if is_interrupted:
            self._print(report)
            self._write(report)
        else:
            try:
                self._write(report)
            except KeyboardInterrupt:
                is_interrupted = True
            self._print(report)
        return INTERRUPTED if is_interrupted else report.exit_status(self.given.fail_on)

    def _write(self, report: Report) -> None:
        output.write_files(report, self.paths, self.given.full)
        if self.fix is not None:
            output.write_text(to_diff(report), self.fix)

    def _print(self, report: Report) -> None:
        # Not `sys.stderr`, which the program may have put its own stream in the place of, or closed.
        stream = sys.__stderr__
        if stream is None or stream.closed:
            return
        if self.given.detail in ("normal", "verbose"):
            stream.write("\n")  # apart from what the program and its libraries have written there
        output.print_report(report, stream, self.given.detail)
        tell_github(report, stream, self.folder)

    def _report(self, outcome: Outcome, crash: Diagnostic | None) -> Report:
        spent = self.session.budget.spent
        own = max(time.perf_counter() - self.started - spent, 0.0)
        report = self.session.report(
            Script(self.target.name, outcome.words, outcome.exit_status), {"script": own}
        )
        if spent >= NOTICED:
            cost = (
                f"checking took {spent:.1f} s, the script itself {own:.1f} s; --checks and --budget limit it"
            )
            report = replace(report, notes=(*report.notes, cost))
        return relative_to(connect(report, outcome.exception, crash), self.folder)


def execute(given: argparse.Namespace) -> int:
    folder = os.getcwd()
    paths, fix = output.writable_paths(given), output.writable_path(given.fix)
    target, arguments = _target(given)
    session = Session(budget=Budget(given.budget), policy=given.checks)
    progress = on_errors(session.budget, given.detail == "quiet")
    if progress is not None:
        session.show, session.hide = progress.show, progress.hide
    audit = _Audit(given, target, paths, folder, session, fix)
    audit.session.start()
    with before_hard_exit(lambda status: audit.finish(Outcome(status), is_sudden=True)):
        outcome = run(target, arguments)
        return audit.finish(outcome)


def _target(given: argparse.Namespace) -> tuple[Target, list[str]]:
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
