"""Runs the examples of a Markdown page and puts their real output where the page shows it.

What counts as an example:

- a `python` block is executed, all blocks of a page in one namespace; what it prints is the `text` block after it;
- a `python` block whose first line is a comment with a file name, `# loss.py`, is that file;
- a `console` block has commands after `$ `, run in the page's own folder, each followed by its output.

Blocks of other languages are only shown. With GRADPROOF_ACCEPT=1 a page is rewritten instead of compared.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

ROOT = Path(__file__).parent.parent
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"# ([\w/.]+\.\w+)\n")
_DURATION = re.compile(r"\b(in|took) \d+\.\d+ ?s\b")
# What a busy machine makes a run say about its checks; with the blank line below it where it has a block of its own.
_COST = re.compile(
    r"(?<=\n\n)note: checking took .*\n(?:  .*\n)*\n|^note: checking took .*\n(?:  .*\n)*", re.MULTILINE
)
_SECONDS = 300

# Nothing about the machine may show: no colour, one width, and TensorFlow keeps its remarks to itself.
_ENVIRONMENT = {
    "COLUMNS": "100",
    "NO_COLOR": "1",
    "CUDA_VISIBLE_DEVICES": "",
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "TF_ENABLE_ONEDNN_OPTS": "0",
}
# A command of a page is not run as a part of the CI that runs this test, nor as a worker of its pytest.
_NOT_INHERITED = re.compile(r"GITHUB_|CI$|PYTEST_")


@dataclass(frozen=True)
class Block:
    """A fenced block; `start` and `end` enclose its text on the page."""

    language: str
    text: str
    start: int
    end: int

    @property
    def file(self) -> str | None:
        name = _FILE.match(self.text) if self.language == "python" else None
        return name[1] if name else None


def blocks(page: str) -> list[Block]:
    """The fenced blocks of a page, in order."""
    return [Block(found[1], found[2], found.start(2), found.end(2)) for found in _FENCE.finditer(page)]


def with_real_output(page: str) -> str:
    """The page, with what its examples really print."""
    found = blocks(page)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "examples", Path(folder) / "examples")
        for block in found:
            if block.file:
                Path(folder, block.file).write_text(block.text, encoding="utf-8")
        replaced = dict(_python_outputs(page, found, folder))
        replaced.update((k, _console(b.text, folder)) for k, b in enumerate(found) if b.language == "console")
    for k in sorted(replaced, reverse=True):
        page = page[: found[k].start] + replaced[k] + page[found[k].end :]
    return page


def compare(path: Path) -> None:
    """Fail where a page shows something else than what happens; with GRADPROOF_ACCEPT=1 rewrite it."""
    page = path.read_text(encoding="utf-8")
    real = with_real_output(page)
    shown, happens = (_DURATION.sub("in a moment", text).splitlines() for text in (page, real))
    if os.environ.get("GRADPROOF_ACCEPT") == "1" and shown != happens:
        path.write_text(real, encoding="utf-8")
        return
    assert shown == happens, "\n".join(unified_diff(shown, happens, "the page", "what happens", lineterm=""))


def _python_outputs(page: str, found: list[Block], folder: str) -> Iterator[tuple[int, str]]:
    numbers = [k for k, block in enumerate(found) if block.language == "python" and not block.file]
    if not numbers:
        return
    done = subprocess.run(
        [sys.executable, "-m", "tests.documents", folder],
        input=json.dumps([found[k].text for k in numbers]),
        cwd=ROOT,
        env=_environment(),
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for k, printed in zip(numbers, json.loads(done.stdout.splitlines()[-1])):
        follows = k + 1 < len(found) and found[k + 1].language == "text"
        shows = (
            follows and not page[found[k].end + len("```") : found[k + 1].start - len("```text\n")].strip()
        )
        assert shows or not printed, f"this is printed, and no `text` block follows to show it:\n{printed}"
        if shows:
            yield k + 1, printed


def _console(text: str, folder: str) -> str:
    """The commands of a block, each with its output; `$?` is the status of the one before."""
    shown, status = [], 0
    for command in (line[2:] for line in text.splitlines() if line.startswith("$ ")):
        done = subprocess.run(
            command.replace("$?", str(status)),
            shell=True,
            cwd=folder,
            env=_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        status = done.returncode
        shown.append(f"$ {command}\n{_tidy(done.stdout)}")
    return "".join(shown)


def _environment() -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not _NOT_INHERITED.match(name)}
    path = os.pathsep.join([str(Path(sys.executable).parent), inherited.get("PATH", "")])
    return {**inherited, **_ENVIRONMENT, "PATH": path}


def _tidy(printed: str) -> str:
    """Without spaces at the ends of lines and blank lines around, which no page keeps, nor what slow checks cost."""
    lines = "\n".join(line.rstrip() for line in _COST.sub("", printed).splitlines()).strip("\n")
    return f"{lines}\n" if lines else ""


def _execute(codes: list[str]) -> list[str]:
    """What each piece of code prints. A piece is also a file, so that reports can show its lines."""
    namespace = {"__name__": "__main__"}
    printed = []
    for number, code in enumerate(codes, 1):
        path = Path(f"example_{number}.py")
        path.write_text(code, encoding="utf-8")
        stream = io.StringIO()
        with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
            exec(compile(code, str(path.resolve()), "exec", dont_inherit=True), namespace)
        printed.append(_tidy(stream.getvalue()))
    return printed


if __name__ == "__main__":
    given = json.loads(sys.stdin.read())
    os.chdir(sys.argv[1])
    print(json.dumps(_execute(given)))
