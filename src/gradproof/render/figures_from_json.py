"""The pictures of a report read back from the machine format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradproof.diagnosis.figures import Figures, ModeRow, NodeView, Passage, ProgramView, Slice, StepCurve
from gradproof.errors import UnreadableReport
from gradproof.ir.span import Span
from gradproof.render.json_values import number_of, optional_of, span_of

JSON = Any


def programs_of(documents: Sequence[JSON]) -> list[ProgramView]:
    """The table of programs."""
    return [_program(document, f"programs[{k}]") for k, document in enumerate(documents)]


def figures_of(document: JSON, programs: Sequence[ProgramView], place: str) -> Figures:
    """The pictures of one gradient, whose program is one of the table."""
    number, slice, steps = document["program"], document["slice"], document["steps"]
    if number is not None and number >= len(programs):
        raise _refused(
            f"{place}.program: there are {len(programs)} programs, and none has the number {number}"
        )
    return Figures(
        slice=None if slice is None else _slice(slice, f"{place}.slice"),
        steps=None if steps is None else _steps(steps, f"{place}.steps"),
        passages=tuple(
            Passage(span_of(each["span"]), each["op"], tuple(map(number_of, each["sizes"])))
            for each in document["passages"]
        ),
        modes=tuple(
            ModeRow(each["mode"], each["dtype"], each["value"], optional_of(each["digits"]))
            for each in document["modes"]
        ),
        program=None if number is None else programs[number],
        guilty=frozenset(document["guilty"]),
        shares={each["node"]: number_of(each["share"]) for each in document["shares"]},
        lacking=dict(document["lacking"]),
    )


def _slice(document: JSON, place: str) -> Slice:
    names = ("t", "proven_value", "proven_slope", "computed_value", "computed_slope")
    return Slice(document["direction"], document["computed_by"], **_curves(document, names, place))


def _steps(document: JSON, place: str) -> StepCurve:
    usable = document["usable"]
    return StepCurve(
        direction=document["direction"],
        **_curves(document, ("steps", "errors"), place),
        usable=None if usable is None else (number_of(usable[0]), number_of(usable[1])),
        usable_to=number_of(document["usable_to"]),
        used=optional_of(document["used"]),
    )


def _curves(document: JSON, names: Sequence[str], place: str) -> dict[str, Any]:
    """Curves over the same places, the first of them, which must ascend."""
    arrays = {name: np.array([number_of(each) for each in document[name]], np.float64) for name in names}
    along = arrays[names[0]]
    for name, array in arrays.items():
        if array.shape != along.shape:
            raise _refused(f"{place}.{name}: has {array.size} numbers, and `{names[0]}` has {along.size}")
    if not (np.isfinite(along).all() and bool((np.diff(along) > 0).all())):
        raise _refused(f"{place}.{names[0]}: must be finite and ascend")
    return arrays


def _program(document: JSON, place: str) -> ProgramView:
    spans = [span_of(each) for each in document["spans"]]
    nodes = tuple(_node(each, spans, f"{place}.nodes[{k}]") for k, each in enumerate(document["nodes"]))
    if len({node.id for node in nodes}) < len(nodes):
        raise _refused(f"{place}.nodes: two of them have the same id")
    return ProgramView(nodes, document["omitted"])


def _node(document: JSON, spans: Sequence[Span], place: str) -> NodeView:
    span = document.get("span")
    if span is not None and span >= len(spans):
        raise _refused(f"{place}.span: there are {len(spans)} spans, and none has the number {span}")
    return NodeView(
        id=document["id"],
        op=document["op"],
        inputs=tuple(document["inputs"]),
        dtype=document["dtype"],
        shape=tuple(document["shape"]),
        phase=document["phase"],
        value=document["value"],
        span=None if span is None else spans[span],
        name=document.get("name", ""),
    )


def _refused(complaint: str) -> UnreadableReport:
    return UnreadableReport(f"not a gradproof report: {complaint}")
