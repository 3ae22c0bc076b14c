"""`gradproof render`: shows a saved report again, or writes it in another form; no framework is needed."""

from __future__ import annotations

import argparse
import os
import sys

from gradproof.cli import output
from gradproof.diagnosis.report import Report
from gradproof.diagnosis.words import printable
from gradproof.errors import UnreadableReport
from gradproof.render.from_json import from_json
from gradproof.render.to_diff import count_fixes, to_diff

# Reading takes several times the size of the file in memory. A report of ten million gradients' entries in
# full stays below this; what is larger is no report, or not one that should be opened by accident.
MOST_BYTES = 1 << 29


def configure(parser: argparse.ArgumentParser) -> None:
    parser.usage = "gradproof render REPORT [--html FILE] [--sarif FILE] [--junit FILE] [options]"
    parser.epilog = (
        "REPORT is a file that `--json` has written, or - for the standard input. Without a file to write, "
        "the text goes to the standard output. Exit status: 0, or 2 if the report cannot be read."
    )
    parser.add_argument("report", metavar="REPORT")
    output.configure_forms(parser)
    parser.add_argument("--text", action="store_true", help="print the text as well as writing files")
    parser.add_argument(
        "--fix", metavar="FILE", help="write the changes that fix what was found as a diff for `patch -p1`"
    )


def execute(given: argparse.Namespace) -> int:
    paths, fix = output.writable_paths(given), output.writable_path(given.fix)
    report = read_report(given.report)
    if given.text or given.detail is not None or not (paths or fix):
        output.print_report(report, sys.stdout, given.detail or "normal")
    written = output.write_files(report, paths, given.full)
    if fix is not None and output.write_text(lambda: to_diff(report), fix):
        written.append(fix)
    if given.detail != "quiet":
        output.say_written(written, os.getcwd(), fix, count_fixes(report) if fix else 0)
    return 0 if len(written) == len(paths) + (fix is not None) else output.NOT_WRITTEN


def read_report(path: str) -> Report:
    name = "the standard input" if path == "-" else f"`{printable(path)}`"
    try:
        if path == "-":
            text = sys.stdin.buffer.read(MOST_BYTES + 1)
        else:
            with open(path, "rb") as file:
                text = file.read(MOST_BYTES + 1)
        if len(text) > MOST_BYTES:
            raise UnreadableReport(f"larger than {MOST_BYTES >> 20:,} MiB")
        return from_json(text)
    except OSError as error:
        raise UnreadableReport(f"{name} cannot be read: {error.strerror}") from error
    except ValueError as error:  # a zero byte in the path
        raise UnreadableReport(f"{name} cannot be read: {error}") from error
    except MemoryError as error:
        raise UnreadableReport(f"{name} cannot be read: it does not fit into memory") from error
    except UnreadableReport as error:
        raise UnreadableReport(f"{name} cannot be read: {error}") from error
