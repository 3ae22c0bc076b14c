"""Finds the rewrites of a program that give its gradient most digits: a beam search over the table of rules."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from gradproof.fixes.graph import Graph
from gradproof.fixes.rewrite import Rewrite, rewrites
from gradproof.fixes.rule import RewriteRule
from gradproof.fixes.rules import RULES
from gradproof.fixes.verify import GradientPair, has_value, is_equal, rounded_gradient
from gradproof.ir.program import Node, Program
from gradproof.ir.types import Array

MOST_STEPS = 3  # rewrites one after the other
WIDTH = 6  # programs that are kept for the next step
MOST_TRIED = 400  # gradients computed in one search
MOST_COMPILED = 40  # gradients where each is a program to be compiled
MOST_PLACES = 60  # places in the source where rules are tried; the nearest to the loss come first
# Of computing, so that a busy machine finds the same; small programs take a tenth of it.
SECONDS = 3.0  # a large one must not take longer than its own check
SHARE = 0.5  # of the lost digits, which a fix must bring back
LEAST_GAIN = 1.0  # one digit: less could be chance
HALF_WAY = 0.5  # digits: a step that mends the gradient, and not yet the value, is better than none
WORTH = 0.5  # digits that a further step must gain: a change that is easy to read is worth half a digit


@dataclass(frozen=True, eq=False)
class Candidate:
    """A rewritten program, the rewrites that made it one after the other, and the digits of its gradient."""

    program: Program
    steps: tuple[Rewrite, ...]
    digits: float

    @property
    def nodes(self) -> tuple[int, ...]:
        """What was changed."""
        return tuple(dict.fromkeys(id for step in self.steps for id in step.nodes))

    @property
    def text(self) -> str:
        return "; then ".join(dict.fromkeys(step.rule.text for step in self.steps))

    @property
    def elsewhere(self) -> str:
        return "; ".join(dict.fromkeys(step.rule.elsewhere for step in self.steps if step.rule.elsewhere))


@dataclass(frozen=True)
class Aim:
    """The digits there are and could be, and the places to begin at, most suspicious first.

    `run` returns the gradient of a program as it is to be measured: by NumPy, or in the mode that lost the digits.
    """

    gradients: GradientPair
    digits: float
    possible: float
    places: tuple[int, ...] = ()
    run: Callable[[Program, int], Array | None] = rounded_gradient
    most_tried: int = MOST_TRIED

    def digits_of(self, program: Program) -> float | None:
        """A gradient is worth little beside a value that is no number: what is to be mended has both."""
        gradient = self.run(program, self.gradients.wrt)
        digits = None if gradient is None else self.gradients.digits(gradient)
        if digits is None or not self.is_reached(digits) or has_value(program):
            return digits
        return max(self.digits, HALF_WAY)

    def is_reached(self, digits: float) -> bool:
        """Half of what was lost; where not one digit was left, what makes the gradient correct is enough."""
        gain, lost = digits - self.digits, self.possible - self.digits
        correct = lost if self.digits else -math.log10(self.gradients.tolerance)
        return gain >= LEAST_GAIN and gain >= min(SHARE * lost, correct)


def reached(
    program: Program, aim: Aim, rules: Sequence[RewriteRule] | None = None, deadline: float | None = None
) -> list[Candidate]:
    """The candidates that bring back half of the lost digits, best first; nothing is proven about them yet."""
    before = aim.run(program, aim.gradients.wrt)
    # Where our own run of the old program has the digits, it was not the formula that lost them.
    if before is None or not aim.is_reached(aim.possible) or aim.is_reached(aim.gradients.digits(before)):
        return []
    deadline = time.thread_time() + SECONDS if deadline is None else deadline
    found = _candidates(program, aim, RULES if rules is None else rules, deadline)
    good = [candidate for candidate in found if aim.is_reached(candidate.digits)]
    return sorted(good, key=_cost)


def _cost(candidate: Candidate) -> tuple[float, int]:
    """Digits weighed against steps; of equals the shorter program, then the rule that stands first in the table."""
    return round(2 * (WORTH * len(candidate.steps) - candidate.digits)) / 2, len(candidate.program.nodes)


def search(program: Program, aim: Aim, rules: Sequence[RewriteRule] | None = None) -> Candidate | None:
    """The best candidate that is proven to be the same function."""
    equal = (one for one in reached(program, aim, rules) if is_equal(program, one.program, aim.gradients.wrt))
    return next(equal, None)


def _candidates(program: Program, aim: Aim, rules: Sequence[RewriteRule], deadline: float) -> list[Candidate]:
    """All rewrites that were tried, in at most so many steps; the best of a step are the start of the next."""
    found: list[Candidate] = []
    beam = [Candidate(program, (), aim.digits)]
    seen: set[str] = set()
    for _ in range(MOST_STEPS):
        step: list[Candidate] = []
        for start in beam:
            for candidate in _next(start, aim, rules, seen):
                step.append(candidate)
                if len(seen) >= aim.most_tried or time.thread_time() > deadline:
                    return found + step
        found += step
        if any(candidate.digits >= aim.possible - WORTH for candidate in step):
            break
        # A step that gains nothing may open the way for one that does, so the beam keeps the best of any gain.
        beam = _varied(step)[:WIDTH]
    return found


def _varied(step: Sequence[Candidate]) -> list[Candidate]:
    """The best first; of equals, as all without a digit are, one of each rule before a second of any."""
    seen: Counter[tuple[float, str]] = Counter()
    order: list[tuple[float, int]] = []
    for one in step:
        kind = one.digits, one.steps[-1].rule.pattern
        order.append((-one.digits, seen[kind]))
        seen[kind] += 1
    return [one for _, one in sorted(zip(order, step), key=lambda pair: pair[0])]


def _next(start: Candidate, aim: Aim, rules: Sequence[RewriteRule], seen: set[str]) -> Iterator[Candidate]:
    graph = Graph(start.program)
    for nodes in _places(start.program, aim.places):
        for rule in rules:
            for rewrite in rewrites(start.program, graph, rule, nodes):
                key = _fingerprint(rewrite.program)
                if key in seen:
                    continue
                seen.add(key)
                digits = aim.digits_of(rewrite.program)
                if digits is not None:
                    yield Candidate(rewrite.program, (*start.steps, rewrite), digits)


def _places(program: Program, first: Sequence[int]) -> list[list[Node]]:
    """Nodes by the place in the source that computed them, the suspicious ones and their neighbours first."""
    nodes = [node for node in program.nodes if _is_open(node)]
    groups: dict[object, list[Node]] = {}
    for node in nodes:
        groups.setdefault(place_of(node), []).append(node)
    distance = distances(program, first)
    ordered = sorted(
        groups.values(), key=lambda group: min(distance.get(node.id, len(nodes)) for node in group)
    )
    return ordered[:MOST_PLACES]


def place_of(node: Node) -> object:
    """What nodes that the same piece of source has computed have in common."""
    return node.id if node.span is None or node.span.column is None else (node.span, node.op)


def _is_open(node: Node) -> bool:
    """Rules are about real numbers; inside a custom gradient the user has said what the derivative is."""
    return bool(node.inputs) and not node.is_discrete and not node.is_opaque and node.scope is None


def distances(program: Program, first: Sequence[int]) -> dict[int, int]:
    """Steps along the program from the nodes to begin at; without any, from the output."""
    known = {node.id for node in program.nodes}
    reached = dict.fromkeys((id for id in first if id in known), 0) or dict.fromkeys(program.outputs, 0)
    neighbours: dict[int, set[int]] = {}
    for node in program.nodes:
        for id in node.inputs:
            neighbours.setdefault(node.id, set()).add(id)
            neighbours.setdefault(id, set()).add(node.id)
    frontier = list(reached)
    while frontier:
        step = {other for id in frontier for other in neighbours.get(id, ()) if other not in reached}
        reached.update((other, reached[frontier[0]] + 1) for other in step)
        frontier = sorted(step)
    return reached


def _fingerprint(program: Program) -> str:
    """Two ways to the same program are tried once."""
    names: dict[int, str] = {}
    for node in program.nodes:
        own = f"{node.value}" if node.op == "constant" else f"{node.id}" if not node.inputs else ""
        names[node.id] = str(hash((node.op, own, repr(node.params), tuple(names[id] for id in node.inputs))))
    return " ".join(names[id] for id in program.outputs)
