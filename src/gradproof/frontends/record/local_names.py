"""The names of a frame that is still running, read so that nothing they hold lives longer for it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from inspect import CO_OPTIMIZED
from types import FrameType
from typing import Any

_HOLDERS = 3  # the frame, the name here, and the argument of `getrefcount`


def local_names(frame: FrameType) -> Mapping[str, Any]:
    """What `f_locals` says.

    Before Python 3.13 a function's frame keeps what it once said, and with it every object that had a name. It is
    emptied, unless somebody else holds it, such as a program that called `locals()`.
    """
    said, code = frame.f_locals, frame.f_code
    if not code.co_flags & CO_OPTIMIZED or type(said) is not dict:
        return said
    names = dict(said)
    if sys.getrefcount(said) <= _HOLDERS:
        for name in (*code.co_varnames, *code.co_cellvars, *code.co_freevars):
            said.pop(name, None)
    return names
