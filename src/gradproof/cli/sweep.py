"""`gradproof sweep LIBRARY`: every differentiable op of an installed library, at ordinary and edge inputs."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterable
from typing import Any

from gradproof.cli.output import PassingLine
from gradproof.cli.quiet import QUIET
from gradproof.cli.writing import write_whole
from gradproof.diagnosis.words import count, framework_name, printable
from gradproof.errors import InvalidInput
from gradproof.frontends.select import WITH_COVERAGE
from gradproof.sweep.issue_text import to_issue
from gradproof.sweep.one_op import TIME_OVER
from gradproof.sweep.page import to_page
from gradproof.sweep.plan import DTYPES, Plan, plan_of
from gradproof.sweep.points import ORDINARY, POINTS
from gradproof.sweep.results import all_results
from gradproof.sweep.run import Progressed, sweep
from gradproof.sweep.trial import TOO_LONG

FOLDER = "gradproof-sweep"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "Results are kept in a directory, one file per op: an interrupted sweep goes on where it was. Exit status: 0 "
        "if no fault was found, 1 if one was, 2 if gradproof was called wrongly."
    )
    plan = Plan()
    parser.add_argument("framework", choices=WITH_COVERAGE)
    parser.add_argument("--ops", metavar="PATTERN", help="only these, as in `special.*` or `sinc,prod`")
    parser.add_argument("--dtypes", metavar="LIST", help=f"of {', '.join(DTYPES)}; all unless told")
    parser.add_argument(
        "--points", metavar="LIST", help=f"of {', '.join((ORDINARY, *POINTS))}; all unless told"
    )
    parser.add_argument(
        "--samples",
        type=int,
        help=f"different calls of one op, each at all points; unless told {plan.samples}, the first at all",
    )
    parser.add_argument(
        "--seconds", type=float, default=plan.seconds, help="of computing for one op in one dtype"
    )
    parser.add_argument(
        "--order", type=int, default=1, choices=(1, 2), help="2: the gradient of the gradient; 1 unless told"
    )
    parser.add_argument("--dir", default=FOLDER, help=f"where results are kept; {FOLDER} unless told")
    parser.add_argument(
        "--stored", action="store_true", help="show what the directory holds, and sweep nothing"
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--jobs", type=int, default=1, metavar="N", help="processes on this machine")
    where.add_argument("--scheduler", metavar="ADDRESS", help="of a Dask cluster, as in tcp://host:8786")
    parser.add_argument("--markdown", metavar="FILE", help="a page of all faults in the directory")
    parser.add_argument("--json", metavar="FILE", help="all results of the directory")
    parser.add_argument("--issues", metavar="DIR", help="a text for the issue tracker for each fault found")


def execute(given: argparse.Namespace) -> int:
    if given.jobs < 1 or (given.samples or 1) < 1:
        raise InvalidInput("--jobs and --samples are whole numbers from 1 on")
    os.environ.update(QUIET | os.environ)
    plan = plan_of(given.dtypes, given.points, given.samples, given.seconds, given.order)
    found = _swept(
        sweep(given.framework, given.dir, plan, given.ops, given.jobs, given.scheduler, given.stored)
    )
    faults = [(result, fault) for result in found for fault in result["faults"]]
    for _, fault in faults:
        print(printable(_line(fault)))
    judged = sum(sum(result["verdicts"].values()) for result in found)
    title, plural = framework_name(given.framework), "" if len(faults) == 1 else "s"
    print(f"{title}: {len(found):,} ops, {judged:,} gradients, {len(faults):,} fault{plural}")
    n_late = sum(result["reasons"].get(reason, 0) for result in found for reason in (TOO_LONG, TIME_OVER))
    if n_late:  # or else nobody could tell "no fault" from "not looked"
        print(f"{count(n_late, 'call')} given up for lack of time: nothing is known of what is left of it")
    if given.markdown is not None:
        write_whole(to_page(all_results(given.dir)), given.markdown)
    if given.json is not None:
        write_whole(json.dumps(list(all_results(given.dir)), indent=1) + "\n", given.json)
    if given.issues is not None:
        _write_issues(given.issues, faults)
    return 1 if faults else 0


def _swept(progress: Iterable[Progressed]) -> list[dict[str, Any]]:
    """The results; where the error stream is a terminal, a line tells how far it is and how long it will take."""
    found, began, n_stored = [], time.monotonic(), 0
    line = PassingLine(sys.stderr)
    for step in progress:
        found.append(step.result)
        n_stored += step.was_stored
        if not step.was_stored:
            n_fresh = step.n_done - n_stored
            left = (time.monotonic() - began) / n_fresh * (step.n_all - step.n_done)
            text = (
                f"{step.n_done:,} of {step.n_all:,} ops, about {left / 60:.0f} min left  {step.result['op']}"
            )
            line.show(text)
    line.clear()
    return found


def _line(fault: dict[str, Any]) -> str:
    mode = f" ({fault['mode']})" if fault["mode"] else ""
    told = f"returned {fault['observed']}, the derivative is {fault['expected']}"
    return f"{fault['kind']}{mode}: {fault['call']}: {told}"


def _write_issues(folder: str, faults: list[tuple[dict[str, Any], dict[str, Any]]]) -> None:
    os.makedirs(folder, exist_ok=True)
    for number, (result, fault) in enumerate(faults, 1):
        write_whole(
            to_issue(result, fault), os.path.join(folder, f"{number:03}-{result['op']}-{fault['kind']}.md")
        )
