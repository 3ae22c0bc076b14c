"""Runs the cases of the causes: ordinary scripts, audited as `gradproof run` audits them, many in one process.

A folder `cases/<cause>/` holds `guilty_*.py`, `fixed_*.py` and `silent_*.py`; the end of the name says which framework
a script needs (`_np`, `_tf`). In a guilty script each line to blame ends with `#~ <kind>`, or several kinds
with commas between them.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from gradproof.render.to_text import to_text
from tests.audited import audited

CASES = Path(__file__).parent / "cases"
ROLES = ("guilty", "fixed", "silent")
FRAMEWORKS = {"np": "numpy", "tf": "tensorflow"}
_MARKER = re.compile(r"#~\s*([a-z, -]+)$")
_SECONDS = 900  # for all scripts of a framework: a machine with nothing else to do needs one


@dataclass(frozen=True, order=True)
class Found:
    """A cause that was reported at level warning or error, and the line it was reported at."""

    kind: str
    line: int
    severity: str


@dataclass(frozen=True)
class Outcome:
    """What the audit of one script said. `wronged` are the errors on gradients judged correct: there may be none."""

    found: tuple[Found, ...]
    verdicts: tuple[str, ...]
    wronged: tuple[str, ...]
    faults: tuple[str, ...]
    text: str

    @property
    def places(self) -> set[tuple[str, int]]:
        return {(one.kind, one.line) for one in self.found}

    @property
    def errors(self) -> set[tuple[str, int]]:
        return {(one.kind, one.line) for one in self.found if one.severity == "error"}


def scripts(framework: str | None = None) -> list[Path]:
    """All cases, or those of one framework, in the order of their names."""
    found = sorted(path for path in CASES.glob("*/*.py"))
    return [path for path in found if framework is None or framework_of(path) == framework]


def role_of(path: Path) -> str:
    return path.stem.split("_")[0]


def cause_of(path: Path) -> str:
    return path.parent.name.replace("_", "-")


def framework_of(path: Path) -> str:
    return FRAMEWORKS[path.stem.rsplit("_", 1)[-1]]


def name_of(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def markers(path: Path) -> set[tuple[str, int]]:
    """The kinds and lines that a guilty script names itself."""
    lines = path.read_text(encoding="utf-8").splitlines()
    marked = ((number, _MARKER.search(text)) for number, text in enumerate(lines, 1))
    return {(kind.strip(), number) for number, mark in marked if mark for kind in mark[1].split(",")}


def audit(path: Path) -> Outcome:
    """What was found in one script."""
    report, faults = audited(path)
    reported = [(one, gradient) for gradient in report.gradients for one in gradient.diagnostics]
    found = {
        Found(one.kind, one.span.line if one.span is not None else gradient.call.line, one.severity)
        for one, gradient in reported
        if one.severity != "note"
    }
    wronged = {
        one.kind
        for one, gradient in reported
        if one.severity == "error" and str(gradient.verdict) == "correct"
    }
    return Outcome(
        found=tuple(sorted(found)),
        verdicts=tuple(map(str, report.verdicts)),
        wronged=tuple(sorted(wronged)),
        faults=faults,
        text=to_text(report),
    )


@cache
def outcomes(framework: str) -> dict[str, Outcome]:
    """The outcome of every script of a framework, by name; frameworks other than NumPy get one process in all."""
    paths = scripts(framework)
    if framework == "numpy":
        return {name_of(path): audit(path) for path in paths}
    if not paths:
        return {}
    command = [sys.executable, "-m", "tests.causes.harness", framework]
    root = Path(__file__).parents[2]
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(
        command, cwd=root, env={**os.environ, **quiet}, capture_output=True, text=True, timeout=_SECONDS
    )
    if done.returncode != 0:
        raise RuntimeError(f"the cases of {framework} could not be run:\n{done.stderr[-4000:]}")
    return {name: _restored(fields) for name, fields in json.loads(done.stdout.splitlines()[-1]).items()}


def _restored(fields: dict[str, object]) -> Outcome:
    found = tuple(Found(**one) for one in fields.pop("found"))  # type: ignore[attr-defined]
    return Outcome(found=found, **{k: tuple(v) if isinstance(v, list) else v for k, v in fields.items()})  # type: ignore[arg-type]


def main(framework: str) -> None:
    print(json.dumps({name_of(path): asdict(audit(path)) for path in scripts(framework)}))


if __name__ == "__main__":
    main(sys.argv[1])
