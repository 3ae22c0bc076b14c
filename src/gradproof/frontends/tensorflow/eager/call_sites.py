"""Places that ask for gradients: whose they are, and which of them are one."""

from __future__ import annotations

import os
from functools import lru_cache
from types import FrameType
from typing import Any

from gradproof.frontends.record.source import first_user_frame

_INTERNAL_FILES = ("ops/custom_gradient.py", "ops/script_ops.py", "python/eager/", "ops/parallel_for/")
"""Tapes opened here serve TensorFlow itself: they are part of some gradient call, not one of the user's."""


def call_site(frame: FrameType) -> tuple[Any, ...]:
    """A call in a library (`minimize`) is another one for each place of the program that leads to it."""
    user = first_user_frame(frame)
    own = (frame.f_code, frame.f_lasti)
    return own if user is None or user is frame else (*own, user.f_code, user.f_lasti)


@lru_cache(maxsize=4096)
def is_internal(filename: str) -> bool:
    return any(part in filename.replace(os.sep, "/") for part in _INTERNAL_FILES)
