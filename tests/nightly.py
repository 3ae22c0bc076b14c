"""The small size of a test for every change, and the large one for the night."""

from __future__ import annotations

import pytest

# For a parameter that says whether it is the large one.
SMALL_AND_LARGE = [pytest.param(False, id="small"), pytest.param(True, id="large", marks=pytest.mark.nightly)]
