"""Where a report goes: text for people on a stream, every other form into a file."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TextIO

from gradproof.diagnosis.report import Report
from gradproof.errors import InvalidInput
from gradproof.render.encoding import encodable
from gradproof.render.to_html import to_html
from gradproof.render.to_json import to_json
from gradproof.render.to_junit import to_junit
from gradproof.render.to_sarif import to_sarif
from gradproof.render.to_text import WIDTH, Detail, to_text


@dataclass(frozen=True)
class Format:
    """A form of the report that goes into a file. `render` also gets whether large arrays are written in full."""

    help: str
    render: Callable[[Report, bool], str]


# By the name of the option that asks for it, which is the suffix of the file too.
FORMATS: Mapping[str, Format] = {
    "json": Format(
        "also write the report as JSON, version 1", lambda report, full: to_json(report, full=full)
    ),
    "html": Format(
        "also write the report as one page that needs no network", lambda report, _: to_html(report)
    ),
    "sarif": Format(
        "also write SARIF 2.1.0, which tools for code review read", lambda report, _: to_sarif(report)
    ),
    "junit": Format(
        "also write JUnit XML, one test case for each gradient", lambda report, _: to_junit(report)
    ),
}


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of every command that makes a report."""
    configure_forms(parser)
    parser.add_argument(
        "--fail-on",
        choices=("error", "warning", "never"),
        default="error",
        help="from which level on the exit status is 1 (default: error)",
    )
    parser.set_defaults(detail="normal")


def configure_forms(parser: argparse.ArgumentParser) -> None:
    """How a report is shown, and the files it is written to."""
    for name, form in FORMATS.items():
        parser.add_argument(f"--{name}", metavar="FILE", help=form.help)
    parser.add_argument("--full", action="store_true", help="in JSON, large arrays entry by entry")
    detail = parser.add_mutually_exclusive_group()
    for name, text in (
        ("quiet", "one line only"),
        ("concise", "one line for each fault, as editors read them"),
        ("verbose", "every gradient, note, version and time"),
    ):
        detail.add_argument(f"--{name}", dest="detail", action="store_const", const=name, help=text)


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


def writable_paths(given: argparse.Namespace) -> dict[str, str]:
    """The files that were asked for, by format, each refused now if it cannot be written."""
    paths = {name: writable_path(getattr(given, name)) for name in FORMATS}
    return {name: path for name, path in paths.items() if path is not None}


def print_report(report: Report, stream: TextIO, detail: Detail) -> None:
    """Coloured and as wide as the screen on a terminal; plain elsewhere, and where NO_COLOR is set."""
    is_terminal = stream.isatty()
    width = shutil.get_terminal_size((WIDTH, 24)).columns if is_terminal else WIDTH
    colour = is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    text = to_text(report, width=width, detail=detail, colour=colour)
    stream.write(encodable(text, stream.encoding))
    stream.flush()


def write_files(report: Report, paths: Mapping[str, str], full: bool) -> None:
    """Write the report to each path in the format it stands for."""
    for name, path in paths.items():
        write_text(FORMATS[name].render(report, full), path)


def write_text(text: str, path: str) -> None:
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        print(f"gradproof: the report could not be written to `{path}`: {error.strerror}", file=sys.stderr)
