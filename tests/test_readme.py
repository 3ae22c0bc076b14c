"""What the README promises is what happens."""

from __future__ import annotations

import re

from tests.documents import ROOT, blocks, compare

PATH = ROOT / "README.md"
README = PATH.read_text(encoding="utf-8")


def test_the_gate_runs_the_test_command_word_for_word() -> None:
    plain = [block.text.strip() for block in blocks(README) if not block.language]
    (command,) = [text for text in plain if ".[test]" in text]
    assert command in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_the_examples_print_what_the_readme_shows() -> None:
    compare(PATH)


def test_links_within_the_repository_lead_somewhere() -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#\s]+)", README):
        assert (ROOT / target).exists(), target
