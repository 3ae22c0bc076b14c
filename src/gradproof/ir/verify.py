"""Proves a program well formed: every id bound once, before its use, with plain parameters and fitting shapes."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.errors import InvalidProgram
from gradproof.ir import types
from gradproof.ir.program import Node, Program


def verify(program: Program) -> None:
    """Raise `InvalidProgram` at the first node that breaks a rule; the message names the node."""
    bound: set[int] = set()
    for node in program.nodes:
        if node.id in bound:
            raise InvalidProgram(f"id {node.id} is bound twice; the second time by {describe(node)}")
        for id in node.inputs:
            if id not in bound:
                raise InvalidProgram(f"{describe(node)} uses id {id}, which is not bound before it")
        _verify_types(node)
        _verify_params(node)
        bound.add(node.id)
    for role, ids in (("input", program.inputs), ("output", program.outputs)):
        for id in ids:
            if id not in bound:
                raise InvalidProgram(f"{role} {id} is not bound by any node")
    for id in program.inputs:
        if program[id].op != "input":
            raise InvalidProgram(f"{describe(program[id])} is listed as an input of the program")


def describe(node: Node) -> str:
    place = f" ({node.span})" if node.span else ""
    return f"node %{node.id} = {node.op}{place}"


def _verify_types(node: Node) -> None:
    known = node.dtype == types.TUPLE or types.is_real(node.dtype) or types.is_complex(node.dtype)
    if not known and not types.is_discrete(node.dtype):
        raise InvalidProgram(f"{describe(node)} has the unknown dtype {node.dtype!r}")
    if node.op in ("input", "constant") and node.value is None:
        raise InvalidProgram(f"{describe(node)} has no value")
    if node.value is None or node.dtype == types.TUPLE:
        return
    if tuple(node.value.shape) != tuple(node.shape):
        raise InvalidProgram(
            f"{describe(node)} claims shape {node.shape}, but its value has shape {node.value.shape}"
        )
    if types.dtype_name(node.value) != node.dtype:
        raise InvalidProgram(
            f"{describe(node)} claims dtype {node.dtype}, but its value is {node.value.dtype}"
        )


def _verify_params(node: Node) -> None:
    for name, value in node.params.items():
        if not _is_plain(value):
            raise InvalidProgram(
                f"{describe(node)}: parameter {name!r} is a {type(value).__name__}; parameters are numbers, "
                "strings, None and tuples of them, and array data are inputs"
            )


def _is_plain(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(_is_plain(item) for item in value)
    return value is None or isinstance(value, (bool, int, float, complex, str, np.integer, np.floating))
