"""The pictures of a report in the machine format; programs that gradients share stand in a table, written once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gradproof.diagnosis.figures import Figures, ModeRow, NodeView, Passage, ProgramView, Slice, StepCurve
from gradproof.render.codec import (
    JSON,
    Codec,
    ReadingPlace,
    WritingState,
    enum,
    list_of,
    map_of,
    named,
    numbered,
    optional,
    pair_of,
    record,
)
from gradproof.render.json_values import COUNT, CURVE, REAL, SPAN, STRING

_SLICE = ("t", "proven_value", "proven_slope", "computed_value", "computed_slope")


def _over_one_axis(curves: object, names: Sequence[str], reading: ReadingPlace) -> None:
    """Curves are over the same places, the first of them, which must ascend."""
    arrays = {name: getattr(curves, name) for name in names}
    along = arrays[names[0]]
    for name, array in arrays.items():
        if array.shape != along.shape:
            raise reading.inside(name).refused(f"has {array.size} numbers, and `{names[0]}` has {along.size}")
    if not (np.isfinite(along).all() and bool((np.diff(along) > 0).all())):
        raise reading.inside(names[0]).refused("must be finite and ascend")


_NODE = named(
    "node",
    record(
        NodeView,
        {
            "id": COUNT,
            "op": STRING,
            "inputs": list_of(COUNT),
            "dtype": STRING,
            "shape": list_of(COUNT),
            "phase": enum(("forward", "backward")),
            "value": STRING,
        },
        {"span": optional(numbered("spans", COUNT)), "name": STRING},
        omit=("span", "name"),
    ),
)
_PARTS = record(
    ProgramView, {"nodes": list_of(_NODE), "omitted": COUNT, "spans": list_of(SPAN)}, take=lambda parts: parts
)


def _write_program(program: ProgramView, writing: WritingState) -> JSON:
    """Many nodes stand at one place: it is written once, and the nodes have its number."""
    own = WritingState(writing.full)
    nodes = [_NODE.write(node, own) for node in program.nodes]
    spans = [SPAN.write(span, own) for span in own.tables.get("spans", {})]
    return {"nodes": nodes, "omitted": program.omitted, "spans": spans}


def _read_program(document: JSON, reading: ReadingPlace) -> ProgramView:
    spans = list_of(SPAN).read(document["spans"], reading.inside("spans"))
    inside = replace(reading.inside("nodes"), tables={"spans": spans})
    nodes = list_of(_NODE).read(document["nodes"], inside)
    if len({node.id for node in nodes}) < len(nodes):
        raise inside.refused("two of them have the same id")
    return ProgramView(nodes, document["omitted"])


PROGRAM = named("program", Codec(_PARTS.schema, _write_program, _read_program, _PARTS.defines))
_SHARE = record(
    lambda node, share: (node, share),
    {"node": COUNT, "share": REAL},
    take=lambda row: {"node": row[0], "share": row[1]},
)

FIGURES = named(
    "figures",
    record(
        lambda guilty, shares, **rest: Figures(guilty=frozenset(guilty), shares=dict(shares), **rest),
        {
            "slice": optional(
                named(
                    "slice",
                    record(
                        Slice,
                        {"direction": STRING, "computed_by": STRING, **dict.fromkeys(_SLICE, CURVE)},
                        check=lambda made, reading: _over_one_axis(made, _SLICE, reading),
                    ),
                )
            ),
            "steps": optional(
                named(
                    "steps",
                    record(
                        StepCurve,
                        {
                            "direction": STRING,
                            "steps": CURVE,
                            "errors": CURVE,
                            "usable": optional(pair_of(REAL)),
                            "usable_to": REAL,
                            "used": optional(REAL),
                        },
                        check=lambda made, reading: _over_one_axis(made, ("steps", "errors"), reading),
                    ),
                )
            ),
            "passages": list_of(
                named("passage", record(Passage, {"span": SPAN, "op": STRING, "sizes": list_of(REAL)}))
            ),
            "modes": list_of(
                named(
                    "mode",
                    record(
                        ModeRow, {"mode": STRING, "dtype": STRING, "value": STRING, "digits": optional(REAL)}
                    ),
                )
            ),
            "program": optional(numbered("programs", COUNT)),
            "guilty": list_of(COUNT),
            "shares": list_of(_SHARE),
            "lacking": map_of(STRING),
        },
        take=lambda figures: {
            **{
                key: getattr(figures, key)
                for key in ("slice", "steps", "passages", "modes", "program", "lacking")
            },
            "guilty": sorted(figures.guilty),
            "shares": figures.shares.items(),
        },
    ),
)
