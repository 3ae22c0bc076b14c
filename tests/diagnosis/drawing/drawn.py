"""The pictures of one gradient of a function, as a user would get them."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import gradproof
from gradproof.diagnosis.drawing.drawing import Allowance
from gradproof.diagnosis.figures import Figures


def figures_of(function: Any, *args: Any, source: int = 0, **options: Any) -> Figures:
    # How many points a picture has depends on the time there is for it; here there is enough on any machine.
    with patch.object(Allowance, "left", return_value=60.0):
        figures = gradproof.check(function, *args, **options).gradients[source].figures
    assert figures is not None
    return figures
