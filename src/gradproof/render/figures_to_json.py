"""The pictures of a report in the machine format; programs that gradients share are written once."""

from __future__ import annotations

from typing import Any

from gradproof.diagnosis.figures import Figures, NodeView, Passage, ProgramView, Slice, StepCurve
from gradproof.ir.span import Span
from gradproof.render.json_values import array_document, number_document, optional_document, span_document

JSON = Any


class ProgramTable:
    """The programs met so far, each with its place in the table."""

    def __init__(self) -> None:
        self._places: dict[ProgramView, int] = {}

    def place_of(self, program: ProgramView) -> int:
        return self._places.setdefault(program, len(self._places))

    def documents(self) -> list[JSON]:
        return [_program(program) for program in self._places]


def figures_document(figures: Figures, programs: ProgramTable) -> dict[str, JSON]:
    """The pictures of one gradient; its program by the place in the table."""
    return {
        "slice": figures.slice and _slice(figures.slice),
        "steps": figures.steps and _steps(figures.steps),
        "passages": [_passage(passage) for passage in figures.passages],
        "modes": [
            {
                "mode": row.mode,
                "dtype": row.dtype,
                "value": row.value,
                "digits": optional_document(row.digits),
            }
            for row in figures.modes
        ],
        "program": None if figures.program is None else programs.place_of(figures.program),
        "guilty": sorted(figures.guilty),
        "shares": [{"node": id, "share": number_document(share)} for id, share in figures.shares.items()],
        "lacking": dict(figures.lacking),
    }


def _slice(slice: Slice) -> dict[str, JSON]:
    return {
        "direction": slice.direction,
        "computed_by": slice.computed_by,
        "t": array_document(slice.t),
        "proven_value": array_document(slice.proven_value),
        "proven_slope": array_document(slice.proven_slope),
        "computed_value": array_document(slice.computed_value),
        "computed_slope": array_document(slice.computed_slope),
    }


def _steps(curve: StepCurve) -> dict[str, JSON]:
    return {
        "direction": curve.direction,
        "steps": array_document(curve.steps),
        "errors": array_document(curve.errors),
        "usable": curve.usable and [number_document(bound) for bound in curve.usable],
        "usable_to": number_document(curve.usable_to),
        "used": optional_document(curve.used),
    }


def _passage(passage: Passage) -> dict[str, JSON]:
    sizes = [number_document(size) for size in passage.sizes]
    return {"span": span_document(passage.span), "op": passage.op, "sizes": sizes}


def _program(program: ProgramView) -> dict[str, JSON]:
    """Many nodes stand at one place: it is written once, and the nodes have its number."""
    places: dict[Span, int] = {}
    nodes = [_node(node, places) for node in program.nodes]
    return {"nodes": nodes, "omitted": program.omitted, "spans": [span_document(span) for span in places]}


def _node(node: NodeView, places: dict[Span, int]) -> dict[str, JSON]:
    document: dict[str, JSON] = {
        "id": node.id,
        "op": node.op,
        "inputs": list(node.inputs),
        "dtype": node.dtype,
        "shape": list(node.shape),
        "phase": node.phase,
        "value": node.value,
    }
    if node.span is not None:
        document["span"] = places.setdefault(node.span, len(places))
    return {**document, "name": node.name} if node.name else document
