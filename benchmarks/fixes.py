"""How many faulty scripts are mended, by family and framework: writes the table in docs/how-it-works.md.

python benchmarks/fixes.py            all frameworks, each in a process of its own, and the table
python benchmarks/fixes.py FRAMEWORK  the scripts of one framework, a line each, without the table
"""

from __future__ import annotations

import multiprocessing
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.fixes.faulty import FAMILIES, HEADS, SCRIPTS  # noqa: E402
from tests.fixes.mending import mend  # noqa: E402

from gradproof.frameworks import framework as framework_of  # noqa: E402

PAGE = ROOT / "docs" / "how-it-works.md"
BEGIN, END = "| family |", "\n\n"

Outcomes = list[tuple[str, str]]


def outcomes(framework: str) -> Outcomes:
    """The family and what became of it, for every script of a framework."""
    found = []
    for script in (one for one in SCRIPTS if one.framework == framework):
        with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
            outcome = mend(script.text, Path(folder), patch)
        print(f"{outcome.kind:9} {'FALSE CLAIM ' if outcome.is_false else ''}{script.id}", flush=True)
        found.append((script.family, outcome.kind))
    return found


def table(by_framework: dict[str, Outcomes]) -> str:
    titles = [framework_of(name).title for name in by_framework]
    rows = [f"| family | {' | '.join(titles)} |", f"|---|{'---|' * len(titles)}"]
    for family in FAMILIES:
        cells = [
            _share(Counter(kind for one, kind in found if one == family)) for found in by_framework.values()
        ]
        rows.append(f"| {family} | {' | '.join(cells)} |")
    totals = [_share(Counter(kind for _, kind in found)) for found in by_framework.values()]
    return "\n".join([*rows, f"| all | {' | '.join(totals)} |"])


def _share(kinds: Counter[str]) -> str:
    return f"{kinds['mended']} of {kinds.total()}" if kinds else ""


def main() -> None:
    with multiprocessing.get_context("spawn").Pool(2, maxtasksperchild=1) as pool:
        found = dict(zip(HEADS, pool.imap(outcomes, HEADS)))
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    PAGE.write_text(f"{before}{table(found)}{END}{rest.partition(END)[2]}", encoding="utf-8")


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if len(sys.argv) > 1:
            outcomes(sys.argv[1])
        else:
            main()
