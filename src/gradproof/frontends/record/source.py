"""Which frames are the user's, where exactly they stand, and what the user calls things."""

from __future__ import annotations

import ast
import os
import sys
import sysconfig
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from types import CodeType, FrameType, TracebackType
from typing import Any

from gradproof.ir.launcher import is_launcher
from gradproof.ir.span import Span
from gradproof.ir.syntax import tree_of

Place = tuple[CodeType, int]
"""A code object and an offset into its bytecode: all that must be kept to find the source later."""

MAX_STACK = 32  # deeper recursion of the user adds nothing to a report
_OWN_FOLDER = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep
_LIBRARY_MARKS = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
_STDLIB_FOLDERS = tuple(
    {os.path.realpath(sysconfig.get_paths()[key]) + os.sep for key in ("stdlib", "platstdlib")}
    | {sysconfig.get_paths()[key] + os.sep for key in ("stdlib", "platstdlib")}
)
AUTOGRAPH_MARK = "__autograph_generated_file"
WRITTEN_FROM_A_GRAPH = "<eval_with_key>"  # files of code that was written from a traced program
_REPLICA, _REPLICA_FILE = (
    "ReplicaThread",
    "mirrored_run.py",
)  # a strategy runs each replica in a thread of its own


@lru_cache(maxsize=4096)
def is_users(filename: str) -> bool:
    """Whether a file is the user's own: neither a library, nor Python's, nor ours."""
    if (
        filename.startswith(("<frozen", WRITTEN_FROM_A_GRAPH))
        or filename == "<string>"
        or filename == "<__array_function__ internals>"
    ):
        return False
    if is_ours(filename) or filename.startswith(_STDLIB_FOLDERS) or is_launcher(filename):
        return False
    return not any(mark in filename for mark in _LIBRARY_MARKS)


def is_ours(filename: str) -> bool:
    """Whether a file is one of gradproof itself."""
    return filename.startswith(_OWN_FOLDER)


def user_places(frame: FrameType | None) -> tuple[Place, ...]:
    """The user's frames, innermost first."""
    return _places_in(frame) or _places_of_starter()


def _places_in(frame: FrameType | None) -> tuple[Place, ...]:
    places: list[Place] = []
    while frame is not None and len(places) < MAX_STACK:
        code = frame.f_code
        if is_users(code.co_filename):
            places.append((code, frame.f_lasti))
        frame = frame.f_back
    return tuple(places)


def _places_of_starter() -> tuple[Place, ...]:
    """The user's frames of the thread that waits for this one, where this one is a replica of a strategy."""
    if _REPLICA not in type(threading.current_thread()).__name__:
        return ()
    waiting = (_places_in(frame) for frame in sys._current_frames().values() if _is_of_a_strategy(frame))
    return next((places for places in waiting if places), ())  # another replica has no frame of the user's


def _is_of_a_strategy(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.endswith(_REPLICA_FILE):
            return True
        frame = frame.f_back
    return False


def place_at(file: str, line: int, columns: tuple[int, int], function: str) -> Place:
    """A place of which only its numbers are known, as from a printed stack."""
    first, end = columns
    name = ast.Name("x", ast.Load(), lineno=line, col_offset=first, end_lineno=line, end_col_offset=end)
    code: CodeType = compile(ast.Expression(name), file, "eval")
    return code.replace(co_name=function, co_qualname=function), 2  # the first instruction only begins


def first_user_frame(frame: FrameType | None) -> FrameType | None:
    while frame is not None and not is_users(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def span_of(place: Place) -> Span:
    """The expression that was being evaluated at a place."""
    code, offset = place
    # With the file in the key: code objects of two files are equal to Python if their text is.
    return _span(code.co_filename, code, offset)


@lru_cache(maxsize=65536)
def _span(file: str, code: CodeType, offset: int) -> Span:
    position = next(islice(code.co_positions(), offset // 2, None), (None, None, None, None))
    line, end_line, column, end_column = position
    if line is None:
        line = code.co_firstlineno
    return Span(file, line, column, end_line, end_column, _qualified(code))


def spans_of(places: Iterable[Place]) -> tuple[Span, ...]:
    return tuple(span_of(place) for place in places)


def _qualified(code: CodeType) -> str:
    return getattr(code, "co_qualname", code.co_name)


@lru_cache(maxsize=4096)
def call_at(span: Span) -> ast.Call | None:
    """The call expression that a span covers; on a span without columns, the only call of the line."""
    tree = tree_of(span.file)
    if tree is None:
        return None
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.lineno == span.line]
    if span.column is None:
        return calls[0] if len(calls) == 1 else None
    wanted = (span.column, span.end_line, span.end_column)
    exact = [node for node in calls if (node.col_offset, node.end_lineno, node.end_col_offset) == wanted]
    return exact[0] if exact else None


def with_span(places: Sequence[Place]) -> Span | None:
    """The expression after `with`: Python itself places the entering of a block at the whole block."""
    return _with_item(span_of(places[0])) if places else None


@lru_cache(maxsize=4096)
def _with_item(span: Span) -> Span:
    tree = tree_of(span.file)
    for node in () if tree is None else ast.walk(tree):
        if isinstance(node, ast.With) and (node.lineno, node.col_offset) == (span.line, span.column):
            item = node.items[0].context_expr
            place = (item.lineno, item.col_offset, item.end_lineno, item.end_col_offset)
            return Span(span.file, *place, span.function)
    return span


def argument(call: ast.Call | None, position: int, keyword: str) -> ast.expr | None:
    """The expression given for a parameter, by position or by name."""
    if call is None:
        return None
    for given in call.keywords:
        if given.arg == keyword:
            return given.value
    before = call.args[: position + 1]
    if len(before) > position and not any(isinstance(node, ast.Starred) for node in before):
        return before[position]
    return None


def names_of(node: ast.expr | None, structure: Any, default: str) -> list[str]:
    """One name per leaf of a nested structure, as the user's source spells it."""
    return list(_names(node, structure, default))


def _names(node: ast.expr | None, structure: Any, text: str) -> Iterator[str]:
    if node is not None:
        text = ast.unparse(node)
    if isinstance(structure, Mapping):
        spelled = _dict_items(node)
        for key in _ordered_keys(structure):
            yield from _names(spelled.get(key), structure[key], f"{text}[{key!r}]")
    elif isinstance(structure, list | tuple):
        items = _sequence_items(node, len(structure))
        fields = [f".{name}" for name in getattr(structure, "_fields", ())]  # of a named tuple
        places = fields or [f"[{i}]" for i in range(len(structure))]
        own = [None if item is not None else own_name(part) for item, part in zip(items, structure)]
        for item, place, part, name in zip(items, places, structure, own):
            indexed = (text if _binds(node) else f"({text})") + place
            yield from _names(item, part, indexed if name is None or own.count(name) > 1 else name)
    else:
        yield text


def own_name(leaf: Any) -> str | None:
    """The name that a variable itself has, unless TensorFlow made it up."""
    if not hasattr(type(leaf), "handle"):
        return None
    name = getattr(leaf, "path", None) or str(leaf.name).removesuffix(":0")
    return None if name.startswith("Variable") else name


def _is_simple(node: ast.expr | None) -> bool:
    """Whether an index behind the expression is something a reader can look up: `weights[0]`, `net.weights[0]`."""
    return node is None or isinstance(node, ast.Name | ast.Attribute | ast.Subscript)


def _binds(node: ast.expr | None) -> bool:
    """Whether an index behind the expression is an index into its value."""
    return _is_simple(node) or isinstance(node, ast.Call | ast.List | ast.Tuple | ast.ListComp)


def _sequence_items(node: ast.expr | None, n_items: int) -> list[ast.expr | None]:
    if isinstance(node, ast.List | ast.Tuple) and len(node.elts) == n_items:
        starred = any(isinstance(item, ast.Starred) for item in node.elts)
        return [None] * n_items if starred else list(node.elts)
    return [None] * n_items


def _dict_items(node: ast.expr | None) -> dict[object, ast.expr]:
    if not isinstance(node, ast.Dict):
        return {}
    return {key.value: value for key, value in zip(node.keys, node.values) if isinstance(key, ast.Constant)}


def _ordered_keys(structure: Mapping[Any, Any]) -> list[Any]:
    """TensorFlow flattens a mapping in the order of its sorted keys."""
    try:
        return sorted(structure)
    except TypeError:
        return list(structure)


def users_place(trace: TracebackType | None) -> Place | None:
    """The innermost place in the user's code that an exception has passed."""
    found = None
    while trace is not None:
        if is_users(trace.tb_frame.f_code.co_filename):
            found = (trace.tb_frame.f_code, trace.tb_lasti)
        trace = trace.tb_next
    return found


def short_name(function: str) -> str:
    """`__inference_energy_12` and `__inference___backward_energy_30_41` are both `energy` to the user."""
    name = function
    for mark in ("__inference_", "__forward_", "__backward_"):
        shorter = name.removeprefix(mark)
        if shorter != name:
            head, _, tail = shorter.rpartition("_")  # every mark comes with a number at the end
            name = head if tail.isdecimal() and head else shorter
    return name
