"""The documentation is true: its examples print what it shows, the site builds, and no link is dead."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest

from gradproof.causes import causes
from gradproof.render.symptoms import SYMPTOMS
from tests.documents import ROOT, blocks, compare, with_real_output

DOCS = ROOT / "docs"
# The pages on causes are made when the site is built; the reports on them are the snapshots of the tests.
MADE = ("causes", "gallery")
PAGES = sorted(path for path in DOCS.rglob("*.md") if path.parent.name not in MADE)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(DOCS)))
def test_a_page_shows_what_its_examples_print(page: Path) -> None:
    compare(page)


def test_a_false_output_is_noticed() -> None:
    page = "```python\nprint(6 * 7)\n```\n\n```text\n41\n```\n\n```console\n$ echo yes\nno\n$ false\n$ echo $?\n```\n"
    assert [block.text for block in blocks(with_real_output(page))[1:]] == [
        "42\n",
        "$ echo yes\nyes\n$ false\n$ echo $?\n1\n",
    ]


def test_an_output_that_is_not_shown_is_noticed() -> None:
    with pytest.raises(AssertionError, match="no `text` block follows"):
        with_real_output("```python\nprint(6 * 7)\n```\n\nSome words.\n\n```text\n42\n```\n")


ONE_OF_EACH = ("first", "masked_log", "self_distance", "frozen")  # frameworks; an example costs a process


@pytest.mark.parametrize("examples", [ONE_OF_EACH, pytest.param((), marks=pytest.mark.nightly, id="all")])
def test_the_site_builds_without_a_warning_and_has_a_page_per_cause(
    examples: Sequence[str], tmp_path: Path
) -> None:
    pytest.importorskip("sphinx", reason="Sphinx is not installed")
    command = [sys.executable, "-m", "sphinx", "-W", "-n", "-q", str(DOCS), str(tmp_path / "site")]
    command += ["-D", f"gallery_shown={','.join(examples)}"] if examples else []
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    made = {path.stem for path in (tmp_path / "site" / "causes").glob("*.html")}
    assert made == {"index", *(cause.name for cause in causes())}
    shown = {path.stem: path for path in (tmp_path / "site" / "gallery" / "reports").glob("*.html")}
    assert "first" in shown
    assert ("kink" in shown) is not bool(examples)
    for name, framework in (("masked_log", "tensorflow"), ("self_distance", "torch"), ("frozen", "jax")):
        assert (name in shown) is (find_spec(framework) is not None)
    assert "fix this first" in shown["first"].read_text(encoding="utf-8").lower()
    for page in (tmp_path / "site").rglob("*.html"):
        _check_links(page)


def _check_links(page: Path) -> None:
    """What a page loads and where it points within the site is there; it loads nothing from elsewhere."""
    text = page.read_text(encoding="utf-8")
    for name, address in re.findall(r'<(?:link|script|img)[^>]*\b(href|src)="([^"]*)"', text):
        assert not re.match(r"(https?:)?//", address), f"{page.name} loads {name}={address}"
    for address in re.findall(r'<a [^>]*href="([^"#?]*)', text):
        if address and not re.match(r"\w+:", address):
            assert (page.parent / address).exists(), f"{page.name} points to {address}"


def test_the_first_page_begins_with_the_symptoms_and_links_all_their_causes() -> None:
    page = (DOCS / "index.md").read_text(encoding="utf-8")
    begin, end = page.index("## Which symptom"), page.index("## Where to go")
    assert begin < end
    for symptom in SYMPTOMS:
        if symptom.causes:
            [row] = [
                line for line in page[begin:end].splitlines() if f"gradproof explain {symptom.name}`" in line
            ]
            assert symptom.title in row
            assert re.findall(r"\[([a-z-]+)\]\(causes/\1\.md\)", row) == list(symptom.causes)
