"""The graph that compiled code was made from: whether it may be run a second time, and what it is called."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import torch

from gradproof.frontends.torch.record.traced_lines import functions_in

RANDOM = "which draws random numbers that the same ops, one by one, would not draw again"
CHANGES = "which changes tensors that a gradient goes through"
VIEWS = "which returns views of what it has computed"
STATE = "which keeps tensors of its own"
FAILS = "whose ops cannot be run one by one ({error})"
OWN_OP = "which calls `{op}`: what that does beside its result is not known, so that it is not run twice"

_ONLY_COMPUTE = ("torch", "_operator", "operator", "math", "builtins")  # modules of such functions
_OF_TORCH = ("aten", "prims", "higher_order")
_WRITERS = ("setitem", "iadd", "isub", "imul", "itruediv", "ipow", "batch_norm", "instance_norm")


class CompiledGraph:
    """`refused` is the reason why it is not to be run; None where it may be."""

    def __init__(self, module: Any) -> None:
        self.refused = _refusal(module)
        self.name = _name_of(module)
        self.may_write = any(_may_write(node) for node in _nodes(module))
        # The compiler takes the module over, and changes it.
        self.module: Any = None if self.refused is not None else copy.deepcopy(module)


def _nodes(module: Any) -> Iterator[Any]:
    for part in module.modules():
        if isinstance(part, torch.fx.GraphModule):
            yield from part.graph.nodes


def _name_of(module: Any) -> str:
    """The function that was compiled: the outermost one of the lines it was traced from."""
    found = (name for node in _nodes(module) for name in functions_in(node.stack_trace or ""))
    return next(found, "the compiled function")


def _refusal(module: Any) -> str | None:
    if any(True for _ in module.parameters()) or any(True for _ in module.buffers()):
        return STATE
    for node in _nodes(module):
        if node.op == "call_module":
            return STATE
        if node.op == "call_function" and not _is_harmless(node.target):
            return OWN_OP.format(op=str(node.target))
    return None


def _is_harmless(target: Any) -> bool:
    if isinstance(target, torch._ops.OpOverload | torch._ops.OpOverloadPacket):
        return str(target).partition(".")[0] in _OF_TORCH
    return (getattr(target, "__module__", None) or "torch").partition(".")[0] in _ONLY_COMPUTE


def _may_write(node: Any) -> bool:
    """In place, by the name of the function; those that run others may do anything."""
    if node.op not in ("call_function", "call_method"):
        return False
    name = node.target if isinstance(node.target, str) else getattr(node.target, "__name__", "")
    is_in_place = name.partition(".")[0].endswith("_") and not name.endswith("__")
    return is_in_place or name in _WRITERS or "out" in node.kwargs
