"""A second run of a script in a process that is shut off from the world, and what is taken over from it.

`--rerun` asks for it. Code that may have effects cannot run again where it has run: its files, connections and
variables are no longer what they were. So the whole script runs once more in a child process: with the printed change,
if one mends the crash it ended with. The report of the child comes back as JSON.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradproof.audit.never_computed import never_computed
from gradproof.diagnosis.diagnostic import Diagnostic
from gradproof.diagnosis.report import GradientReport, Report
from gradproof.diagnosis.words import array_text, capped_list, comma_list, framework_name
from gradproof.judge.verdict import Verdict
from gradproof.render.from_json import from_document

SHUT_OFF = (
    "files read-only"  # what a process has to hold in which something runs that nobody asked to be run again
)
LEAST_SECONDS = 120.0  # the libraries have to be loaded again, and what is looked at takes its time
_CHILD = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cli", "second_run.py")


@dataclass(frozen=True)
class RerunProgram:
    """What was run: the words of the command, the folders it may write to, and the file."""

    words: Sequence[str]
    folders: Sequence[str]
    path: str


@dataclass(frozen=True)
class Mended:
    """The text of a program whose crash is mended, and the line of the gradient call that the crash prevented.

    Without a line the program is one with other changes, and runs to its end, in a process that is shut off or not
    at all.
    """

    text: str
    line: int | None = None

    def is_reached(self, gradients: Iterable[GradientReport]) -> bool:
        return any(gradient.call.line == self.line for gradient in gradients)

    def may_run(self, held: Sequence[str]) -> bool:
        return self.line is not None or SHUT_OFF in held


def mended_from(text: str) -> Mended | None:
    """What `_told` has written."""
    data = json.loads(text)
    return None if data is None else Mended(data["text"], data["line"])


def without_pictures(report: Report) -> Report:
    """Pictures are not drawn in the child: the frameworks have work enough there."""
    return replace(report, gradients=tuple(replace(one, drawing=None) for one in report.gradients))


def with_second_run(report: Report, program: RerunProgram, seconds: float) -> Report:
    """The report with what a second run of the script could look at; `seconds` is how long the first took."""
    mended = _mended(report, program.path)
    try:
        document = ran_again(program, mended, seconds)
    except TimeoutError as late:
        return _noted(report, f"--rerun: {late}")
    if document is None:
        return _noted(report, "--rerun: the second run ended without a report")
    again = from_document(document["report"])
    how = f"in a process of its own ({comma_list(document['held']) or 'which this system offers no way to shut off'})"
    if mended is not None:
        return _with_mended(report, again, mended, how)
    ended, was = (None if one.script is None else one.script.exception for one in (again, report))
    if ended != was:
        return _noted(report, f"--rerun: the second run {_end(ended)}, the first {_end(was)}; it is not used")
    return _noted(_merged(report, again), f"--rerun: the script ran a second time {how}")


def ran_again(program: RerunProgram, mended: Mended | None, seconds: float) -> Any:
    """What the child has to say: its report and what it was held by; None where it says nothing."""
    scratch = tempfile.mkdtemp(prefix="gradproof-")
    try:
        text = _run(program, mended, scratch, max(LEAST_SECONDS, 4 * seconds))
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return json.loads(text) if text.endswith("\n") else None


def _mended(report: Report, path: str) -> Mended | None:
    """The printed change, if it replaces lines of the script by as many, and a gradient waits behind it."""
    crash = None if report.script is None else report.script.crash
    waiting = [one.call.line for one in report.gradients if not one.computed]
    if crash is None or crash.fix is None or crash.span is None or not waiting:
        return None
    if os.path.abspath(crash.span.file) != path:
        return None
    edits = crash.fix.patch.splitlines()
    old, new = ([line[1:] for line in edits if line.startswith(sign)] for sign in "-+")
    if not old or len(old) != len(new):
        return None
    with open(path, encoding="utf-8", errors="replace") as file:
        lines = file.read().splitlines()
    here = lines[crash.span.line - 1 : crash.span.line - 1 + len(old)]
    if [line.strip() for line in here] != [line.strip() for line in old]:
        return None
    # A patch may be printed without the indentation of its lines.
    indented = [text[: len(text) - len(text.lstrip())] + line.strip() for text, line in zip(here, new)]
    lines[crash.span.line - 1 : crash.span.line - 1 + len(old)] = indented
    return Mended("\n".join(lines) + "\n", min(waiting))


def _told(mended: Mended | None) -> str:
    if mended is None:
        return "null"
    return json.dumps({"text": mended.text, "line": mended.line})


def _run(program: RerunProgram, mended: Mended | None, scratch: str, seconds: float) -> str:
    """What the child has to say."""
    reader, writer = os.pipe()
    told: list[Any] = [writer, scratch, json.dumps(list(program.folders)), _told(mended)]
    child = subprocess.Popen(
        [sys.executable, _CHILD, *map(str, told), *program.words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=(writer,),
    )
    os.close(writer)
    try:
        return _read(reader, seconds)
    finally:
        os.close(reader)
        child.kill()
        child.wait()


def _read(pipe: int, seconds: float) -> str:
    """Everything until the other end is closed."""
    end, parts = time.monotonic() + seconds, b""
    while select.select([pipe], [], [], max(end - time.monotonic(), 0.0))[0]:
        part = os.read(pipe, 1 << 16)
        if not part:
            return parts.decode("utf-8", "replace")
        parts += part
    raise TimeoutError(f"the second run took longer than {seconds:.0f} s")


def _with_mended(report: Report, again: Report, mended: Mended, how: str) -> Report:
    """The gradients behind the crash, as they are in the program with the change."""
    assert report.script is not None and report.script.crash is not None
    line = mended.line or 0
    found = [one for one in again.gradients if one.call.line == line]
    if not found:
        note = f"--rerun: the script with the change, {how}, did not reach line {line}"
        return _noted(report, note)
    text = (report.script.exception or "").strip()
    told = [never_computed(one, text, "with the crash fixed") for one in found]
    others = [one for one in report.gradients if one.computed or one.call.line != line]
    script = replace(report.script, crash=_checked(report.script.crash, found, line))
    whole = replace(report, gradients=(*others, *told), script=script)
    return _noted(whole, f"--rerun: the script ran a second time with the change, {how}")


def _checked(crash: Diagnostic, found: Sequence[GradientReport], line: int) -> Diagnostic:
    assert crash.fix is not None
    said = [f"{'None' if one.observed is None else _shown(one)} for `{one.source}`" for one in found]
    library = framework_name(found[0].framework)
    text = f"with this change the program reaches line {line}, where {library} returns {capped_list(said)}"
    return replace(crash, fix=replace(crash.fix, checked=text))


def _shown(gradient: GradientReport) -> str:
    return array_text(np.asarray(gradient.observed), gradient.dtype)


def _merged(report: Report, again: Report) -> Report:
    """Gradients that were missing as the second run tells them, those it alone knows of, its word on the crash."""
    known = {_key(gradient): gradient for gradient in again.gradients}
    own = [known.get(_key(g), g) if g.verdict is Verdict.MISSING else g for g in report.gradients]
    keys = {_key(gradient) for gradient in report.gradients}
    new = [g for key, g in known.items() if key not in keys and not g.computed]
    script = report.script
    if script is not None and again.script is not None and again.script.crash is not None:
        script = replace(script, crash=again.script.crash)
    return replace(report, gradients=(*own, *new), script=script, sources={**again.sources, **report.sources})


def _key(gradient: GradientReport) -> tuple[object, ...]:
    return gradient.call.file, gradient.call.line, gradient.occurrence, gradient.target, gradient.source


def _noted(report: Report, note: str) -> Report:
    return replace(report, notes=(*report.notes, note))


def _end(exception: str | None) -> str:
    return "ended well" if exception is None else f"ended with {exception}"
