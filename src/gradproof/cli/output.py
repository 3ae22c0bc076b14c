"""Where a report goes: text for people on the error stream, JSON into a file."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from typing import TextIO

from gradproof.diagnosis.report import Report
from gradproof.errors import InvalidInput
from gradproof.render.to_json import to_json
from gradproof.render.to_text import WIDTH, Detail, to_text


def configure(parser: argparse.ArgumentParser) -> None:
    """The options that every command with a report has."""
    parser.add_argument("--json", metavar="FILE", help="also write the report as JSON, version 1")
    parser.add_argument("--full", action="store_true", help="in JSON, large arrays entry by entry")
    parser.add_argument(
        "--fail-on",
        choices=("error", "warning", "never"),
        default="error",
        help="from which level on the exit status is 1 (default: error)",
    )
    detail = parser.add_mutually_exclusive_group()
    for name, text in (
        ("quiet", "one line only"),
        ("concise", "one line for each fault, as editors read them"),
        ("verbose", "every gradient, note, version and time"),
    ):
        detail.add_argument(f"--{name}", dest="detail", action="store_const", const=name, help=text)
    parser.set_defaults(detail="normal")


def writable_path(path: str | None) -> str | None:
    """The absolute path, refused now if it cannot be written: a long run must not end in a lost report."""
    if path is None:
        return None
    whole = os.path.abspath(path)
    folder = os.path.dirname(whole)
    if os.path.isdir(whole):
        raise InvalidInput(f"the report cannot be written to `{path}`: it is a folder")
    if not os.path.isdir(folder):
        raise InvalidInput(f"the report cannot be written to `{path}`: there is no folder `{folder}`")
    if not os.access(whole if os.path.exists(whole) else folder, os.W_OK):
        raise InvalidInput(f"the report cannot be written to `{path}`: permission denied")
    return whole


def print_report(report: Report, stream: TextIO, detail: Detail) -> None:
    """Coloured and as wide as the screen on a terminal; plain elsewhere, and where NO_COLOR is set."""
    is_terminal = stream.isatty()
    width = shutil.get_terminal_size((WIDTH, 24)).columns if is_terminal else WIDTH
    colour = is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    text = to_text(report, width=width, detail=detail, colour=colour)
    encoding = stream.encoding or "utf-8"
    # A terminal that cannot show a sign gets another for it, not a traceback.
    stream.write(text.encode(encoding, "replace").decode(encoding))
    stream.flush()


def write_json(report: Report, path: str, full: bool) -> None:
    write_text(to_json(report, full=full), path)


def write_text(text: str, path: str) -> None:
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        print(f"gradproof: the report could not be written to `{path}`: {error.strerror}", file=sys.stderr)
