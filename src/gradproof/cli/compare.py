"""`gradproof compare`: one gradient in every mode, or what changed between two audits."""

from __future__ import annotations

import argparse
import math
import os
import shutil
import sys
from functools import partial

from gradproof.audit.budget import Budget
from gradproof.audit.modes import check_frameworks
from gradproof.cli import output
from gradproof.cli.check import find_function
from gradproof.cli.parser import Parser
from gradproof.cli.progress import showing
from gradproof.cli.render import read_report
from gradproof.cli.run_arguments import seconds
from gradproof.cli.values import DTYPES, parse_values
from gradproof.diagnosis.changes import changes
from gradproof.errors import InvalidInput
from gradproof.frontends.select import FRAMEWORKS, to_framework
from gradproof.frontends.written_with import framework_of
from gradproof.modes.model import ModesReport
from gradproof.options import Options
from gradproof.render.changes_text import to_changes_text
from gradproof.render.encoding import encodable
from gradproof.render.modes_sources import in_folder

AGAIN = "{}: execution {} was compared, and it ran more often; --execution chooses another one"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.usage = (
        "gradproof compare SCRIPT [--line N] [options] [-- ARGS...]\n"
        "       gradproof compare MODULE:FUNCTION --at VALUE [VALUE...] [options]\n"
        "       gradproof compare BEFORE.json AFTER.json"
    )
    parser.epilog = (
        "The first two run every gradient of a script, or that of a function, in each execution mode, precision and "
        "framework that there is on this machine, and hold each against the proven gradient. Exit status: 0 if all "
        "modes of the program's own framework agree in its own precision, 1 if not, 2 if gradproof was called "
        "wrongly; a script's own failing status is passed on where nothing else is to be "
        "said. The last compares two files that `gradproof run --json` has written: before and after an "
        "upgrade, on two machines, with and without a patch. Exit status: 1 if a gradient is worse or a new one is "
        "faulty."
    )
    parser.add_argument("what", metavar="SCRIPT | MODULE:FUNCTION | BEFORE.json")
    parser.add_argument("rest", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    _add_options(parser)


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--line", type=int, metavar="N", help="only the gradients that this line asks for")
    parser.add_argument(
        "--execution",
        type=_execution,
        default=1,
        metavar="N",
        help="of a line that runs several times, as in a loop (default: the first)",
    )
    parser.add_argument(
        "--at", nargs="+", action="extend", metavar="VALUE", help="the arguments of the function"
    )
    parser.add_argument("--dtype", choices=DTYPES, help="of the arguments (default: float64)")
    parser.add_argument(
        "--framework",
        choices=FRAMEWORKS,
        help="what the arguments are made with (default: what the function is written with)",
    )
    parser.add_argument(
        "--frameworks",
        metavar="NAMES",
        help="the frameworks to carry the gradient over to, separated by commas; `none` for its own only "
        "(default: all that are installed)",
    )
    parser.add_argument(
        "--here", action="store_true", help="leave out what needs a process of its own, which takes seconds"
    )
    parser.add_argument(
        "--budget",
        type=seconds,
        metavar="SECONDS",
        help="for all gradients together (default: 60 for each); what was not run by then is listed",
    )
    parser.add_argument("--json", metavar="FILE", help="also write what was found as JSON")
    parser.add_argument("--html", metavar="FILE", help="also write it as one page that needs no network")
    parser.add_argument("--quiet", action="store_true", help="the verdicts only")


def _execution(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a whole number from 1 on is needed, not {text!r}")
    return int(text)


def execute(given: argparse.Namespace) -> int:
    given, words = _with_rest(given)
    if given.what.endswith(".json"):
        return _changes(given.what, words)
    paths = {name: path for name in ("json", "html") if (path := output.writable_path(getattr(given, name)))}
    check_frameworks(_chosen(given))
    is_function = ":" in given.what and not os.path.exists(given.what)
    report, status = (_of_function(given, words), 0) if is_function else _of_script(given, words)
    return _told(report, given, paths) or status


def _with_rest(given: argparse.Namespace) -> tuple[argparse.Namespace, list[str]]:
    """Options may stand behind the script too; what is not known, and all behind `--`, is the script's own."""
    own = given.rest.index("--") if "--" in given.rest else len(given.rest)
    parser = Parser(prog="gradproof compare", allow_abbrev=False, add_help=False)
    _add_options(parser)
    merged, words = parser.parse_known_args(given.rest[:own], given)
    return merged, [*words, *given.rest[own + 1 :]]


def _changes(before: str, words: list[str]) -> int:
    if len(words) != 1:
        raise InvalidInput(f"two reports can be compared: gradproof compare {before} AFTER.json")
    found = changes(read_report(before), read_report(words[0]))
    sys.stdout.write(to_changes_text(found))
    return 1 if any(change.is_bad for change in found) else 0


def _chosen(given: argparse.Namespace) -> list[str] | None:
    if given.frameworks is None:
        return None
    return [] if given.frameworks == "none" else [name.strip() for name in given.frameworks.split(",")]


def _of_function(given: argparse.Namespace, words: list[str]) -> ModesReport:
    from gradproof.comparing import compare

    if words or not given.at:
        raise InvalidInput(
            f"the arguments of the function are needed: gradproof compare {given.what} --at VALUE"
        )
    function = find_function(given.what)
    args, kwargs = parse_values(given.at, given.dtype or "float64")
    name = given.framework or framework_of(function)
    with showing(given.quiet):
        return compare(
            function,
            *(to_framework(name, value) for value in args),
            frameworks=_chosen(given),
            only_here=given.here,
            options=_options(given.budget),
            **{key: to_framework(name, value) for key, value in kwargs.items()},
        )


def _options(budget: float | None) -> Options:
    if budget is None:
        return Options()
    return Options(seconds=budget if math.isfinite(budget) else None)


def _of_script(given: argparse.Namespace, words: list[str]) -> tuple[ModesReport, int]:
    from gradproof.audit.collected import collected
    from gradproof.comparing import compared_calls

    folder = os.getcwd()
    found = collected(given.what, words, given.line, given.execution)
    remarks = [*found.notes, *(AGAIN.format(in_folder(at, folder), n) for at, n in found.again.items())]
    with showing(given.quiet):
        report = compared_calls(
            found.captures, Options(), folder, _chosen(given), given.here, remarks, Budget(given.budget)
        )
    return report, found.exit_status


def _told(report: ModesReport, given: argparse.Namespace, paths: dict[str, str]) -> int:
    from gradproof.render.modes_html import to_modes_html
    from gradproof.render.modes_json import to_modes_json
    from gradproof.render.modes_text import WIDTH, to_modes_text, verdict_lines

    forms = {"json": to_modes_json, "html": to_modes_html}
    written = [path for name, path in paths.items() if output.write_text(partial(forms[name], report), path)]
    stream = sys.__stdout__ or sys.stdout
    is_terminal = stream.isatty()
    width = shutil.get_terminal_size((WIDTH, 24)).columns if is_terminal else WIDTH
    colour = is_terminal and not os.environ.get("NO_COLOR")
    text = verdict_lines(report) if given.quiet else to_modes_text(report, width=width, colour=colour)
    output.print_text(encodable(text, stream.encoding), stream)
    if not given.quiet:
        output.say_written(written, os.getcwd())
    if len(written) != len(paths):
        return output.NOT_WRITTEN
    return 1 if any(call.has_fault for call in report.calls) else 0
