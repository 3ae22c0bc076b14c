"""`gradproof compare BEFORE.json AFTER.json`: what changed between two audits; no framework is needed."""

from __future__ import annotations

import argparse
import sys

from gradproof.cli.render import read_report
from gradproof.diagnosis.changes import changes
from gradproof.render.changes_text import to_changes_text


def configure(parser: argparse.ArgumentParser) -> None:
    parser.usage = "gradproof compare BEFORE.json AFTER.json"
    parser.epilog = (
        "Both are files that `gradproof run --json` has written: before and after an upgrade, on two machines, with "
        "and without a patch. Exit status: 0, or 1 if a gradient is worse or a new one is faulty, or 2 if a report "
        "cannot be read."
    )
    parser.add_argument("before", metavar="BEFORE.json")
    parser.add_argument("after", metavar="AFTER.json")


def execute(given: argparse.Namespace) -> int:
    found = changes(read_report(given.before), read_report(given.after))
    sys.stdout.write(to_changes_text(found))
    return 1 if any(change.is_bad for change in found) else 0
