"""`gradproof examine DIR`: judges what `gradproof run --defer DIR` has kept, on this machine or on a cluster."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterable

from gradproof.cli import output
from gradproof.cli.quiet import QUIET
from gradproof.cluster.beginning import hold_memory
from gradproof.cluster.workers import demand_cluster, memory_of_each
from gradproof.deferred.examine import Advance, PartWork, judge_all, opened
from gradproof.deferred.joined import joined
from gradproof.diagnosis.report import FailOn, GradientReport
from gradproof.diagnosis.words import printable
from gradproof.errors import InvalidInput
from gradproof.judge.verdict import Verdict
from gradproof.render.to_diff import count_fixes, to_diff


def configure(parser: argparse.ArgumentParser) -> None:
    parser.usage = "gradproof examine DIR [--jobs N | --scheduler ADDRESS] [options]"
    parser.epilog = (
        "The report goes to the standard output; while it is made, what is not right is told on the error stream. "
        "Results are kept in the folder: an interrupted examination goes on where it was. Exit status: 0 nothing "
        "found, 1 a fault at the level of --fail-on, 2 gradproof was called wrongly or a file could not be read, 130 "
        "Ctrl-C ended it; else that of the script."
    )
    parser.add_argument("folder", metavar="DIR")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--jobs", type=int, default=1, metavar="N", help="processes on this machine")
    where.add_argument("--scheduler", metavar="ADDRESS", help="of a Dask cluster, as in tcp://host:8786")
    output.configure(parser)
    parser.set_defaults(fail_on=None)
    parser.add_argument(
        "--fix", metavar="FILE", help="write the changes that fix what was found as a diff for `patch -p1`"
    )


def execute(given: argparse.Namespace) -> int:
    if given.jobs < 1:
        raise InvalidInput("--jobs is a whole number from 1 on")
    paths, fix = output.writable_paths(given), output.writable_path(given.fix)
    os.environ.update(QUIET | os.environ)
    hold_memory()
    work = opened(given.folder)
    unread = [text for one in work for text in one.unread]
    for text in unread:
        output.say_error(text)
    if given.jobs > 1 and given.detail != "quiet":
        demand_cluster(given.jobs)
        output.say(f"{given.jobs} processes, each may use {memory_of_each(given.jobs) / 1e9:.1f} GB")
    try:
        _watched(judge_all(work, given.jobs, given.scheduler), given.detail == "quiet")
    except KeyboardInterrupt:
        print("interrupted; what was judged is kept: the same command goes on from there", file=sys.stderr)
        raise
    report = joined(work)
    written = output.write_files(report, paths, given.full)
    if fix is not None and output.write_text(lambda: to_diff(report), fix):
        written.append(fix)
    output.print_report(report, sys.stdout, given.detail)
    if given.detail in ("normal", "verbose") and (hint := output.hint(report, fix is not None)):
        output.print_text(f"{hint}\n", sys.stdout)
    if given.detail != "quiet":
        output.say_written(written, os.getcwd(), fix, count_fixes(report) if fix else 0)
    if len(written) < len(paths) + (fix is not None):
        return output.NOT_WRITTEN
    status = report.exit_status(given.fail_on or _fail_on(work))
    return status or (output.NOT_WRITTEN if unread else 0)


def _fail_on(work: Iterable[PartWork]) -> FailOn:
    """What the settings of the project said when the program ran."""
    return next((one.begun.settings.fail_on for one in work if one.begun.settings.fail_on), "error")


def _watched(steps: Iterable[Advance], is_quiet: bool) -> None:
    """Tell what is not right as it comes; on a terminal a line says how far it is and how long it will take."""
    began, n_before = time.monotonic(), 0
    line = output.PassingLine(sys.stderr)
    try:
        for step in steps:
            if step.judged is None:
                n_before = step.n_done
            elif not is_quiet:
                line.clear()
                for report in step.judged.reports:
                    if report.verdict is not Verdict.CORRECT:
                        output.say(_line(report))
            n_fresh = step.n_done - n_before
            left = (time.monotonic() - began) / n_fresh * (step.n_all - step.n_done) if n_fresh else 0.0
            about = f", about {_time(left)} left" if n_fresh and step.n_done < step.n_all else ""
            line.show("" if is_quiet else f"{step.n_done:,} of {step.n_all:,} gradient calls judged{about}")
    finally:
        line.clear()


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def _line(report: GradientReport) -> str:
    place = f"{os.path.basename(report.call.file)}:{report.call.line}"
    return printable(f"{place}: {report.verdict}: d {report.target} / d {report.source}")
