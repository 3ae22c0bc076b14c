"""What the shared rooms need to know about the framework that a gradient call was recorded in."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from gradproof.frontends.record.flow import is_discrete
from gradproof.frontends.record.model import GradientCall, OpEvent, RuleRun
from gradproof.ir.capture import Break
from gradproof.ir.kernel import Kernel

Role = Literal[
    "compute",  # numbers from numbers: what most ops do
    "read",  # a variable's handle in, its numbers out
    "gather",  # a variable's handle and places in, the numbers at these places out
    "store",  # puts numbers into a variable
    "add",  # adds numbers to what a variable holds
    "subtract",
    "put",  # puts numbers into places of something that keeps them: a variable, a table, a queue
    "bits",  # reads the bits of numbers as other numbers
    "pass-on",  # every output is its input
    "stop",  # lets numbers through and no gradient
    "leave",  # computes in plain Python, where no framework follows
    "draw",  # random numbers
    "discrete",  # constant between jumps
    "cast",  # another dtype: discrete if that is an integer or a boolean
    "shape",  # of shapes and sizes; no number goes through
    "feed",  # hands numbers to a data set, which hands them out again
]
"""What an op does to the flow of numbers, whatever it computes."""


class Lowerings(Protocol):
    """Lowerings by the names of ops; a dictionary is one."""

    def get(self, op: str, /) -> Callable[..., Any] | None: ...


def _nothing(*_: Any) -> None:
    return None


@dataclass(frozen=True)
class Dialect:
    """The lowerings of a framework's ops, what the ops do, and what else is told by their names.

    `kernel_of(event, k)` computes one output of an op again. `returned_none(call, reached)` and
    `refused(call, rule, facts)` say why the rule of a hand-written gradient gave nothing. `raised(call, k)` knows why
    a call ended with an exception of the framework's own; `said(call, k, why)` has its words for a reason, and
    `spelled(op)` the name that users know an op by.
    With `sees_reads` no number is read off a tensor unseen: a constant that no door handed out was never a tensor.
    With `replays_ops` a changed program is tried with the very ops that ran, so that a capture keeps them.
    """

    table: Lowerings
    roles: Mapping[str, Role] = field(default_factory=dict)
    kernel_of: Callable[[OpEvent, int], Kernel | None] = _nothing
    returned_none: Callable[[GradientCall, set[int]], Break | None] = _nothing
    refused: Callable[[GradientCall, RuleRun, dict[str, str]], Break | None] = _nothing
    raised: Callable[[GradientCall, int], Break | None] = _nothing
    said: Callable[[GradientCall, int, Break], Break] = lambda call, k, why: why
    sees_reads: bool = False
    replays_ops: bool = False
    spelled: Callable[[str], str] = lambda op: op

    def role(self, event: OpEvent) -> Role:
        """What an op that ran did."""
        role = self.roles.get(event.op, "compute")
        if role == "cast":
            return "discrete" if is_discrete(event) else "compute"
        return role


def dialect_of(framework: str) -> Dialect:
    """Loaded when it is first asked for: it imports the framework."""
    module = importlib.import_module(f"gradproof.frontends.{framework}.dialect")
    dialect: Dialect = module.DIALECT
    return dialect
