"""`--fix`: the fixes of a report printed, or written into the user's files, each kept beside itself first."""

from __future__ import annotations

import os
import sys

from gradproof.cli import output
from gradproof.cli.writing import write_whole
from gradproof.diagnosis.report import Report
from gradproof.diagnosis.words import count
from gradproof.errors import NotWritten
from gradproof.render.to_diff import count_fixes, fixes_by_file, patched_texts, to_diff


def print_fixes(report: Report, is_applied: bool) -> None:
    """The diff on the standard output, and how to have it applied where it is not."""
    n_fixes = count_fixes(report)
    if sys.__stdout__ is None or not n_fixes:
        return
    output.print_text(to_diff(report), sys.__stdout__)
    if not is_applied:
        output.say(f"printed: a diff ({count(n_fixes, 'fix', 'fixes')}); --fix --apply changes the files")


def apply_fixes(report: Report, folder: str) -> bool:
    """Whether all files could be changed. One that is no longer what was run stays as it is."""
    is_done, n_fixes = True, fixes_by_file(report)
    for file, text in sorted(patched_texts(report).items()):
        path = os.path.join(folder, file)
        try:
            before = _read(path)
            end = _line_end(before)
            if before.replace(end, "\n") != report.sources[file]:
                output.say_error(f"`{file}` is not changed: it is no longer the file that was run")
                is_done = False
                continue
            kept = _backup(path)
            write_whole(before, kept)
            write_whole(text.replace("\n", end), path)
        except (OSError, NotWritten, UnicodeDecodeError) as error:
            output.say_error(f"`{file}` is not changed: {error}")
            is_done = False
            continue
        told = count(n_fixes.get(file, 0), "fix", "fixes")
        output.say(f"changed: {file} ({told}; as it was: {os.path.relpath(kept, folder)})")
    return is_done


def _read(path: str) -> str:
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()


def _line_end(text: str) -> str:
    """How all lines of a file end; Python has read them as if that were a line feed."""
    return "\r\n" if "\r\n" in text and "\n" not in text.replace("\r\n", "") else "\n"


def _backup(path: str) -> str:
    """A name beside the file that nothing has yet."""
    found, number = f"{path}.orig", 1
    while os.path.exists(found):
        number += 1
        found = f"{path}.orig{number}"
    return found
