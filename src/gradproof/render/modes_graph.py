"""The ops around a parting as a picture: boxes in rows, arrows with the flow of numbers, the op that parts marked."""

from __future__ import annotations

from collections.abc import Sequence

from gradproof.modes.graph import GraphOp
from gradproof.render.html.markup import Html, tag

_WIDTH, _HEIGHT = 132, 36  # of a box
_ACROSS, _DOWN = 150, 62  # from box to box
_MARGIN = 8


def graph_picture(ops: Sequence[GraphOp]) -> Html | None:
    """None where nothing is marked."""
    marked = [op for op in ops if op.is_marked]
    if not marked:
        return None
    places = _places(ops)
    width = max(x for x, _ in places.values()) + _WIDTH + _MARGIN
    height = max(y for _, y in places.values()) + _HEIGHT + _MARGIN
    arrows = [_arrow(places[id], places[op.id]) for op in ops for id in op.inputs]
    boxes = [_box(op, *places[op.id]) for op in ops]
    said = f"the ops around {' and '.join(dict.fromkeys(f'`{op.op}`' for op in marked))}, where modes part"
    picture = tag(
        "svg", *arrows, *boxes,
        viewBox=f"0 0 {width} {height}", width=width, height=height, role="img", aria_label=said,
    )  # fmt: skip
    return tag("div", picture, class_="scroll graph")


def _places(ops: Sequence[GraphOp]) -> dict[int, tuple[int, int]]:
    """The upper left corner of every box: rows from the top, in a row as they were computed."""
    counts: dict[int, int] = {}
    places = {}
    for op in ops:
        column = counts.get(op.row, 0)
        counts[op.row] = column + 1
        places[op.id] = (_MARGIN + column * _ACROSS, _MARGIN + op.row * _DOWN)
    return places


def _arrow(start: tuple[int, int], end: tuple[int, int]) -> Html:
    x1, y1 = start[0] + _WIDTH // 2, start[1] + _HEIGHT
    x2, y2 = end[0] + _WIDTH // 2, end[1]
    bend = (y1 + y2) // 2
    return tag("path", d=f"M {x1} {y1} C {x1} {bend}, {x2} {bend}, {x2} {y2}", class_="arrow")


def _box(op: GraphOp, x: int, y: int) -> Html:
    where = "" if op.line is None else f"line {op.line}"
    note = ", ".join(part for part in (where, "backward" if op.phase == "backward" else "") if part)
    middle = x + _WIDTH // 2
    return tag(
        "g",
        tag("rect", x=x, y=y, width=_WIDTH, height=_HEIGHT, rx=5),
        tag("text", op.op, x=middle, y=y + (15 if note else 22), text_anchor="middle"),
        tag("text", note, x=middle, y=y + 29, text_anchor="middle", class_="where") if note else None,
        class_="op marked" if op.is_marked else "op",
    )
