"""The part of the published schema that describes the pictures."""

from __future__ import annotations

from gradproof.render.schema_parts import (
    COUNT,
    STRING,
    Schema,
    fields,
    list_of,
    map_of,
    optional,
    pair_of,
    ref,
)


def figure_definitions() -> Schema:
    """Programs stand in a table of their own, since gradients share them; so do the places in a program."""
    curve = list_of(ref("real"))
    return {
        "figures": _figures(),
        "slice": fields(
            {
                "direction": STRING,
                "computed_by": STRING,
                "t": curve,
                "proven_value": curve,
                "proven_slope": curve,
                "computed_value": curve,
                "computed_slope": curve,
            }
        ),
        "steps": fields(
            {
                "direction": STRING,
                "steps": curve,
                "errors": curve,
                "usable": optional(pair_of(ref("real"))),
                "usable_to": ref("real"),
                "used": optional(ref("real")),
            }
        ),
        "passage": fields({"span": ref("span"), "op": STRING, "sizes": curve}),
        "mode": fields({"mode": STRING, "dtype": STRING, "value": STRING, "digits": optional(ref("real"))}),
        "program": fields({"nodes": list_of(ref("node")), "omitted": COUNT, "spans": list_of(ref("span"))}),
        "node": _node(),
    }


def _figures() -> Schema:
    return fields(
        {
            "slice": optional(ref("slice")),
            "steps": optional(ref("steps")),
            "passages": list_of(ref("passage")),
            "modes": list_of(ref("mode")),
            "program": optional(COUNT),
            "guilty": list_of(COUNT),
            "shares": list_of(fields({"node": COUNT, "share": ref("real")})),
            "lacking": map_of(STRING),
        }
    )


def _node() -> Schema:
    return fields(
        {
            "id": COUNT,
            "op": STRING,
            "inputs": list_of(COUNT),
            "dtype": STRING,
            "shape": list_of(COUNT),
            "phase": {"enum": ["forward", "backward"]},
            "value": STRING,
        },
        {"span": optional(COUNT), "name": STRING},
    )
