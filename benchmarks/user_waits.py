"""What a user of gradproof waits for, in CPU time: checks, audited steps, steps that are not checked, start-up.

    python benchmarks/user_waits.py [--frameworks numpy,jax] [--sizes 1e4,1e6] [--only TEXT] [--write]

Every framework has a process of its own with one thread. CPU time counts, since other work may run beside it. Plain
gradients and what is waited for take turns, and the ratio is taken of neighbours; two neighbouring blocks of plain
gradients give the noise. `--write` makes docs/waiting.md.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from user_waits_timing import Row

ROOT = Path(__file__).parent.parent
FRAMEWORKS = {
    "start": "start-up",
    "numpy": "NumPy",
    "tensorflow": "TensorFlow",
    "torch": "PyTorch",
    "jax": "JAX",
}
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "TF_NUM_INTRAOP_THREADS": "1",
    "TF_NUM_INTEROP_THREADS": "1",
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}
HEAD = """# What you wait for

Made by `python benchmarks/user_waits.py --write`, in CPU time on one thread of a shared machine. A gradient is a plain
gradient by the same framework of the same function, taken in turns with what is measured: compiled in JAX, eager in
TensorFlow and PyTorch, by gradproof's own tape in NumPy. *Noise* is how far two neighbouring blocks of plain gradients
differ. An audited step has a verdict for every entry of every gradient; "unverified" behind its name says how many have
none.

"""
COLUMNS = ("case", "plain", "waited", "ratio", "noise", "goal", "met")


def rows_of(framework: str, sizes: str, only: str, failed: list[str]) -> list[Row]:
    """Measured in a process of its own, which tells each row as soon as it is known, and each failure."""
    command = [sys.executable, str(Path(__file__).parent / "user_waits_cases.py"), framework, sizes, only]
    found = []
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, **ONE_THREAD}
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            told = json.loads(line) if line.startswith("{") else {}
            if "failed" in told:
                failed.append(f"{FRAMEWORKS[framework]}: {told['failed']}")
                print(failed[-1], flush=True)
            elif told:
                found.append(Row(**told))
                print("  ".join(found[-1].cells()), flush=True)
    if process.returncode:
        raise SystemExit(f"the cases of {framework} failed")
    return found


def page(found: dict[str, list[Row]], failed: list[str]) -> str:
    parts = [HEAD]
    for framework, rows in found.items():
        parts.append(f"## {FRAMEWORKS[framework][:1].upper()}{FRAMEWORKS[framework][1:]}\n\n")
        parts.append("| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|\n")
        parts.extend("| " + " | ".join(row.cells()) + " |\n" for row in rows)
        parts.append("\n")
    every = [row for rows in found.values() for row in rows]
    parts.append(f"{sum(row.met for row in every)} of {len(every)} goals are met.\n")
    parts.extend(f"\nNot measured: {one}\n" for one in failed)
    return "".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--frameworks", default=",".join(FRAMEWORKS))
    parser.add_argument("--sizes", default="1e4,1e5,1e6,1e7")
    parser.add_argument("--only", default="")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    found: dict[str, list[Row]] = {}
    failed: list[str] = []
    for framework in given.frameworks.split(","):
        print(f"\n{FRAMEWORKS[framework]}\n{'  '.join(COLUMNS)}", flush=True)
        found[framework] = rows_of(framework, given.sizes, given.only, failed)
    if given.write:
        (ROOT / "docs" / "waiting.md").write_text(page(found, failed), encoding="utf-8")


if __name__ == "__main__":
    main()
