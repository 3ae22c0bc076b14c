"""One run of PyTorch's engine, with the nodes it went through and what each was given and gave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from gradproof.frontends.record.sites import Site
from gradproof.frontends.torch.record.memory import Cell


@dataclass(eq=False)
class NodeRun:
    """One node of the graph that the engine went through."""

    id: int
    node: Any
    upstream: tuple[Cell | None, ...] = ()
    results: tuple[Cell | None, ...] = ()
    done: bool = False
    ended: int = 0  # a number behind those of its ops: what the engine then adds up is no part of the rule


@dataclass(eq=False)
class EngineRun:
    """One run of the engine; `gradients` are what reached the leaves, by the id of the leaf."""

    id: int
    frame: FrameType
    site: Site
    outputs: tuple[Any, ...]
    weights: tuple[Any, ...]
    inputs: tuple[Any, ...]  # what `autograd.grad` was asked for; empty for `backward`
    accumulates: bool
    create_graph: bool
    keeps_graph: bool
    occurrence: int = 1
    targets: tuple[Cell, ...] = ()
    nodes: dict[Any, NodeRun] = field(default_factory=dict)
    leaves: dict[int, Any] = field(default_factory=dict)
    gradients: dict[int, Cell] = field(default_factory=dict)
    before: dict[int, Any] = field(default_factory=dict)  # what `.grad` held, by the id of the leaf
    first: int = 0
    is_inside: bool = False  # of another run, as where a checkpoint computes a part again
    is_batched: bool = False
    fills_zeros: bool = False  # whoever asked puts zeros where the engine has nothing
    is_opaque: bool = False  # for many examples at once, in tensors that cannot be looked into
    held: dict[int, Any] = field(default_factory=dict)  # gradients that leaves still had from steps before
    rows: tuple[Any, ...] = ()  # weights of many calls in one, a row for each
    results: tuple[Any, ...] = ()
    error: BaseException | None = None

    def begins(self, inputs: Sequence[Cell], outputs: Sequence[Cell]) -> bool:
        """Whether an op belongs to what is differentiated: a leaf, or what has come of one, went into it.

        Where sources are given, what was detached from another leaf before is data, as weights for `torch.func` are.
        """
        goes_on = not self.inputs or any(cell.requires_grad for cell in outputs)
        given = {id(one) for one in self.inputs}
        return any(
            cell.requires_grad and (goes_on or cell.leaf is None or id(cell.leaf) in given) for cell in inputs
        )
