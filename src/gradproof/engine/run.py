"""Runs a program in a number domain."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradproof.clock import tick
from gradproof.domains.ieee import Ieee
from gradproof.errors import GradproofError, InvalidProgram
from gradproof.ir import types
from gradproof.ir.program import Node, Program
from gradproof.ir.verify import describe
from gradproof.ops import TABLE, Arithmetic


@dataclass(frozen=True)
class Run:
    """What every node of a program is worth in one arithmetic."""

    program: Program
    m: Arithmetic
    values: Mapping[int, Any]

    def outputs(self) -> tuple[Any, ...]:
        return tuple(self.values[id] for id in self.program.outputs)


@dataclass(frozen=True)
class Policy:
    """How a run treats what the domain alone cannot settle.

    Decisions are taken as recorded unless `decisions` overrides them or `redecide` asks the domain to decide anew.
    """

    inputs: Mapping[int, Any] = field(default_factory=dict)
    decisions: Mapping[int, Any] = field(default_factory=dict)
    redecide: bool = False


AS_RECORDED = Policy()


def run(domain: Any, program: Program, policy: Policy = AS_RECORDED) -> Run:
    """Evaluate all nodes in order. Opaque nodes are worth what was recorded."""
    m = domain if isinstance(domain, Arithmetic) else Arithmetic(domain)
    values: dict[int, Any] = {}
    with m.domain.active():
        for node in program.nodes:
            tick()
            values[node.id] = evaluate(m, node, values, policy)
    return Run(program, m, values)


def held(domain: Any, program: Program) -> dict[int, Any]:
    """What `stop_gradient` hands on, as a policy's inputs: it stays what it is at the point when the inputs move."""
    stops = [node.id for node in program.nodes if node.op == "stop_gradient"]
    if not stops:
        return {}
    at = run(domain, program)
    return {id: at.values[id] for id in stops}


def evaluate(m: Arithmetic, node: Node, values: dict[int, Any], policy: Policy) -> Any:
    if node.id in policy.inputs:
        return policy.inputs[node.id]
    if node.id in policy.decisions:
        return policy.decisions[node.id]
    if node.op in ("input", "constant") or node.is_opaque:
        return _recorded(m, node)
    if node.is_discrete and node.value is not None and not policy.redecide:
        return node.value
    if node.op == "item":
        return values[node.inputs[0]][node.params["index"]]
    if node.op not in TABLE:
        raise InvalidProgram(f"{describe(node)}: there is no op of this name")
    slopes = TABLE[node.op].slopes
    if slopes is not None and len(slopes) != len(node.inputs):
        raise InvalidProgram(f"{describe(node)} takes {len(slopes)} arguments, not {len(node.inputs)}")
    xs = [values[id] for id in node.inputs]
    if node.is_discrete and xs and all(types.is_discrete_array(x) for x in xs):
        m = _INTEGERS  # the same in every domain
    return _settled(m, node, _call(getattr(m, node.op), node, xs))


_INTEGERS = Arithmetic(Ieee())


def _recorded(m: Arithmetic, node: Node) -> Any:
    if node.value is None:
        raise InvalidProgram(f"{describe(node)} has no recorded value to stand for it")
    if isinstance(node.value, tuple):
        return tuple(m.literal(item) for item in node.value)
    return m.literal(node.value)


def _call(meaning: Callable[..., Any], node: Node, xs: list[Any]) -> Any:
    """Errors of NumPy about shapes and arguments are told as facts about the program."""
    try:
        return meaning(*xs, **node.params)
    except GradproofError:
        raise
    except (ValueError, TypeError, IndexError, AttributeError) as error:
        shapes = ", ".join(str(np.shape(x)) for x in xs)
        raise InvalidProgram(f"{describe(node)} cannot be applied to shapes {shapes}: {error}") from error


def _settled(m: Arithmetic, node: Node, y: Any) -> Any:
    if isinstance(y, tuple):
        return y
    if node.is_discrete:
        return np.asarray(y, types.numpy_dtype(node.dtype))
    y = m.domain.settle(y, node.dtype)
    if tuple(y.shape) != tuple(node.shape):
        raise InvalidProgram(
            f"{describe(node)} claims shape {node.shape}, but evaluates to shape {tuple(y.shape)}"
        )
    return y


def decisions(program: Program) -> list[Node]:
    """The nodes at which the program branches."""
    return [node for node in program.nodes if node.op in TABLE and TABLE[node.op].is_decision]
