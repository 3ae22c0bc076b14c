"""A comment at the blamed line accepts a deviation."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import FAULTY, audited


@pytest.mark.parametrize(
    ("comment", "is_accepted"),
    [
        ("# gradproof: ignore[cancellation]", True),
        ("# gradproof: ignore[kink, cancellation]", True),
        ("#gradproof:ignore[inaccurate]", True),
        ("# gradproof: ignore", True),
        ("# gradproof: ignore[kink]", False),
        ("# gradproof: ignored", False),
    ],
)
def test_a_comment_ignores_what_it_names_at_its_line(comment: str, is_accepted: bool, tmp_path: Path) -> None:
    line = "    loss = (y - np.float32(1e10)) ** 2"
    found = audited(tmp_path, FAULTY.replace(line, f"{line}  {comment}"))
    assert found["gradients"][0]["intended"] is is_accepted
    assert found["status"] == (0 if is_accepted else 1)


def test_a_comment_that_names_no_cause_is_told(tmp_path: Path) -> None:
    found = audited(tmp_path, FAULTY + "# gradproof: ignore[cancelation]\n")
    assert found["status"] == 1
    said = found["stderr"].replace("\n  ", " ")
    assert "note: script.py:9 ignores `cancelation`, which is no cause" in said
    assert "did you mean `cancellation`?" in said


def test_an_accepted_zero_is_not_held_against_whoever_accepted_it(tmp_path: Path) -> None:
    script = (
        "import numpy as np, gradproof as gp\nx = gp.Variable(0.0, name='x')\nwith gp.GradientTape() as tape:\n"
        "    y = np.abs(x)  # gradproof: ignore[kink]\ntape.gradient(y, x)\n"
    )
    assert "gradproof: 1 gradient intended; nothing to fix\n" in audited(tmp_path, script)["stderr"]


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
