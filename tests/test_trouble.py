"""Twelve scripts of trouble: the reports that their authors would read are kept beside them, and stay short."""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "trouble"
MOST_LINES = 40  # in the median
_DIGITS = re.compile(
    r"\b\d+(?:\.\d)? of (\d+(?:\.\d)?)(?=\s+digits)|\b\d+\.\d of (\d+\.\d)\b|-?\b\d+\.\d{4,}(?:e[-+]?\d+)?\b"
)


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The report of each script by its name, all from one process: TensorFlow is slow to start."""
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "", "TF_NUM_INTRAOP_THREADS": "1"}
    command = [sys.executable, "-m", "tests.test_trouble", str(tmp_path_factory.mktemp("trouble"))]
    done = subprocess.run(
        command,
        cwd=FOLDER.parents[1],
        env={**os.environ, **quiet},
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert isinstance(found, dict)
    return found


@pytest.mark.tensorflow
def test_the_reports_read_as_their_authors_need_them(texts: dict[str, str]) -> None:
    pytest.importorskip("tensorflow")
    assert len(texts) == 12
    for name, text in texts.items():
        path = FOLDER / f"{name}.txt"
        if os.environ.get("GRADPROOF_ACCEPT"):
            path.write_text(text, encoding="utf-8")
        assert _without_digits(text) == _without_digits(path.read_text(encoding="utf-8")), name
    assert statistics.median(text.count("\n") for text in texts.values()) <= MOST_LINES


def _without_digits(text: str) -> str:
    """Which digits are right in a float32 is a matter of the processor; that they are few is not."""
    return re.sub(r" +", " ", _DIGITS.sub(lambda found: f"# of {found[1] or found[2]}", text))


def _audit_all(folder: str) -> None:
    from gradproof.cli.main import main
    from gradproof.render.from_json import from_json
    from gradproof.render.to_text import to_text

    found = {}
    os.chdir(FOLDER)
    for path in sorted(FOLDER.glob("[!_]*.py")):
        written = Path(folder) / f"{path.stem}.json"
        main(["run", "--quiet", "--json", str(written), path.name])
        report = from_json(written.read_text(encoding="utf-8"))
        found[path.stem] = to_text(replace(report, notes=()))  # they tell how long it took
    print(json.dumps(found))


if __name__ == "__main__":
    _audit_all(sys.argv[1])
