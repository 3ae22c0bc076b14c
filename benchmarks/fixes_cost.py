"""What the search for fixes costs, beside the checks, in time of the processor: faulty scripts of the tests, each run
plain, with `--no-fix`, and with the search.

python benchmarks/fixes_cost.py [FRAMEWORK ...]    a table; every twelfth script of each framework
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.fixes.faulty import HEADS, SCRIPTS  # noqa: E402

from gradproof.frameworks import framework as framework_of  # noqa: E402

EVERY = 12
WAYS = ([], ["-m", "gradproof", "run", "--no-fix"], ["-m", "gradproof", "run"])
# One thread, so that threads that wait for each other are not counted as work.
QUIET = {"OMP_NUM_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}


def seconds(command: list[str], script: Path) -> float:
    """Of the processor, in a process of its own and in what that starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, *command, script.name],
        cwd=script.parent, env={**os.environ, **QUIET}, capture_output=True, check=False,
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measured(framework: str) -> list[tuple[float, float]]:
    """For each script what the check costs, and what the search costs besides."""
    found = []
    for one in [script for script in SCRIPTS if script.framework == framework][::EVERY]:
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder) / "script.py"
            script.write_text(one.text, encoding="utf-8")
            plain, checked, searched = (seconds(command, script) for command in WAYS)
        found.append((checked - plain, searched - checked))
        print(f"check {checked - plain:6.2f} s  search {searched - checked:6.2f} s  {one.id}", flush=True)
    return found


def main() -> None:
    rows = []
    for framework in sys.argv[1:] or HEADS:
        checks, searches = zip(*(found := measured(framework)))
        n_longer = sum(search > check for check, search in found)
        rows.append(
            f"| {framework_of(framework).title} | {len(found)} | {statistics.median(checks):.2f} | "
            f"{statistics.median(searches):.2f} | {sum(checks):.1f} | {sum(searches):.1f} | {n_longer} |"
        )
    print(
        "| | scripts | check, median | search, median | checks, all | searches, all | search is longer in |"
    )
    print("\n".join(["|---|---|---|---|---|---|---|", *rows]))


if __name__ == "__main__":
    main()
