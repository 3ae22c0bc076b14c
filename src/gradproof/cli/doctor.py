"""`gradproof doctor`: says what is installed, and what of it gradproof can judge."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Sequence

from gradproof import __version__
from gradproof.audit.settings import FILE, TABLE, find_settings
from gradproof.audit.versions import installed_version
from gradproof.cli.anonymous import anonymous_lines
from gradproof.cli.quiet import QUIET
from gradproof.cli.render import read_report
from gradproof.diagnosis.words import framework_name, printable, wrap
from gradproof.errors import InvalidInput
from gradproof.frontends.select import SUPPORTED, WITH_COVERAGE, Coverage, coverage
from gradproof.render.to_json import to_json

WIDTH = 100
LIBRARIES = ("numpy", "scipy", "python-flint", "ml_dtypes", "rich")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--coverage",
        choices=WITH_COVERAGE,
        help="list the ops of a framework: those with an exact meaning, the opaque ones, those out of scope",
    )

    parser.add_argument(
        "--report",
        metavar="FILE",
        help="what an issue about a report needs: FILE is one that `--json` has written; of it are shown verdicts, "
        "causes and ops, and neither numbers nor names nor source",
    )
    parser.add_argument("--with-data", action="store_true", help="with --report: the whole report as well")


def execute(given: argparse.Namespace) -> int:
    report = None if given.report is None else read_report(given.report)
    if given.coverage is not None:
        return _print_coverage(given.coverage)
    print(f"gradproof     {__version__}")
    print(f"Python        {platform.python_version()} on {platform.system()} {platform.machine()}")
    lacking = []
    for name in LIBRARIES:
        version = installed_version(name)
        lacking += [] if version else [name]
        print(f"{name:<14}{version or 'not installed'}")
    print()
    for package, supported in SUPPORTED.items():
        version = installed_version(package) or "not installed"
        print(f"{framework_name(package):<14}{version:<16}{supported}")
    _print_settings()
    if report is not None:
        print()
        for text in anonymous_lines(report):
            print(printable(text))
        if given.with_data:
            print(f"\n{to_json(report)}", end="")
    if lacking:
        print(f"\ngradproof cannot work without {', '.join(lacking)}", file=sys.stderr)
    return 1 if lacking else 0


def _print_settings() -> None:
    """What holds for a run that is started here."""
    settings = find_settings(os.getcwd())
    if settings.path is None:
        print(f"\nsettings      none: no {FILE} at or above this folder has a table {TABLE}")
        return
    print(f"\nsettings      {TABLE} in {printable(settings.path)}")
    for name, value in settings.given.items():
        text = ", ".join(value) if isinstance(value, tuple) else value
        print(printable(f"{name:<14}{text}"))


def _print_coverage(framework: str) -> int:
    if installed_version(framework) is None:
        raise InvalidInput(f"{framework_name(framework)} is not installed, so its list of ops cannot be read")
    os.environ.update(QUIET | os.environ)
    found = coverage(framework)
    total = len(found.covered) + len(found.opaque) + len(found.out_of_scope)
    print(f"{framework_name(framework)} {installed_version(framework)}: {total} {found.counted}")
    _print_list("exact meaning", found.covered)
    if found.partly:
        reasons = [f"{op} ({reason})" for op, reason in found.partly.items()]
        _print_list("of these, some calls are opaque", reasons)
    _print_list(
        "opaque: measured by differences where they can be run again, else unverified by name", found.opaque
    )
    for reason, ops in _by_reason(found):
        _print_list(f"out of scope: {reason}", ops)
    share = len(found.covered) / max(len(found.covered) + len(found.opaque), 1)
    print(f"\nan exact meaning have {share:.1%} of those in scope, and {len(found.others)} ops beyond these")
    return 0


def _by_reason(found: Coverage) -> list[tuple[str, list[str]]]:
    reasons: dict[str, list[str]] = {}
    for op, reason in found.out_of_scope.items():
        reasons.setdefault(reason, []).append(op)
    return sorted(reasons.items())


def _print_list(heading: str, ops: Sequence[str]) -> None:
    print(f"\n{heading} ({len(ops)})")
    for line in wrap(", ".join(sorted(ops)) or "none", WIDTH, "  ", "  "):
        print(line)
