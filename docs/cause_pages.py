"""Writes one page per cause: its docstring, a program that has the fault, and the report of a real run of it.

The programs and reports are those of the tests (`tests/causes/cases`), which fail when a report changes.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from gradproof.causes import causes
from gradproof.diagnosis.cause import Cause

CASES = Path(__file__).parent.parent / "tests" / "causes" / "cases"
_MARKER = re.compile(r" *#~ [a-z, -]+$", re.MULTILINE)
_CODE = ("Example", "Write instead")

# The order in which the overview has them; a cause of no family comes last.
FAMILIES = {
    "Rounding": "cancellation absorption overflow underflow ill-conditioned low-precision accumulation",
    "Not differentiable here": "kink jump singular-point discrete-op",
    "Not finite": "masked-branch invalid-domain",
    "A wrong rule": "custom-gradient framework-rule straight-through",
    "No gradient": "not-watched outside-tape left-framework stop-gradient integer-dtype reassigned-variable "
    "no-gradient-registered not-connected",
    "State": "impure graph-grows baked-constant stale-accumulation",
    "Shape": "silent-broadcast",
    "Execution": "execution-mode branch-flip",
    "Scale": "exploding vanishing",
    "The check itself": "step-size tolerance",
}


def write(folder: Path) -> None:
    """All pages anew, and the overview that lists them."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    known = {cause.name: cause for cause in causes()}
    (folder / "index.md").write_text("\n".join(_overview(known)), encoding="utf-8")
    for cause in known.values():
        (folder / f"{cause.name}.md").write_text("\n".join(_page(cause)), encoding="utf-8")


def _overview(known: dict[str, Cause]) -> Iterator[str]:
    yield "# The causes\n"
    yield "What is reported is named for the fault. Each page says what the cause is, shows a program that has it"
    yield "with the real report, and says when it stays silent. `gradproof explain CAUSE` prints the same text.\n"
    families = {family: names.split() for family, names in FAMILIES.items()}
    listed = {name for names in families.values() for name in names}
    families["Others"] = sorted(set(known) - listed)
    for family, names in families.items():
        if names:
            yield f"## {family}\n\n| cause | what it is |\n|---|---|"
            yield from (f"| [{name}]({name}.md) | {known[name].documentation.title} |" for name in names)
            yield ""
    yield "```{toctree}\n:hidden:\n"
    yield from (name for names in families.values() for name in names)
    yield "```\n"


def _page(cause: Cause) -> Iterator[str]:
    yield f"# {cause.name}\n\n{cause.documentation.title}\n"
    for heading, text in cause.documentation.sections:
        yield f"## {heading}\n"
        if heading in _CODE:
            # Often a fragment, in which names stand for what a reader has: coloured without complaint.
            yield f"```{{code-block}} python\n:force:\n\n{text}\n```\n"
        else:
            yield f"{_prose(text)}\n"
    yield from _real_run(CASES / cause.name.replace("-", "_"))


def _prose(text: str) -> str:
    """Alternatives, which end with `; or`, as a list."""
    parts = [part.strip() for part in re.split(r"; or\n", text)]
    return text if len(parts) == 1 else "\n".join("- " + part.replace("\n", "\n  ") for part in parts)


def _real_run(folder: Path) -> Iterator[str]:
    # A report with a change that was run shows the most.
    script = min(folder.glob("guilty_*.py"), key=lambda path: (not _has_checked_fix(path), path.name))
    yield "## A real run\n\nA program that has the fault:\n"
    yield f"```python\n{_plain(script)}\n```\n"
    yield f"What `gradproof run {script.name}` says about it:\n"
    yield f"```text\n{_plain(script.with_suffix('.txt'))}\n```\n"


def _has_checked_fix(script: Path) -> bool:
    return "\n  checked: " in script.with_suffix(".txt").read_text(encoding="utf-8")


def _plain(path: Path) -> str:
    """Without the comments that tell the tests which line is to blame."""
    return _MARKER.sub("", path.read_text(encoding="utf-8")).strip("\n")
