"""What `gradproof run` takes on its command line."""

from __future__ import annotations

import argparse
import math
from typing import Any

from gradproof.audit.budget import Policy, parse_checks
from gradproof.cli import output
from gradproof.errors import InvalidInput

DIFFS = (".diff", ".patch")  # how the name of a diff ends: `--fix train.py` is about a script


def configure(parser: argparse.ArgumentParser) -> None:
    parser.usage = (
        "gradproof run [options] SCRIPT [ARGS...]\n       gradproof run [options] -m MODULE [ARGS...]"
    )
    parser.epilog = (
        "The script runs as `python SCRIPT ARGS` would run it. The report goes to the error stream, after "
        "everything the script prints. Exit status: 0 nothing found, 1 a fault at the level of --fail-on, "
        "2 gradproof was called wrongly, a report could not be written, or nothing could be seen of the script's "
        "framework, 130 Ctrl-C ended it; else that of the script. Defaults for a project stand in the table "
        "[tool.gradproof] of its pyproject.toml: fail-on, checks, budget, accept, exclude."
    )
    output.configure(parser)
    parser.set_defaults(fail_on=None)  # what is not given here may stand in the settings of the project
    parser.add_argument(
        "--checks",
        type=_checks,
        metavar="WHICH",
        help="the executions of a gradient call that are checked: powers (1st, 2nd, 10th, 100th ...; the "
        "default), all, first, or a list such as 1,5,20",
    )
    parser.add_argument(
        "--budget", type=seconds, metavar="SECONDS", help="stop checking after so much time spent on checks"
    )
    parser.add_argument(
        "--defer",
        metavar="DIR",
        help="judge nothing now: keep what is to be judged in this folder, for `gradproof examine DIR`",
    )
    parser.add_argument(
        "--jobs",
        type=_jobs,
        metavar="N",
        help="judge in N processes beside the program, which goes on meanwhile; the report waits for them",
    )
    output.add_witness(parser)
    parser.add_argument(
        "--rerun",
        action="store_true",
        help="after a crash, or for hand-written gradients that never ran, run the script a second time in a child "
        "process without network and with files read-only where the system allows it, if what is to be looked "
        "at may have effects; without this option such code is not run again",
    )
    parser.add_argument(
        "--fix",
        action="store_const",
        const="",
        help="print the changes that fix what was found as a diff for `patch -p1`; `--fix NAME.diff` writes them. The "
        "script is run with them first, in a child process without network and with files read-only, where the system "
        "allows it",
    )
    parser.add_argument(
        "--diff", action="store_true", help="print the diff, also where --fix does something else"
    )
    parser.add_argument(
        "--apply",
        action="store_true",
        help="with --fix: change the files themselves; each is kept beside itself as FILE.orig",
    )
    parser.add_argument("--no-fix", action="store_true", help="look for causes, and not for fixes")
    parser.add_argument(
        "-m", dest="module", nargs=argparse.REMAINDER, help="run a module, as `python -m MODULE`"
    )
    parser.add_argument(
        "script",
        nargs=argparse.REMAINDER,
        action=_ScriptWords,
        metavar="SCRIPT [ARGS...]",
        help=argparse.SUPPRESS,
    )


class _ScriptWords(argparse.Action):
    """The script and its arguments. A diff right after `--fix` is where the fixes go, and the script comes later."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: Any, values: Any, option: Any = None
    ) -> None:
        del option
        if namespace.fix == "" and values and values[0].endswith(DIFFS):
            namespace.fix = values[0]
            parser.parse_args(values[1:], namespace)
        else:
            namespace.script = values


def _checks(text: str) -> Policy:
    try:
        return parse_checks(text)
    except InvalidInput as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _jobs(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a whole number from 1 on is needed, not {text!r}")
    return int(text)


def seconds(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not found >= 0:
        raise argparse.ArgumentTypeError(f"a number of seconds is needed, not {text!r}")
    return found
