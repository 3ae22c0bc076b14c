"""Lines of programs that were traced: code that PyTorch has written from a graph stands for the lines it came from."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from linecache import getline
from types import FrameType
from typing import Any

from torch.fx import Interpreter

from gradproof.frontends.record.source import WRITTEN_FROM_A_GRAPH, Place, is_users, place_at, user_places

_FRAME = re.compile(
    r'  File "(?P<file>.+)", line (?P<line>\d+), in (?P<function>.+)\n(?:    .*\n)?(?:    (?P<marks> *\^+))?'
)
_STEP = Interpreter.run_node.__code__  # runs one node of a graph that no code was written from


def places_of(frame: FrameType | None) -> tuple[Place, ...]:
    """The user's frames, innermost first; inside of code written from a graph, also where its node was traced."""
    return (*_traced(frame), *user_places(frame))


def _traced(frame: FrameType | None) -> tuple[Place, ...]:
    while frame is not None and not is_users(frame.f_code.co_filename):
        if frame.f_code.co_filename.startswith(WRITTEN_FROM_A_GRAPH):
            return _places(_history(frame.f_locals.get("self"), frame.f_lineno))
        if frame.f_code is _STEP:
            return _places(frame.f_locals["n"].stack_trace or "")
        frame = frame.f_back
    return ()


def _history(module: Any, line: int) -> str:
    """The stack that the node behind a line of written code was traced in; empty where it is not known."""
    nodes = getattr(module, "_lineno_map", None) or {}
    k = nodes.get(line - (getattr(module, "_prologue_start", None) or 0))
    known = [] if k is None else list(module.graph.nodes)[k : k + 1]
    return (known[0].stack_trace or "") if known else ""


def functions_in(history: str) -> list[str]:
    """The functions of the user's in a printed stack, the outermost first."""
    return [frame["function"] for frame in _FRAME.finditer(history) if is_users(frame["file"])]


@lru_cache(maxsize=4096)
def _places(history: str) -> tuple[Place, ...]:
    """From a printed stack, which has its innermost frame last."""
    found = []
    for frame in _FRAME.finditer(history):
        file, line, marks = frame["file"], int(frame["line"]), frame["marks"]
        text = getline(file, line).rstrip()
        first = len(text) - len(text.lstrip())
        columns = (first, len(text))
        if marks:  # they stand under the line as it is printed, without what it is indented by
            columns = (first + marks.index("^"), first + len(marks))
        if is_users(file):
            found.append(place_at(file, line, columns, frame["function"]))
    return tuple(reversed(found))


_ROOMS = (
    "_ops.py",
    "_python_dispatch.py",
    "_tensor.py",
    "_contextlib.py",
)  # of PyTorch, that every op passes through


def library_of(frame: Any) -> str | None:
    """The package whose function ran an op; None for the user's own."""
    while frame is not None:
        file = frame.f_code.co_filename
        if is_users(file):
            return None
        if not file.endswith(_ROOMS) and f"{os.sep}gradproof{os.sep}" not in file:
            return str(frame.f_globals.get("__name__", "torch")).partition(".")[0]
        frame = frame.f_back
    return None
