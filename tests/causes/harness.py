"""Runs the cases of the causes: ordinary scripts, audited as `gradproof run` audits them, half of them in one process.

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
import time
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from gradproof.render.to_text import to_text
from tests.audited import audited

CASES = Path(__file__).parent / "cases"
ROLES = ("guilty", "fixed", "silent")
FRAMEWORKS = {"np": "numpy", "tf": "tensorflow"}
_MARKER = re.compile(r"#~\s*([a-z, -]+)$")
_SECONDS = 900  # for half of the scripts of a framework: a machine with nothing else to do needs one
_PAUSE = 0.1  # between two looks at what another process has done


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


def outcome_of(path: Path, shared: Path | None = None) -> Outcome:
    """The outcome of a script. Processes that have a folder in common share the work: each script is run by one."""
    framework, wanted = framework_of(path), _half_of(path)
    if shared is None:
        return _outcomes(framework, wanted)[name_of(path)]
    result = shared / f"{framework}-{wanted}.json"
    while not result.exists():
        for half in (wanted, 1 - wanted):  # while another process is at one half, the other half can be run
            _provide(framework, half, shared)
        time.sleep(_PAUSE)
    return _read(result)[name_of(path)]


def _half_of(path: Path) -> int:
    return scripts(framework_of(path)).index(path) % 2


def _provide(framework: str, half: int, shared: Path) -> None:
    """Run the scripts, unless another process has begun to."""
    claim, result = (shared / f"{framework}-{half}.{end}" for end in ("claim", "json"))
    try:
        claim.touch(exist_ok=False)
    except FileExistsError:
        return
    try:
        text = _as_json(_outcomes(framework, half))
    except BaseException:
        claim.unlink()  # whoever waits has to see for itself
        raise
    result.with_suffix(".part").write_text(text, encoding="utf-8")
    result.with_suffix(".part").rename(result)


@cache
def _outcomes(framework: str, half: int) -> dict[str, Outcome]:
    """The outcomes of every other script, by name; frameworks other than NumPy get a process of their own."""
    paths = scripts(framework)[half::2]
    if framework == "numpy":
        return {name_of(path): audit(path) for path in paths}
    if not paths:
        return {}
    command = [sys.executable, "-m", "tests.causes.harness", framework, str(half)]
    root = Path(__file__).parents[2]
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(
        command, cwd=root, env={**os.environ, **quiet}, capture_output=True, text=True, timeout=_SECONDS
    )
    if done.returncode != 0:
        raise RuntimeError(f"the cases of {framework} could not be run:\n{done.stderr[-4000:]}")
    return _from_json(done.stdout.splitlines()[-1])


@cache
def _read(result: Path) -> dict[str, Outcome]:
    return _from_json(result.read_text(encoding="utf-8"))


def _as_json(outcomes: dict[str, Outcome]) -> str:
    return json.dumps({name: asdict(outcome) for name, outcome in outcomes.items()})


def _from_json(text: str) -> dict[str, Outcome]:
    return {name: _restored(fields) for name, fields in json.loads(text).items()}


def _restored(fields: dict[str, object]) -> Outcome:
    found = tuple(Found(**one) for one in fields.pop("found"))  # type: ignore[attr-defined]
    return Outcome(found=found, **{k: tuple(v) if isinstance(v, list) else v for k, v in fields.items()})  # type: ignore[arg-type]


def main(framework: str, half: int) -> None:
    print(_as_json({name_of(path): audit(path) for path in scripts(framework)[half::2]}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
