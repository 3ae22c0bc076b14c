"""Twelve scripts of trouble in each framework: the reports that their authors would read are kept beside them, and stay
short."""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.pictures import leave_out

FOLDER = Path(__file__).parent / "trouble"
MOST_LINES = 40  # in the median
PATIENCE = 2400  # seconds: how busy the machine is decides no test
_DIGITS = re.compile(
    r"\b\d+(?:\.\d)? of (\d+(?:\.\d)?)(?=\s+digits)|\b\d+\.\d of (\d+\.\d)\b|-?\b\d+\.\d{4,}(?:e[-+]?\d+)?\b"
)


# No folder beside a script may have the name of a package: where that is not installed, the script would import it.
FRAMEWORKS = {"tensorflow": FOLDER, "torch": FOLDER / "in_torch", "jax": FOLDER / "in_jax"}


def _texts(framework: str, written: Path) -> dict[str, str]:
    """The report of each script by its name, all from one process: a framework is slow to start."""
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "", "TF_NUM_INTRAOP_THREADS": "1"}
    command = [sys.executable, "-m", "tests.test_trouble", str(FRAMEWORKS[framework]), str(written)]
    done = subprocess.run(
        command,
        cwd=FOLDER.parents[1],
        env={**os.environ, **quiet},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert isinstance(found, dict)
    return found


@pytest.mark.timeout(PATIENCE)
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_the_reports_read_as_their_authors_need_them(framework: str, tmp_path: Path) -> None:
    pytest.importorskip(framework)
    texts = _texts(framework, tmp_path)
    assert len(texts) == 12
    for name, text in texts.items():
        path = FRAMEWORKS[framework] / f"{name}.txt"
        if os.environ.get("GRADPROOF_ACCEPT"):
            path.write_text(text, encoding="utf-8")
        assert _without_digits(text) == _without_digits(path.read_text(encoding="utf-8")), name
    assert statistics.median(text.count("\n") for text in texts.values()) <= MOST_LINES


def _without_digits(text: str) -> str:
    """Which digits are right in a float32 is a matter of the processor; that they are few is not."""
    return re.sub(r" +", " ", _DIGITS.sub(lambda found: f"# of {found[1] or found[2]}", text))


def _audit_all(scripts: str, written: str) -> None:
    from gradproof import clock
    from gradproof.cli.main import main
    from gradproof.render.from_json import from_json
    from gradproof.render.to_text import to_text

    # The limit of a check counts what this process computed: how busy the machine is decides no report.
    clock.time = SimpleNamespace(monotonic=time.process_time)  # type: ignore[assignment]
    leave_out(pytest.MonkeyPatch())  # which are half of the work, and no text shows them
    found = {}
    os.chdir(scripts)
    for path in sorted(Path().glob("[!_]*.py")):
        report_file = Path(written) / f"{path.stem}.json"
        main(["run", "--quiet", "--json", str(report_file), path.name])
        report = from_json(report_file.read_text(encoding="utf-8"))
        found[path.stem] = to_text(replace(report, notes=()))  # they tell how long it took
    print(json.dumps(found))


if __name__ == "__main__":
    _audit_all(*sys.argv[1:])
