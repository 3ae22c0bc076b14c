"""A comment at the blamed line accepts a deviation."""

from __future__ import annotations

from pathlib import Path

from tests.cli.running import FAULTY, audited


def test_a_fault_is_accepted_where_its_line_says_so_and_nowhere_else(tmp_path: Path) -> None:
    lines = FAULTY.splitlines()
    found = audited(tmp_path, FAULTY)
    blamed = found["gradients"][0]["causes"][0]["line"] - 1
    lines[blamed] += "  # gradproof: intended"
    accepted = audited(tmp_path, "\n".join(lines))
    assert accepted["gradients"][0]["intended"]
    assert accepted["gradients"][0]["verdict"] == "inaccurate"
    assert accepted["status"] == 0
    elsewhere = audited(tmp_path, FAULTY.replace("import numpy", "# gradproof: intended\nimport numpy"))
    assert not elsewhere["gradients"][0]["intended"]
    assert elsewhere["status"] == 1
