"""What a user of gradproof waits for, in CPU time: checks, audited steps, steps that are not checked, start-up.

    python benchmarks/user_waits.py [--frameworks numpy,jax] [--sizes 1e4,1e6] [--only TEXT] [--keep FILE] [--write]

Every framework has a process of its own with one thread. CPU time counts, since other work may run beside it. Plain
gradients and what is waited for take turns, and the ratio is taken of neighbours; two neighbouring blocks of plain
gradients give the noise. All of it takes an hour: with `--keep` every row is kept in a file, so that it may be measured
in parts, and `--write` makes docs/waiting.md of what was measured and what is kept.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

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
    "PYTHONDONTWRITEBYTECODE": "",  # an installed package is compiled, and a start of ours has to be like its
}
HEAD = """# What you wait for

Made by `python benchmarks/user_waits.py --write`, in CPU time on one thread of a shared machine. A gradient is a plain
gradient by the same framework of the same function, taken in turns with what is measured: compiled in JAX, eager in
TensorFlow and PyTorch, by gradproof's own tape in NumPy. *Noise* is how far two neighbouring blocks of plain gradients
differ. An audited step has a verdict for every entry of every gradient; "unverified" behind its name says how many have
none. In PyTorch and JAX a gradient of a small network takes about 0.1 ms, and nobody feels fifteen of them: a check of
one that takes no longer than 15 ms, the goal for ten ops, will do there as well; from 1e5 parameters on gradients are
the measure. Unchecked steps are those after the first second: in PyTorch an audit goes on to listen for half a second
of computing, once, and till then a step of these networks takes 1.5 to 7 times as long; that is a part of a training
under `gradproof run`. The command measures more than is shown here (larger networks): it can be run in parts.

What misses its goal, and why. A training of 320 steps lasts five seconds: to start costs a quarter of a second, each
of its four checked steps a tenth to a fifth, and in JAX the first of them has XLA compile every op by itself. That is
spent once, and a training ten times as long pays a tenth of it. In PyTorch and JAX a gradient of 1e4 parameters takes
a few milliseconds or less, and a proof goes in Python, op by op, through what is one kernel there. For second
derivatives of 60 parameters the framework is asked for 60 gradients, one by one, which takes as long as half the goal
and more; the rows are judged together. Times in milliseconds are longer on a machine that is busy.

"""
COLUMNS = ("case", "plain", "waited", "ratio", "noise", "goal", "met")


def told_by(framework: str, sizes: str, only: str) -> Iterator[dict[str, Any]]:
    """Measured in a process of its own, which tells each row as soon as it is known, and each failure."""
    command = [sys.executable, str(Path(__file__).parent / "user_waits_cases.py"), framework, sizes, only]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, **ONE_THREAD}
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("{"):
                yield {"framework": framework, **json.loads(line)}
    if process.returncode:
        raise SystemExit(f"the cases of {framework} failed")


def shown(told: dict[str, Any]) -> str:
    return told["failed"] if "failed" in told else "  ".join(row_of(told).cells())


def row_of(told: dict[str, Any]) -> Row:
    return Row(**{key: value for key, value in told.items() if key != "framework"})


def page(told: Sequence[dict[str, Any]]) -> str:
    """The latest of each row; what failed is said."""
    parts, n_met, n_rows = [HEAD], 0, 0
    for framework, title in FRAMEWORKS.items():
        own = {one.get("name", one.get("failed")): one for one in told if one["framework"] == framework}
        rows = [row_of(one) for one in own.values() if "failed" not in one]
        if not rows:
            continue
        parts.append(f"## {title[:1].upper()}{title[1:]}\n\n")
        parts.append("| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|\n")
        parts.extend("| " + " | ".join(row.cells()) + " |\n" for row in rows)
        parts.extend(f"\nNot measured: {one['failed']}\n" for one in own.values() if "failed" in one)
        parts.append("\n")
        n_met, n_rows = n_met + sum(row.met for row in rows), n_rows + len(rows)
    return "".join(parts) + f"{n_met} of {n_rows} goals are met.\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--frameworks", default=",".join(FRAMEWORKS))
    parser.add_argument("--sizes", default="1e4,1e5,1e6,1e7")
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    kept = given.keep.read_text().splitlines() if given.keep is not None and given.keep.exists() else []
    told = [json.loads(line) for line in kept]
    for framework in filter(None, given.frameworks.split(",")):
        print(f"\n{FRAMEWORKS[framework]}\n{'  '.join(COLUMNS)}", flush=True)
        for one in told_by(framework, given.sizes, given.only):
            told.append(one)
            print(shown(one), flush=True)
            if given.keep is not None:
                given.keep.write_text("".join(json.dumps(each) + "\n" for each in told))
    if given.write:
        (ROOT / "docs" / "waiting.md").write_text(page(told), encoding="utf-8")


if __name__ == "__main__":
    main()
