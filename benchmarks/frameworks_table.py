"""Where frameworks return different gradients of one function: writes docs/frameworks.md.

python benchmarks/frameworks_table.py
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.frontends.everywhere import APART, FRAMEWORKS, FUNCTIONS, Answer, answer  # noqa: E402

NEAR = 1e-5
HEAD = """# Where frameworks differ

Made by `python benchmarks/frameworks_table.py`: {n} functions are written in all four, and their gradients checked. The
verdict, the causes and the reference are the same wherever the gradients are. Below are the functions whose gradients
are not: each framework has a convention of its own where there is no derivative, and for complex numbers, where JAX's
gradient is the conjugate of the others'; or it rounds in other places, its special functions have other errors, or a
rule of it is wrong.

| function, at | {names} | verdict |
|---|{dashes}---|
"""


def differs(answers: dict[str, Answer]) -> bool:
    first, *others = [np.asarray(one.observed, complex) for one in answers.values()]
    return not all(np.allclose(first, other, rtol=NEAR, atol=0, equal_nan=True) for other in others)


def cell(one: Answer) -> str:
    numbers = () if one.observed is None else one.observed
    return ", ".join(f"{number:.6g}" for number in numbers)


def main() -> None:
    rows = []
    functions = {**FUNCTIONS, **APART}
    for name, (_, point) in functions.items():
        answers = {framework: answer(framework, name) for framework in FRAMEWORKS}
        if differs(answers):
            at = ", ".join(f"{number:g}" for number in point)
            verdicts = " / ".join(dict.fromkeys(one.verdict for one in answers.values()))
            cells = " | ".join(map(cell, answers.values()))
            rows.append(f"| {name.replace('|', chr(92) + '|')}, ({at}) | {cells} | {verdicts} |")
    head = HEAD.format(n=len(functions), names=" | ".join(FRAMEWORKS), dashes="---|" * len(FRAMEWORKS))
    (ROOT / "docs" / "frameworks.md").write_text(head + "\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()
