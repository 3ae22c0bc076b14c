"""How many faulty scripts are mended, by family and framework: writes the table in docs/how-it-works.md.

python benchmarks/fixes.py                 all frameworks, each in a process of its own
python benchmarks/fixes.py FRAMEWORK ...   the scripts of some only; the other columns stay
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
        claim, offered = "FALSE CLAIM " if outcome.is_false else "", ", ".join(sorted(outcome.offered))
        print(f"{outcome.kind:9} {claim}{script.id} ({offered})", flush=True)
        found.append((script.family, outcome.kind))
    return found


def column(found: Outcomes) -> list[str]:
    """How many of each family, and of all."""
    cells = [_share(Counter(kind for one, kind in found if one == family)) for family in FAMILIES]
    return [*cells, _share(Counter(kind for _, kind in found))]


def table(columns: dict[str, list[str]]) -> str:
    titles = [framework_of(name).title for name in columns]
    rows = [f"| family | {' | '.join(titles)} |", f"|---|{'---|' * len(titles)}"]
    rows += [
        f"| {family} | {' | '.join(cells)} |"
        for family, *cells in zip((*FAMILIES, "all"), *columns.values(), strict=True)
    ]
    return "\n".join(rows)


def columns_of(text: str) -> dict[str, list[str]]:
    """The columns of a table that was written before."""
    lines = [line.strip("|").split("|")[1:] for line in text.splitlines()[2:]]
    return dict(zip(HEADS, ([cell.strip() for cell in one] for one in zip(*lines, strict=True)), strict=True))


def _share(kinds: Counter[str]) -> str:
    return f"{kinds['mended']} of {kinds.total()}" if kinds else ""


def main(frameworks: list[str]) -> None:
    with multiprocessing.get_context("spawn").Pool(2, maxtasksperchild=1) as pool:
        found = dict(zip(frameworks, map(column, pool.imap(outcomes, frameworks))))
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    old, _, rest = rest.partition(END)
    PAGE.write_text(f"{before}{table({**columns_of(BEGIN + old), **found})}{END}{rest}", encoding="utf-8")


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main(sys.argv[1:] or list(HEADS))
