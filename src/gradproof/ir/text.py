"""Prints a program, one node a line."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.ir.program import Node, Program

MAX_ENTRIES = 4  # more entries than this do not help to recognise a value


def render(program: Program) -> str:
    lines = [_line(program, node) for node in program.nodes]
    outputs = ", ".join(f"%{id}" for id in program.outputs)
    return "\n".join([*lines, f"return {outputs}"])


def _line(program: Program, node: Node) -> str:
    arguments = [f"%{id}" for id in node.inputs]
    arguments += [f"{name}={value}" for name, value in node.params.items()]
    shape = "x".join(map(str, node.shape)) or "scalar"
    name = program.names.get(node.id)
    comments = [
        *([f"`{name}`"] if name else []),
        *([_value(node.value)] if node.value is not None else []),
        *(["backward"] if node.phase == "backward" else []),
        *([f"custom gradient {node.scope}"] if node.scope is not None else []),
        *([str(node.span)] if node.span else []),
    ]
    call = f"{node.op}({', '.join(arguments)})"
    return f"%{node.id}: {node.dtype}[{shape}] = {call}" + (f"  # {', '.join(comments)}" if comments else "")


def _value(value: Any) -> str:
    if isinstance(value, tuple):
        return f"{len(value)} results"
    flat = np.asarray(value).reshape(-1)
    shown = " ".join(str(entry) for entry in flat[:MAX_ENTRIES])
    return f"= {shown}" + (" ..." if flat.size > MAX_ENTRIES else "")
