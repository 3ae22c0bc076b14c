"""Inside GitHub Actions, the report also marks the lines of the change and fills the summary of the job."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TextIO

from gradproof.diagnosis.report import Report
from gradproof.render.encoding import encodable
from gradproof.render.to_github import to_annotations, to_summary


def tell_github(
    report: Report, stream: TextIO, folder: str, environment: Mapping[str, str] = os.environ
) -> None:
    """Does nothing elsewhere. `folder` is where the files of the report lie that have relative paths.

    The stream is the error stream: GitHub reads its commands there too, and what a program or gradproof
    prints on the standard output stays what it is without GitHub.
    """
    if environment.get("GITHUB_ACTIONS") != "true":
        return
    root = environment.get("GITHUB_WORKSPACE") or folder
    commands = to_annotations(report, lambda file: _in_repository(file, folder, root))
    stream.write(encodable(commands, stream.encoding))
    stream.flush()
    _append(to_summary(report), environment.get("GITHUB_STEP_SUMMARY"))


def _in_repository(file: str, folder: str, root: str) -> str:
    """The path from the root of the repository, which GitHub needs, wherever in it gradproof was started."""
    whole = os.path.join(folder, file)
    below = os.path.relpath(whole, root)
    return file if below.startswith(os.pardir) else below.replace(os.sep, "/")


def _append(text: str, path: str | None) -> None:
    """Other steps of the job may have written there before."""
    if not path:
        return
    try:
        with open(path, "a", encoding="utf-8") as file:
            file.write(text)
    except OSError:
        # The summary is an extra: a runner without one must not turn a finished audit into a failure.
        return
