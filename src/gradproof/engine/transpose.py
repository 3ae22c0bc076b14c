"""Forward mode for ops that give only a pullback: the pullback is linear in `gy`, so its own pullback is the JVP."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.ir import types
from gradproof.ir.program import Builder, Node
from gradproof.ops import TABLE, Arithmetic


def push_through_pullback(
    m: Arithmetic, node: Node, moving: list[int], y: Any, xs: list[Any], xs_dot: list[Any]
) -> Any:
    """The tangent of a node's result from the tangents of the inputs `moving`."""
    from gradproof.engine.linearise import pull_back
    from gradproof.engine.run import Policy, run
    from gradproof.engine.trace import Traced, Tracer

    builder = Builder()
    tracer = Tracer(builder)
    traced = [_enter(m, tracer, x) for x in (*xs, *(y if isinstance(y, tuple) else (y,)))]
    traced_xs, traced_ys = traced[: len(xs)], traced[len(xs) :]
    zeros = [np.zeros_like(part.value) for part in traced_ys]  # complex where the result is
    upstream = [Traced(tracer, builder.input(zero), zero) for zero in zeros]
    several = isinstance(y, tuple)
    rule = TABLE[node.op].pullback
    assert rule is not None
    results = [
        rule(
            tracer,
            i,
            tuple(upstream) if several else upstream[0],
            tuple(traced_ys) if several else traced_ys[0],
            *traced_xs,
            **node.params,
        )
        for i in moving
    ]
    program = builder.build([result.id for result in results])
    # The values at which the rule is linear are handed over in the domain itself, with all their digits.
    given = {t.id: x for t, x in zip(traced, (*xs, *(y if several else (y,)))) if isinstance(t, Traced)}
    given |= {u.id: m.zeros(u.shape) for u in upstream}
    linear = run(m, program, Policy(inputs=given))
    seeds = {result.id: xs_dot[i] for result, i in zip(results, moving)}
    pulled = pull_back(linear, seeds, [u.id for u in upstream])
    parts = tuple(pulled.get(u.id, m.zeros(u.shape)) for u in upstream)
    return parts if several else parts[0]


def _enter(m: Arithmetic, tracer: Any, x: Any) -> Any:
    from gradproof.engine.trace import Traced

    if types.is_discrete_array(x):
        return x
    value = x.value if isinstance(x, Traced) else m.domain.leave(x)[0]
    return Traced(tracer, tracer.builder.input(np.asarray(value)), np.asarray(value))
