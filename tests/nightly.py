"""The mark of what is too large for every change: run with `GRADPROOF_NIGHTLY=1 python -m pytest -m nightly`."""

from __future__ import annotations

import os

import pytest

NIGHTLY = (
    pytest.mark.nightly,
    pytest.mark.skipif("GRADPROOF_NIGHTLY" not in os.environ, reason="the nightly size takes many minutes"),
)
# The small size of a test in every run, the large one nightly: for a parameter that says whether it is the large one.
SMALL_AND_LARGE = [pytest.param(False, id="small"), pytest.param(True, id="large", marks=NIGHTLY)]
