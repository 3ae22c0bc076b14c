"""The pictures of one gradient of a function, as a user would get them."""

from __future__ import annotations

from typing import Any

import gradproof
from gradproof.diagnosis.figures import Figures


def figures_of(function: Any, *args: Any, source: int = 0, **options: Any) -> Figures:
    figures = gradproof.check(function, *args, **options).gradients[source].figures
    assert figures is not None
    return figures
