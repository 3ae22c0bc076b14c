"""Where a report goes: text for people on a stream, every other form into a file."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TextIO

from gradproof.cli.writing import is_stream, write_whole
from gradproof.diagnosis.diagnostic import CRASH
from gradproof.diagnosis.report import Report
from gradproof.diagnosis.words import count, printable
from gradproof.errors import InvalidInput, NotWritten
from gradproof.internal_error import fault_reason
from gradproof.render.encoding import encodable
from gradproof.render.faults import roots
from gradproof.render.to_diff import count_fixes, shown_only
from gradproof.render.to_html import to_html
from gradproof.render.to_json import to_json
from gradproof.render.to_junit import to_junit
from gradproof.render.to_sarif import to_sarif
from gradproof.render.to_text import WIDTH, Detail, to_text

NOT_WRITTEN = 2  # the exit status where a report that was asked for is not there


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


def add_witness(parser: argparse.ArgumentParser) -> None:
    """The option of every command that judges gradients."""
    parser.add_argument(
        "--witness",
        action="store_true",
        help="confirm every reference by differences of the function itself, also where that takes long",
    )


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
    # A report takes the place of an older one when it is complete, so that its folder has to be writable too.
    needed = [whole] if is_stream(whole) else [folder, *([whole] if os.path.exists(whole) else [])]
    if not all(os.access(each, os.W_OK) for each in needed):
        raise InvalidInput(f"the report cannot be written to `{path}`: permission denied")
    return whole


def writable_paths(given: argparse.Namespace) -> dict[str, str]:
    """The files that were asked for, by format, each refused now if it cannot be written."""
    paths = {name: writable_path(getattr(given, name)) for name in FORMATS}
    wanted = {name: path for name, path in paths.items() if path is not None}
    for path in wanted.values():
        if list(wanted.values()).count(path) > 1 and not is_stream(path):
            raise InvalidInput(f"two reports cannot both be written to `{path}`")
    return wanted


def print_report(report: Report, stream: TextIO, detail: Detail) -> None:
    """Coloured and as wide as the screen on a terminal; plain elsewhere, and where NO_COLOR is set."""
    is_terminal = stream.isatty()
    width = shutil.get_terminal_size((WIDTH, 24)).columns if is_terminal else WIDTH
    colour = is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    try:
        text = to_text(report, width=width, detail=detail, colour=colour)
    except Exception as error:
        print_text(encodable(_verdicts(report), stream.encoding), stream)
        raise NotWritten(f"the report could not be told: {fault_reason(error)}") from error
    print_text(encodable(text, stream.encoding), stream)


def _verdicts(report: Report) -> str:
    """What is left to say where a fault of ours keeps the report from being told: a line for each gradient."""
    lines = (
        f"{row.call.file}:{row.call.line}: {row.verdict}: d {row.target} / d {row.source}"
        for row in report.gradients
    )
    return "".join(f"{printable(line)}\n" for line in lines)


def print_text(text: str, stream: TextIO) -> None:
    """`NotWritten` where the stream takes no more, as a full disk does; a pipe that nobody reads is not a fault."""
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise NotWritten(f"the report could not be printed: {error.strerror or error}") from error


def say_error(text: str) -> None:
    say(f"gradproof: error: {text}")


def say(text: str) -> None:
    """Not on `sys.stderr`, which the program may have put its own stream in the place of, or closed."""
    stream = sys.__stderr__
    if stream is None or stream.closed:
        return
    try:
        stream.write(encodable(printable(text), stream.encoding) + "\n")
        stream.flush()
    except OSError:
        return  # nobody can be told; the exit status still says it


class PassingLine:
    """A line on a terminal that the next one takes the place of; nothing where the stream is no terminal."""

    def __init__(self, stream: TextIO | None) -> None:
        is_shown = stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"
        self._stream = stream if is_shown else None

    def show(self, text: str) -> None:
        if self._stream is not None:
            self._stream.write(f"\r\x1b[2K{text}")
            self._stream.flush()

    def clear(self) -> None:
        self.show("")


def say_written(paths: Iterable[str], folder: str, fix: str | None = None, n_fixes: int = 0) -> None:
    """Which files were written, the shorter way to each, and how many fixes there are in that of the fixes."""
    shown = []
    for path in paths:
        if not is_stream(path):
            name = min(path, os.path.relpath(path, folder), key=len)
            shown.append(f"{name} ({count(n_fixes, 'fix', 'fixes')})" if path == fix else name)
    if shown:
        say(f"written: {', '.join(shown)}")


def hint(report: Report, has_fix: bool) -> str:
    """How to go on from a report with faults: how many have a patch, and how to accept what is meant."""
    kinds = [one.kind for one in roots(report) if one.kind != CRASH]
    n_fixes = 0 if has_fix else count_fixes(shown_only(report))
    said = [f"{n_fixes:,} fixable with --fix"] if n_fixes else []
    said += [f"to accept what is meant, end its line with `# gradproof: ignore[{kinds[0]}]`"] if kinds else []
    return printable("; ".join(said))


def write_files(report: Report, paths: Mapping[str, str], full: bool) -> list[str]:
    """Write the report to each path in the format it stands for; the paths that were written."""
    return [
        path for name, path in paths.items() if write_text(partial(FORMATS[name].render, report, full), path)
    ]


def write_text(render: Callable[[], str], path: str) -> bool:
    """Whether the text was written. If not, it is said why, and what stood there before still does."""
    try:
        write_whole(render(), path)
    except NotWritten as error:
        say_error(str(error))
        return False
    except (
        Exception
    ) as error:  # of ours, or no memory; the other forms of the report are written all the same
        say_error(f"`{path}` could not be written: {fault_reason(error)}")
        return False
    return True
