"""Small programs with the structure of published ones, under `gradproof run`: CPU time, memory and verdicts.

    python benchmarks/published_structures.py [--only TEXT]

Graph attention, WGAN with gradient penalty, a VAE and a GAN with transposed convolutions, PointNet and the
forward-forward algorithm, in TensorFlow and PyTorch (the scripts of benchmarks/structures). Each runs plain and audited
in a process of its own with one thread. The goals: every gradient proven or measured, within 60 s of computing beyond
the plain run, with at most 2 GB more. The limits of time count computing too, since other work may run beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from user_waits import ONE_THREAD

FOLDER = Path(__file__).parent / "structures"
SECONDS, MEGABYTES = 60.0, 2048.0
BY_COMPUTING = """
import sys
from gradproof.clock import by_computing
from gradproof.cli.main import main

with by_computing():
    sys.exit(main(sys.argv[1:]))
"""


def spent(command: list[str]) -> tuple[float, float]:
    """(seconds of computing, largest size in MB) of a process that must end well."""
    process = subprocess.Popen(
        command, env={**os.environ, **ONE_THREAD}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def row(script: Path, folder: Path) -> str:
    report = folder / "report.json"
    plain, size = spent([sys.executable, str(script)])
    audited, larger = spent(
        [sys.executable, "-c", BY_COMPUTING, "run", "--fail-on", "never", "--json", str(report), str(script)]
    )
    gradients = json.loads(report.read_text())["gradients"]
    verdicts = Counter(one["verdict"] for one in gradients)
    met = audited - plain <= SECONDS and larger - size <= MEGABYTES and not verdicts["unverified"]
    told = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common())
    return (
        f"{script.stem:16} {plain:7.1f} {audited - plain:9.1f} {larger - size:8.0f}  "
        f"{'yes' if met else 'no ':4} {told}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    print(f"{'program':16} {'plain s':>7} {'checks s':>9} {'MB more':>8}  met  verdicts")
    with tempfile.TemporaryDirectory() as folder:
        for script in sorted(FOLDER.glob("*.py")):
            if given.only in script.stem:
                print(row(script, Path(folder)), flush=True)


if __name__ == "__main__":
    main()
