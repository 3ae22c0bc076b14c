"""The nodes of PyTorch's own graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

LEAF = "torch::autograd::AccumulateGrad"  # what the node is called that collects the gradients of a leaf
MOST_NODES = 100_000  # a graph with more of them is not walked, and its gradients are not judged


def walk(roots: Sequence[Any]) -> Iterator[Any]:
    """All nodes behind some, each once."""
    seen: set[Any] = set()
    waiting = [root for root in roots if root is not None]
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        if len(seen) > MOST_NODES:
            raise ValueError(f"the graph has more than {MOST_NODES:,} nodes")
        yield node
        waiting += [following for following, _ in node.next_functions if following is not None]
