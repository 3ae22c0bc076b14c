"""The gradient of a piece of the program that is being written, as further nodes of it.

Backward ops of the library that are a formula of some length mean this: the derivative of the forward op. Whether the
kernel really returned it is looked at, and where it did not the op stays opaque: what it computes is then not known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gradproof.engine.linearise import pull_back
from gradproof.engine.run import Run
from gradproof.engine.trace import Traced
from gradproof.ir import types
from gradproof.ir.program import Program

# How far a kernel's result may be from the formula, in square roots of its rounding: far more than rounding does in
# well-conditioned cases, far less than a wrong formula.
_NEAR = 8.0


def gradients(
    m: Any, forward: Callable[..., Any], xs: Sequence[Any], upstream: Sequence[Any]
) -> tuple[Any, ...]:
    """For each of `xs`, the gradient of the results of `forward(*xs)` weighted with `upstream`; None leaves one out."""
    own = [m.identity(x) for x in xs]  # stand-ins, so that nothing before them is differentiated
    since = m.builder.next_id
    results = forward(*own)
    results = results if isinstance(results, tuple) else (results,)
    pairs = [(y, gy) for y, gy in zip(results, upstream) if y is not None and gy is not None]
    known = {x.id for x in own}
    nodes = [replace(node, op="input", inputs=()) for node in m.builder.nodes if node.id in known]
    nodes += [node for node in m.builder.nodes if node.id >= since]
    outside = {id for node in nodes for id in node.inputs} - {node.id for node in nodes}
    nodes = [replace(n, op="constant", inputs=()) for n in m.builder.nodes if n.id in outside] + nodes
    values = {node.id: _traced(m, node) for node in nodes}
    program = Program(tuple(nodes), tuple(x.id for x in own), tuple(y.id for y, _ in pairs))
    seeds: dict[int, Any] = {}
    for y, gy in pairs:
        seeds[y.id] = gy if y.id not in seeds else m.add(seeds[y.id], gy)
    found = pull_back(Run(program, m, values), seeds, [x.id for x in own])
    return tuple(found.get(x.id) for x in own)


def _traced(m: Any, node: Any) -> Any:
    if isinstance(node.value, tuple):
        return node.value
    return Traced(m, node.id, node.value)


def confirmed(e: Any, results: Sequence[Any]) -> tuple[Any, ...]:
    """The results, if they are what the kernel returned but for rounding."""
    for result, output in zip(results, e.outputs):
        if result is None or output.array is None:
            continue
        seen, said = np.asarray(output.array, np.complex128), np.asarray(result.value, np.complex128)
        if seen.shape != said.shape:
            raise NotImplementedError("a backward op with a result of another shape than the formula's")
        unit = types.unit_roundoff(types.dtype_name(np.asarray(output.array)))
        with np.errstate(all="ignore"):
            both = np.isfinite(seen) & np.isfinite(said)
            size = float(np.max(np.abs(said[both]), initial=0.0))
            apart = float(np.max(np.abs(seen - said)[both], initial=0.0))
        if apart > _NEAR * np.sqrt(unit) * size:
            raise NotImplementedError("a backward op that did not return what its formula gives")
    return tuple(results)
