"""A program as plain JSON data and back, bit for bit."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, cast

import numpy as np

from gradproof.errors import InvalidProgram
from gradproof.ir import types
from gradproof.ir.program import Node, Phase, Program
from gradproof.ir.span import Span
from gradproof.ir.verify import verify

FORMAT = 1


def to_data(program: Program) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "nodes": [_node_data(node) for node in program.nodes],
        "inputs": list(program.inputs),
        "outputs": list(program.outputs),
        "names": {str(id): name for id, name in program.names.items()},
    }


def from_data(data: Mapping[str, Any]) -> Program:
    """The program, verified; anything that is not one is refused by `InvalidProgram`."""
    if not isinstance(data, Mapping) or data.get("format") != FORMAT:
        raise InvalidProgram(f"not a program of format {FORMAT}")
    try:
        nodes = tuple(_node(entry) for entry in data["nodes"])
        names = {int(id): str(name) for id, name in data["names"].items()}
        program = Program(nodes, _integers(data["inputs"]), _integers(data["outputs"]), names)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidProgram(f"damaged program data: {error!r}") from error
    verify(program)
    return program


def _node_data(node: Node) -> dict[str, Any]:
    return {
        "id": node.id,
        "op": node.op,
        "inputs": list(node.inputs),
        "dtype": node.dtype,
        "shape": list(node.shape),
        "params": {name: _param_data(value) for name, value in node.params.items()},
        "span": asdict(node.span) if node.span else None,
        "value": _value_data(node.value),
        "phase": node.phase,
        "scope": node.scope,
    }


def _node(entry: Mapping[str, Any]) -> Node:
    return Node(
        id=int(entry["id"]),
        op=str(entry["op"]),
        inputs=_integers(entry["inputs"]),
        dtype=str(entry["dtype"]),
        shape=_integers(entry["shape"]),
        params={name: _param(value) for name, value in entry["params"].items()},
        span=Span(**entry["span"]) if entry["span"] else None,
        value=_value(entry["value"]),
        phase=_phase(entry["phase"]),
        scope=None if entry["scope"] is None else int(entry["scope"]),
    )


def _integers(entries: Any) -> tuple[int, ...]:
    if isinstance(entries, str):
        raise TypeError(f"a list of integers was expected, not {entries!r}")
    return tuple(int(entry) for entry in entries)


def _phase(name: Any) -> Phase:
    if name == "forward" or name == "backward":
        return cast(Phase, name)
    raise ValueError(f"{name!r} is not a phase")


def _param_data(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_param_data(item) for item in value]
    if isinstance(value, complex):
        return {"complex": [value.real, value.imag]}
    return value.item() if isinstance(value, np.generic) else value


def _param(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_param(item) for item in value)
    return complex(*value["complex"]) if isinstance(value, dict) else value


def _value_data(value: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, tuple):
        return {"items": [_value_data(item) for item in value]}
    array = np.ascontiguousarray(value)
    return {
        "dtype": types.dtype_name(array),
        "shape": list(np.shape(value)),
        "bytes": base64.b64encode(array.tobytes()).decode("ascii"),
    }


def _value(data: Any) -> Any:
    if data is None:
        return None
    if "items" in data:
        return tuple(_value(item) for item in data["items"])
    flat = np.frombuffer(base64.b64decode(data["bytes"]), dtype=types.numpy_dtype(data["dtype"]))
    return flat.reshape(data["shape"])
