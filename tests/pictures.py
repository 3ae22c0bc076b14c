"""Leaves the pictures of a report out: they run a program again in every mode, and most tests look at none of them.

As a script it is `gradproof` without them: `python tests/pictures.py run --json report.json script.py`.
"""

from __future__ import annotations

import sys

import pytest


def leave_out(patch: pytest.MonkeyPatch) -> None:
    from gradproof.audit import draw
    from gradproof.diagnosis.figures import Figures

    patch.setattr(draw, "draw", lambda sketch, seconds: Figures())


if __name__ == "__main__":
    from gradproof.cli.main import main

    leave_out(pytest.MonkeyPatch())
    sys.exit(main(sys.argv[1:]))
