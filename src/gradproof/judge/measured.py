"""Programs with ops that have no exact meaning: what reaches the inputs of such an op is measured by differences.

Its upstream gradient u is known from the exact part behind it. So of the op itself only one vector is needed, the
gradient of <u, op(x)>, and the product of that vector with x may stand in its place: it has the same gradient.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradproof.blackbox.opaque import PulledBack, pulled_back, value_of, wide
from gradproof.clock import tick
from gradproof.domains.ball import BallDomain
from gradproof.domains.ball64 import BallDomain64
from gradproof.domains.ieee import Ieee
from gradproof.engine.linearise import pull_back
from gradproof.engine.margins import margins
from gradproof.engine.refine import FIRST_ARB_BITS, Enclosure, entry_count
from gradproof.engine.run import AS_RECORDED, Run, evaluate
from gradproof.errors import NoDerivative
from gradproof.ir import types
from gradproof.ir.program import OPAQUE, Node, Program, ancestors, descendants
from gradproof.ir.types import Array
from gradproof.judge.reference import CHEAP_ENTRIES, Evidence
from gradproof.ops import Arithmetic

MAX_OPS = 32  # each is measured by itself: a hundred runs of it and one backward sweep through the program
# A radius of the upstream gradient below this share of it is nothing beside the error bars of differences.
NEGLIGIBLE = 2.0**-44
NO_MEANING = "has no exact meaning here"


@dataclass(frozen=True)
class Measurement:
    """One op that was measured, and how."""

    node: Node
    how: str

    def __str__(self) -> str:
        return f"{_named(self.node)} {NO_MEANING}; its derivative was measured by differences, {self.how}"


def measured(evidence: Evidence) -> tuple[Evidence, tuple[Measurement, ...]]:
    """The evidence with what was measured in the place of opaque ops, if the gradient runs through any.

    Where one of them cannot be computed again nothing is changed, and the engine says which it is.
    """
    program = evidence.program
    opaque = _on_the_way(program, evidence.wrt)
    if not opaque or not all(map(_can_run, opaque)):
        return evidence, ()
    if len(opaque) > MAX_OPS:
        raise NoDerivative(
            f"the gradient runs through {len(opaque)} ops that have no exact meaning here, beginning with "
            f"{_named(opaque[0])}; at most {MAX_OPS} are measured by differences"
        )
    is_large = entry_count(program) > CHEAP_ENTRIES
    m = Arithmetic(BallDomain64() if is_large else BallDomain(FIRST_ARB_BITS))
    work = _Work(m, program, opaque)
    work.refuse_ties()
    active = descendants(program, evidence.wrt)
    found = [work.measure(node, active) for node in reversed(opaque)]
    recorded = _without_rounding(m, evidence.gradient_program)
    measurements = tuple(one for one in reversed(found) if one is not None)
    return replace(evidence, program=work.program, gradient_program=recorded), measurements


def _without_rounding(m: Arithmetic, recorded: Program | None) -> Program | None:
    """The gradient program with its opaque ops run again; None if one cannot be, as it then says nothing exact."""
    if recorded is None:
        return None
    try:
        return _Work(m, recorded, [node for node in recorded.nodes if _can_run(node)]).program
    except NoDerivative:
        return None


def as_far_as_it_goes(outcome: str | None, enclosure: Enclosure | None, reason: str | None) -> str:
    """Why an error bar does not decide, with its size."""
    if outcome != "undecided" or enclosure is None:
        return f"and {reason}"
    bar, size = (float(np.abs(part).max()) for part in (enclosure.rad, enclosure.mid))
    share = f"{bar / size:.0e} of the largest entry" if size else f"{bar:.0e}"
    return f"with an error bar of {share}: too wide to tell whether it is right to the last digits that count"


def _can_run(node: Node) -> bool:
    return node.is_opaque and node.kernel is not None and not node.is_discrete


def _on_the_way(program: Program, wrt: Iterable[int]) -> list[Node]:
    """The opaque ops between the sources and the output."""
    passed = descendants(program, wrt) & ancestors(program, program.outputs)
    return [node for node in program.nodes if node.is_opaque and node.id in passed]


def _named(node: Node) -> str:
    return f"`{node.op.removeprefix(OPAQUE)}`" + (f" ({node.span})" if node.span else "")


class _Work:
    """A program in which opaque ops are worth what they are without rounding, and what its nodes are worth in balls.

    Terms that have the gradients of those ops are added to its output, one op after the other.
    """

    def __init__(self, m: Arithmetic, program: Program, opaque: Iterable[Node]) -> None:
        self.m = m
        self.names, self.inputs, self.outputs = program.names, program.inputs, program.outputs
        self.opaque = {node.id: node for node in opaque}
        self.nodes: list[Node] = []
        self.values: dict[int, Any] = {}
        self._next_id = 1 + max((node.id for node in program.nodes), default=0)
        with m.domain.active():
            for node in program.nodes:
                tick()
                self._copy(node)

    @property
    def program(self) -> Program:
        return Program(tuple(self.nodes), self.inputs, self.outputs, self.names)

    def refuse_ties(self) -> None:
        """A decision at a tie is followed to both sides in exact arithmetic, which is not to be had through an op."""
        behind = replace(self.program, inputs=tuple(self.opaque))
        for decision in margins(Run(behind, self.m, self.values)):
            if decision.moves and bool((decision.ties | decision.is_unclear).any()):
                raise NoDerivative(
                    f"{_named(behind[decision.node])} is at a tie, and what it compares comes from an op that "
                    f"{NO_MEANING}"
                )

    def measure(self, node: Node, active: set[int]) -> Measurement | None:
        """Add the terms of one op; None if nothing reaches it."""
        moving = [k for k, id in enumerate(node.inputs) if id in active]
        try:
            upstream = self._upstream(node)
            if upstream is None:
                return None
            found = self._pulled_back(node, moving, *upstream)
        except NoDerivative as error:
            raise NoDerivative(f"{_named(node)} {NO_MEANING}, and {error}") from error
        with self.m.domain.active():
            for k, value, error_bar in zip(moving, found.values, found.errors):
                product = self._add("mul", self._about(value, error_bar), node.inputs[k])
                term = self._add("sum", product, params={"axes": tuple(range(value.ndim))})
                self.outputs = (self._add("add", self.outputs[0], term),)
        return Measurement(node, found.how)

    def _copy(self, node: Node) -> None:
        if node.id not in self.opaque:
            self.nodes.append(node)
            self.values[node.id] = evaluate(self.m, node, self.values, AS_RECORDED)
            return
        assert node.kernel is not None
        radii = [None if types.is_discrete_array(x) else self.m.domain.leave(x)[1] for x in self._xs(node)]
        try:
            centre, rad = value_of(node.kernel, self._numbers(node), radii)
        except NoDerivative as error:
            raise NoDerivative(f"{_named(node)} {NO_MEANING}, and {error}") from error
        self._about(centre, rad, node)

    def _about(self, centre: Array, rad: Array, like: Node | None = None) -> int:
        """A number with an error bar; in the place of a node, it keeps what was recorded of it."""
        ids = [self._next_id, self._next_id + 1]
        self._next_id += 2
        for id, array in zip(ids, (centre, rad)):
            array = wide(array)
            self.nodes.append(Node(id, "constant", (), types.dtype_name(array), array.shape, value=array))
            self.values[id] = self.m.literal(array)
        if like is None:
            return self._add("about", *ids)
        self.nodes.append(replace(like, op="about", inputs=tuple(ids), kernel=None))
        self.values[like.id] = self.m.about(*(self.values[id] for id in ids))
        return like.id

    def _add(self, op: str, *inputs: int, params: Mapping[str, Any] | None = None) -> int:
        id, params = self._next_id, params or {}
        self._next_id += 1
        self.values[id] = getattr(self.m, op)(*(self.values[k] for k in inputs), **params)
        plain = (_FLOAT64.literal(self._recorded(k)) for k in inputs)
        value = np.asarray(getattr(_FLOAT64, op)(*plain, **params), np.float64)
        self.nodes.append(Node(id, op, inputs, "float64", value.shape, dict(params), value=value))
        return id

    def _recorded(self, id: int) -> Array:
        return np.asarray(self.program[id].value, np.float64)

    def _xs(self, node: Node) -> list[Any]:
        return [self.values[id] for id in node.inputs]

    def _numbers(self, node: Node) -> list[Array]:
        xs = [x if types.is_discrete_array(x) else self.m.domain.leave(x)[0] for x in self._xs(node)]
        if any(np.iscomplexobj(x) or not np.isfinite(x).all() for x in xs):
            raise NoDerivative("not all of its inputs are known as real numbers")
        return xs

    def _upstream(self, node: Node) -> tuple[Array, Array] | None:
        run = Run(self.program, self.m, self.values)
        with self.m.domain.active():
            seed = self.m.literal(np.ones(()))
            found = pull_back(run, {self.outputs[0]: seed}, [node.id]).get(node.id)
            if found is None:
                return None
            mid, rad = self.m.domain.leave(found)
        if not (np.isfinite(mid) & np.isfinite(rad)).all():
            raise NoDerivative("what reaches it from behind has no bound")
        return mid, rad

    def _pulled_back(self, node: Node, moving: list[int], gy: Array, rad: Array) -> PulledBack:
        assert node.kernel is not None
        xs = self._numbers(node)
        found = pulled_back(node.kernel, xs, moving, gy)
        if not (rad > NEGLIGIBLE * np.abs(gy).max(initial=0.0)).any():
            return found
        # What the radius of the upstream gradient may change, as if all of it had one sign, and twice that.
        more = pulled_back(node.kernel, xs, moving, rad * (1 + 1j) if np.iscomplexobj(gy) else rad)
        sums = (a + 2 * np.abs(b) + c for a, b, c in zip(found.errors, more.values, more.errors))
        return replace(found, errors=tuple(sums))


_FLOAT64 = Arithmetic(Ieee("float64"))
