"""Which nodes of a program an op that ran became: how a changed program runs what was not changed as it ran."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gradproof.engine.trace import Traced
from gradproof.frontends.record.model import OpEvent, Value
from gradproof.ir.program import Node, Program


@dataclass(frozen=True, eq=False)
class Ran:
    """One op, the nodes that stand for its inputs and outputs (None where none does), and all nodes it became."""

    event: OpEvent
    inputs: tuple[int | None, ...]
    outputs: tuple[int | None, ...]
    members: tuple[Node, ...]


def ran_as(event: OpEvent, known: Mapping[int, object], made: Sequence[Node]) -> Iterator[Ran]:
    """Forward ops only; one that became no node was a matter of facts, such as a shape."""
    members = tuple(node for node in made if node.inputs)
    if members and event.phase == "forward":
        yield Ran(event, _ids(event.inputs, known), _ids(event.outputs, known), members)


def _ids(values: Sequence[Value], known: Mapping[int, object]) -> tuple[int | None, ...]:
    return tuple(x.id if isinstance(x := known.get(value.id), Traced) else None for value in values)


@dataclass(frozen=True, eq=False)
class Kept:
    """An op that a change left as it was, on inputs that may have other ids now."""

    ran: Ran
    inputs: tuple[int | None, ...]

    @property
    def outputs(self) -> tuple[int | None, ...]:
        return self.ran.outputs


def kept(ran: Ran, program: Program, ids: frozenset[int]) -> Kept | None:
    """The op as the changed program has it; None where the change is inside it.

    What it takes may be something else now, but every node of it has to take the same in its place, and a node that
    only the op's own outputs need may be gone with them.
    """
    own = {node.id for node in ran.members}
    moved: dict[int, int] = {}
    for node in ran.members:
        if node.id not in ids:
            if node.id in ran.outputs or _is_needed(node, ran.members, ids):
                return None
            continue
        if not _same(node, program[node.id], own, moved):
            return None
    # An axis or a shape is a parameter of the nodes, and no node of the program by itself.
    now = (None if id is None else moved.get(id, id) for id in ran.inputs)
    return Kept(ran, tuple(id if id in ids else None for id in now))


def _is_needed(node: Node, members: tuple[Node, ...], ids: frozenset[int]) -> bool:
    return any(node.id in other.inputs and other.id in ids for other in members)


def _same(before: Node, now: Node, own: set[int], moved: dict[int, int]) -> bool:
    if before.op != now.op or len(before.inputs) != len(now.inputs) or not _equal(before.params, now.params):
        return False
    for old, new in zip(before.inputs, now.inputs):
        if old in own:
            if old != new:
                return False
        elif moved.setdefault(old, new) != new:
            return False
    return True


def _equal(one: Mapping[str, object], other: Mapping[str, object]) -> bool:
    return one is other or repr(sorted(one.items())) == repr(sorted(other.items()))
