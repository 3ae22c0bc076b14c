"""The table of lowerings: what a primitive of JAX means, in ops of the program.

A lowering is called with the arithmetic `m`, the recorded event (its parameters are `event.attrs`) and its inputs as
traced arrays. It returns the result, or a tuple of results. A variant that has no meaning here raises
NotImplementedError, and the primitive stays opaque.
"""

from __future__ import annotations

from bisect import bisect_left
from operator import attrgetter
from typing import Any

import numpy as np

from gradproof.frontends.assemble.table import LoweringTable
from gradproof.frontends.jax.lower._kinds import COMPLEX

TABLE = LoweringTable(COMPLEX)
lower, lower_to = TABLE.lower, TABLE.lower_to


def ints(x: Any) -> np.ndarray[Any, Any]:
    """The entries of an integer array: facts of the run, not of the function."""
    return np.asarray(x.value)


def is_discrete(x: Any) -> bool:
    return bool(np.asarray(x.value).dtype.kind in "biu")


def is_fixed(m: Any, x: Any) -> bool:
    """Whether no input of the program leads there."""
    nodes = m.builder.nodes
    pending, seen = [x.id], set()
    while pending:
        id = pending.pop()
        if id not in seen:
            seen.add(id)
            node = nodes[bisect_left(nodes, id, key=attrgetter("id"))]
            if node.op == "input":
                return False
            pending += node.inputs
    return True
