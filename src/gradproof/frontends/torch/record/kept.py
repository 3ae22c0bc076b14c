"""Graphs of steps that are over, held by tensors in which a program keeps what it only wants the numbers of."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby, islice
from typing import Any

import torch

from gradproof.frontends.exits.assignments import feeding
from gradproof.frontends.torch.record.engine_run import EngineRun
from gradproof.frontends.torch.record.graph import walk
from gradproof.frontends.torch.record.names import Named
from gradproof.ir.span import Span
from gradproof.ir.surroundings import KeptGraphs

LEAST = 2  # steps whose graphs are held: one may be kept to be compared with the next
MOST_NODES = 5_000  # of a graph that are looked at

NodeName = tuple[int, str]
"""A node's own number and what it is called: as good as the node, which must not be held."""


@dataclass(eq=False)
class GoneThrough:
    """The targets of calls that freed their graphs, by the place of the call, which lives as long as this."""

    _targets: dict[int, dict[NodeName, int]] = field(default_factory=dict)

    def note(self, run: EngineRun) -> None:
        roots = [_node_of(one) for one in run.outputs]
        if run.accumulates and not (run.keeps_graph or run.create_graph or run.is_inside):
            known = self._targets.setdefault(id(run.site), {})
            known.update({_name_of(root): run.occurrence for root in roots if root is not None})

    def held(self, run: EngineRun, named: Mapping[int, Named], call: Span | None) -> KeptGraphs | None:
        """By the tensors of one name, or of a list, that are no part of this call."""
        known = self._targets.get(id(run.site), {})
        if len(known) < LEAST or call is None:
            return None
        own = {id(one) for one in run.outputs}
        others = sorted(
            (one for one in _of_steps(named) if id(one.tensor) not in own), key=lambda one: one.name
        )
        for holder, group in groupby(others, key=lambda one: one.name.partition("[")[0]):
            nodes = islice(walk([_node_of(one.tensor) for one in group]), MOST_NODES)
            found = {known[key] for node in nodes if (key := _name_of(node)) in known}
            if len(found) >= LEAST:
                return KeptGraphs(holder, _filled_at(holder, call), tuple(sorted(found)))
        return None


def _of_steps(named: Mapping[int, Named]) -> Iterator[Named]:
    return (one for one in named.values() if _node_of(one.tensor) is not None)


def _node_of(tensor: Any) -> Any:
    """None for a view, too: to ask one for its node may make a new one."""
    is_asked = type(tensor) is torch.Tensor and tensor.requires_grad and not tensor._is_view()
    return tensor.grad_fn if is_asked else None


def _name_of(node: Any) -> NodeName:
    return node._sequence_nr(), node.name()


def _filled_at(holder: str, call: Span) -> Span | None:
    """The last line that puts something into what has this name."""
    try:
        node = ast.parse(holder, mode="eval").body
    except SyntaxError:
        return None
    node.lineno = call.line
    put = [one for one in feeding(call.file, node) if not isinstance(one, ast.Constant | ast.List)]
    last = max(put, key=lambda one: one.lineno, default=None)
    if last is None:
        return None
    return Span(call.file, last.lineno, last.col_offset, last.end_lineno, last.end_col_offset)
