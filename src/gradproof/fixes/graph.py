"""A program as patterns see it: one op in several spellings, equal nodes recognised, steps without meaning skipped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradproof.ir.program import Node, Program

MOST_SKIPPED = 20  # steps without meaning in a row


@dataclass(frozen=True)
class Id:
    """A node of the program, as a term."""

    id: int


@dataclass(frozen=True)
class Shown:
    """An op and its arguments: a node as it is, or another way to write it."""

    op: str
    args: tuple[Term, ...]
    params: Mapping[str, Any] = field(default_factory=dict, compare=False)


# What patterns are matched with: a node, a number, or something the program does not compute but could.
Term = Id | Shown | float


class Graph:
    """Looks into a program for patterns."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._numbers: dict[int, float | None] = {}
        self._shown: dict[int, tuple[Shown, ...]] = {}
        self._same: dict[int, int] = {}
        first: dict[Any, int] = {}
        for node in program.nodes:
            is_alias = node.op == "identity"
            same = self._same[node.inputs[0]] if is_alias else first.setdefault(self._key(node), node.id)
            self._same[node.id] = same

    def _key(self, node: Node) -> Any:
        """Nodes with the same key compute the same."""
        if node.op == "constant":
            array = np.asarray(node.value)
            number = _uniform(array)
            self._numbers[node.id] = number
            return ("constant", number) if number is not None else (node.shape, node.dtype, array.tobytes())
        if node.op == "input" or node.is_opaque or node.is_discrete:
            return node.id
        inputs = tuple(self._same[id] for id in node.inputs)
        if (node.op == "mul" and inputs[0] == inputs[1]) or (
            node.op == "integer_power" and node.params["exponent"] == 2
        ):
            return "square", inputs[:1], "[]"
        ordered = tuple(sorted(inputs)) if node.op in ("add", "mul") else inputs
        return node.op, ordered, repr(sorted(node.params.items()))

    def first(self, id: int) -> int:
        """The first node that computes the same."""
        return self._same[id]

    def number(self, term: Term) -> float | None:
        """The value of a constant whose entries are all the same."""
        if isinstance(term, Id):
            return self._numbers.get(self._skipped(term.id))
        return float(term) if isinstance(term, int | float) else None

    def is_same(self, a: Term, b: Term) -> bool:
        """Whether two terms are certainly the same number; of large terms only nodes are compared."""
        if isinstance(a, Id) and isinstance(b, Id):
            return self._same[a.id] == self._same[b.id]
        number = self.number(a)
        return a == b or (number is not None and number == self.number(b))

    def _skipped(self, id: int) -> int:
        """The node behind identities, and reshapes that only add or drop axes of length one."""
        for _ in range(MOST_SKIPPED):
            node = self.program[id]
            if node.op not in ("identity", "reshape", "broadcast", "cast"):
                break
            behind = self.program[node.inputs[0]]
            same_entries = [n for n in node.shape if n != 1] == [n for n in behind.shape if n != 1]
            if node.dtype != behind.dtype or not (same_entries or behind.shape == ()):
                break
            id = behind.id
        return id

    def shown(self, term: Term) -> tuple[Shown, ...]:
        """The op a term is the result of, in every spelling that a pattern may use."""
        if isinstance(term, Shown):
            return (term,)
        if not isinstance(term, Id):
            return ()
        if term.id not in self._shown:  # every rule asks
            self._shown[term.id] = tuple(self._spellings(term.id))
        return self._shown[term.id]

    def _spellings(self, id: int) -> Iterator[Shown]:
        node = self.program[self._skipped(id)]
        if node.is_opaque or node.op in ("input", "constant", "item"):
            return
        shown = Shown(node.op, tuple(map(Id, node.inputs)), node.params)
        yield shown
        yield from self._respelled(shown)

    def _respelled(self, shown: Shown) -> Iterator[Shown]:
        op, args = shown.op, shown.args
        match op:
            case "mul" if self.is_same(args[0], args[1]):
                yield Shown("square", args[:1])
            case "mul":
                for factor, other in (args, args[::-1]):
                    yield from self._multiplied(factor, other)
            case "add":
                for kept, other in (args, args[::-1]):
                    yield from (Shown("sub", (kept, opposite)) for opposite in self._opposites(other))
            case "sub":
                yield from (Shown("add", (args[0], opposite)) for opposite in self._opposites(args[1]))
            case "square":
                yield Shown("mul", (args[0], args[0]))
            case "integer_power" | "power":
                exponent = shown.params.get("exponent", self.number(args[-1]))
                yield from _powers(args[0], exponent)
            case "reciprocal":
                yield Shown("div", (1, args[0]))
                yield from self._sigmoids(args[0])
            case "rsqrt":
                yield Shown("div", (1, Shown("sqrt", args)))
            case "div" if self.number(args[1]) == 2:
                yield Shown("mul", (args[0], 0.5))
            case "div" if self.number(args[0]) == 1:
                yield from self._sigmoids(args[1])

    def _multiplied(self, factor: Term, other: Term) -> Iterator[Shown]:
        """A sign, and a quotient: some frameworks compute `a / b` with a number `a` as a product with 1 / b."""
        if self.number(factor) == -1:
            yield Shown("neg", (other,))
        node = self.program[self._skipped(other.id)] if isinstance(other, Id) else None
        if node is not None and node.op == "reciprocal":
            yield Shown("div", (factor, Id(node.inputs[0])))
            if self.number(factor) == 1:
                yield from self._sigmoids(Id(node.inputs[0]))

    def _sigmoids(self, below: Term) -> Iterator[Shown]:
        """1 / (1 + exp(t)), which is the sigmoid of -t."""
        for whole in self.shown(below):
            for one, rest in (whole.args, whole.args[::-1]) if whole.op == "add" else ():
                for power in self.shown(rest) if self.number(one) == 1 else ():
                    if power.op == "exp":
                        yield from (Shown("sigmoid", (plain,)) for plain in self._opposites(power.args[0]))
                        yield Shown("sigmoid", (Shown("neg", power.args),))

    def _opposites(self, term: Term) -> Iterator[Term]:
        """What a term is the negative of, where it is written so."""
        number = self.number(term)
        if number is not None and number < 0:
            yield -number
        if isinstance(term, Id):
            node = self.program[self._skipped(term.id)]
            if node.op == "neg":
                yield Id(node.inputs[0])


def _powers(base: Term, exponent: Any) -> Iterator[Shown]:
    named = {0.5: "sqrt", -1: "reciprocal", 2: "square"}
    if exponent in named:
        yield Shown(named[exponent], (base,))
    if exponent == -1:
        yield Shown("div", (1, base))
    if exponent == 2:
        yield Shown("mul", (base, base))
    if exponent == -0.5:
        yield Shown("div", (1, Shown("sqrt", (base,))))
    if isinstance(exponent, float) and exponent.is_integer():
        yield Shown("integer_power", (base,), {"exponent": int(exponent)})


def _uniform(array: Any) -> float | None:
    if array.size == 0 or array.dtype.kind in "bc":
        return None
    first = float(array.flat[0])
    return first if bool((array == array.flat[0]).all()) else None
