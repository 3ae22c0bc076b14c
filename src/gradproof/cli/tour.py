"""`gradproof tour`: the examples one after the other, each with its lesson, its source and its report."""

from __future__ import annotations

import argparse
import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from gradproof.cli.quiet import QUIET
from gradproof.errors import InvalidInput, did_you_mean
from gradproof.frameworks import Framework, all_frameworks

# A wheel carries the examples inside the package; a clone has them beside `src`.
_HOMES = (Path(__file__).parents[1] / "examples", Path(__file__).parents[3] / "examples")
_LISTED = re.compile(r"^\d+\. \[`(\w+)\.py`\]", re.MULTILINE)
_LINE_BREAK = re.compile(r"(?<=\S)\n(?=\S)")  # within a paragraph: the screen's width decides where lines end
_FAULT_FOUND = 1  # the exit status of a run that found what the example is about
_WIDTH = 100


@dataclass(frozen=True)
class Example:
    """A script of the tour. Its docstring's first line is the title, the rest is the lesson."""

    name: str
    title: str
    lesson: str
    source: str
    first_line: int  # of the code, below the docstring
    needs: Framework | None  # beyond NumPy


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("which", nargs="?", metavar="N|NAME", help="only this example, by number or by name")
    parser.add_argument("--list", action="store_true", dest="only_list", help="list the examples, run none")
    parser.add_argument("--no-pause", action="store_true", help="do not wait for Enter between two examples")
    parser.add_argument(
        "--copy", metavar="FOLDER", help="copy the scripts into a new folder, to change them; run none"
    )


def execute(given: argparse.Namespace) -> int:
    examples = read_examples(_home())
    # Off a terminal the width is fixed, so that the output does not depend on who runs it.
    console = Console(highlight=False, width=None if sys.stdout.isatty() else _WIDTH)
    if given.copy is not None:
        return _copy(given.copy, console)
    if given.only_list:
        for number, example in enumerate(examples, 1):
            console.print(_heading(number, example), soft_wrap=True)
        return 0
    chosen = _chosen(examples, given.which)
    may_pause = not given.no_pause and sys.stdin.isatty() and sys.stdout.isatty()
    with tempfile.TemporaryDirectory() as folder:
        # The scripts run as copies: reports then name `examples/first.py`, wherever gradproof is installed.
        shutil.copytree(_home(), Path(folder) / "examples")
        return _walk(chosen, Path(folder), console, may_pause)


def read_examples(home: Path) -> list[Example]:
    """All examples in the order of their list, `README.md`."""
    names = _LISTED.findall((home / "README.md").read_text(encoding="utf-8"))
    return [_read(home / f"{name}.py") for name in names]


def _read(path: Path) -> Example:
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    title, _, lesson = (ast.get_docstring(tree) or "").partition("\n")
    imported = {
        alias.name.split(".")[0] for node in tree.body if isinstance(node, ast.Import) for alias in node.names
    }
    first_line = tree.body[1].lineno
    needs = next((one for one in all_frameworks() if one.returns_none and imported & {*one.packages}), None)
    return Example(path.stem, title, lesson.strip("\n"), source, first_line, needs)


def _home() -> Path:
    for home in _HOMES:
        if home.is_dir():
            return home
    raise InvalidInput("the examples were not installed with gradproof; they are in its repository")


def _copy(target: str, console: Console) -> int:
    if os.path.exists(target):
        raise InvalidInput(f"the examples are copied into a new folder, but `{target}` exists already")
    try:
        shutil.copytree(_home(), target, ignore=shutil.ignore_patterns("__pycache__"))
    except OSError as error:
        raise InvalidInput(f"the examples cannot be copied to `{target}`: {error.strerror}") from error
    console.print(
        f"the examples are in {target}; start with: gradproof run {target}/first.py", soft_wrap=True
    )
    return 0


def _chosen(examples: list[Example], which: str | None) -> list[tuple[int, Example]]:
    numbered = list(enumerate(examples, 1))
    if which is None:
        return numbered
    name = Path(which).stem
    found = [(number, one) for number, one in numbered if which == str(number) or name == one.name]
    if found:
        return found
    meant = did_you_mean(name, [one.name for one in examples])
    raise InvalidInput(
        f"there is no example `{which}`{meant}\n  `gradproof tour --list` lists all {len(examples)} of them"
    )


def _walk(chosen: list[tuple[int, Example]], folder: Path, console: Console, may_pause: bool) -> int:
    failed = 0
    for number, example in chosen:
        console.print(_heading(number, example), soft_wrap=True)
        if example.needs is not None and find_spec(example.needs.name) is None:
            console.print(f"\nskipped: it needs {example.needs.title}, which is not installed\n")
            continue
        failed += not _show(example, folder, console)
        if may_pause and number != chosen[-1][0] and not _goes_on(console):
            break
    return 1 if failed else 0


def _heading(number: int, example: Example) -> Text:
    return Text.assemble((f"{number:>2}  {example.name}", "bold"), f": {example.title}")


def _show(example: Example, folder: Path, console: Console) -> bool:
    """The lesson, the source with its true line numbers, and the audited run; whether that run went as it should."""
    console.print()
    console.print(Text(_LINE_BREAK.sub(" ", example.lesson.strip())))
    console.print()
    lines = len(example.source.splitlines())
    if console.is_terminal:
        lexed = Syntax(example.source, "python", line_numbers=True, line_range=(example.first_line, lines))
        console.print(lexed)
    else:
        for number, text in enumerate(example.source.splitlines(), 1):
            if number >= example.first_line:
                console.print(Text(f"{number:>3} | {text}".rstrip()), soft_wrap=True)
    script = f"examples/{example.name}.py"
    console.print(Text(f"\n$ gradproof run {script}", "bold"))
    sys.stdout.flush()
    command = [sys.executable, "-m", "gradproof", "run", script]
    env = {**QUIET, "PYTHONUNBUFFERED": "1", **os.environ}
    done = subprocess.run(command, cwd=folder, env=env, check=False)
    console.print()
    return done.returncode in (0, _FAULT_FOUND)


def _goes_on(console: Console) -> bool:
    try:
        answer = console.input("[dim]Enter: the next example, q: quit[/dim] ")
    except (EOFError, KeyboardInterrupt):
        console.print()
        return False
    return not answer.strip().lower().startswith("q")
