"""A finished case: one gradient, its verdict and all evidence, as the causes read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from gradproof.diagnosis.diagnostic import Fix
from gradproof.diagnosis.figures import Passage
from gradproof.diagnosis.first_nonfinite import Nonfinite
from gradproof.diagnosis.flips import Flip
from gradproof.diagnosis.flow import Place
from gradproof.diagnosis.growth import Growth
from gradproof.diagnosis.hidden_stop import HiddenStop
from gradproof.diagnosis.parting import ModeFault, Parting
from gradproof.diagnosis.singular import Singular
from gradproof.engine.refine import Enclosure
from gradproof.engine.run import Run
from gradproof.ir.capture import Capture, Pullback, Source
from gradproof.ir.program import Node, Program, ancestors
from gradproof.ir.span import Span
from gradproof.ir.surroundings import Cut
from gradproof.ir.types import Array
from gradproof.judge.blame import Departure
from gradproof.judge.custom import CustomFault, LibraryFault
from gradproof.judge.judge import Judgement
from gradproof.judge.suspicion import Suspicion
from gradproof.judge.verdict import Verdict
from gradproof.options import Options


@dataclass(frozen=True, eq=False)
class Rounding:
    """What the nodes of the recorded gradient program rounded away, and what became of it in the worst entry.

    `propagated` is what has become of the local errors at each node, `adjoints` how that entry depends on each, and
    `budget` each node's share in its error, `total_error`; the shares add up to one. `is_at_rest` says that the true
    gradient is zero nearby, so that all of it is rounding.
    """

    local_errors: Mapping[int, Array] = field(default_factory=dict)
    propagated: Mapping[int, Array] = field(default_factory=dict)
    adjoints: Mapping[int, Array] = field(default_factory=dict)
    total_error: float = 0.0
    budget: Mapping[int, float] = field(default_factory=dict)
    is_at_rest: bool = False


@dataclass(frozen=True, eq=False)
class RuleFaults:
    """The rules that are not the derivative, and what is wrong with the user's own and with the framework's.

    `boundless_rules` gave finite numbers for infinite slopes, a `hidden_stop` cuts terms out of a second derivative,
    `suspicions` are custom gradients that are right this time only.
    """

    departures: tuple[Departure, ...] = ()
    mistakes: tuple[CustomFault, ...] = ()
    library_faults: tuple[LibraryFault, ...] = ()
    boundless_rules: tuple[Pullback, ...] = ()
    hidden_stop: HiddenStop | None = None
    suspicions: tuple[Suspicion, ...] = ()

    @property
    def have_culprit(self) -> bool:
        """Whether a rule is known that accounts for a wrong gradient."""
        return bool(self.mistakes or self.library_faults or self.suspicions)


@dataclass(frozen=True, eq=False)
class Irregular:
    """Where the program is not smooth and finite.

    `nonfinite` says where a NaN or infinity arose, `singular` which op has no bounded slope, `without_value` leads from
    the op that has no value to the target, `flips` are decisions that exact arithmetic takes otherwise.
    """

    nonfinite: Nonfinite | None = None
    singular: Singular | None = None
    without_value: tuple[Place, ...] = ()
    flips: tuple[Flip, ...] = ()

    @property
    def kind(self) -> str | None:
        """How the NaN or infinity arose; None where all is finite, or nothing is known."""
        return None if self.nonfinite is None else self.nonfinite.kind


@dataclass(frozen=True, eq=False)
class Sizes:
    """How the size of the gradient changes along a loop or a stack of layers, and its sizes at every execution."""

    growth: Growth | None = None
    passages: tuple[Passage, ...] = ()


@dataclass(frozen=True, eq=False)
class Remedy:
    """What was run in search of a change that helps.

    `fix` brings back digits that rounding lost; `is_formula` says that it does so by another way of writing the same
    function: then the formula lost them; `is_problem` that none was found, and that roundings of the inputs alone would
    cost the true gradient as many digits. `rule_fix` is what a derivative rule of the user's should return instead.
    `replayed` says what the framework returns for a missing gradient when a tape sees all that ran.
    """

    fix: Fix | None = None
    rule_fix: Fix | None = None
    is_formula: bool = False
    is_problem: bool = False
    replayed: str = ""


@dataclass(frozen=True, eq=False)
class Detour:
    """The gradient of the function in which no number leaves the framework, where that is another one; the exits."""

    uncut: Enclosure | None = None
    cuts: tuple[Cut, ...] = ()


@dataclass(frozen=True, eq=False)
class Case:
    """Everything about the gradient for one source. Causes read it and compute nothing on their own.

    `proven` is the ball run of the forward program; `sources` has the text of the files that a patch is made from.
    """

    capture: Capture
    index: int
    judgement: Judgement
    options: Options
    proven: Run | None = None
    sources: Mapping[str, str] = field(default_factory=dict)
    rounding: Rounding = field(default_factory=Rounding)
    rules: RuleFaults = field(default_factory=RuleFaults)
    irregular: Irregular = field(default_factory=Irregular)
    sizes: Sizes = field(default_factory=Sizes)
    remedy: Remedy = field(default_factory=Remedy)
    detour: Detour = field(default_factory=Detour)
    mode_fault: ModeFault | None = None
    mode_parting: Parting | None = (
        None  # where its mode parts from the run op by op, and nothing proves which is right
    )

    @property
    def has_no_culprit(self) -> bool:
        """Whether no rule accounts for a wrong gradient, though all of them were tried.

        Time that was over, or a fault of ours, leaves evidence out: nothing may be concluded from what is missing.
        """
        return not (self.rules.have_culprit or self.capture.faults)

    @property
    def was_overwritten(self) -> bool:
        """Whether the rules were given other numbers than their ops had, which explains any wrong gradient."""
        change = self.source.overwritten
        # What a hand-written rule changes is a gradient, and no number of an op.
        is_of_ops = change is not None and change.kind != "custom-gradient"
        return is_of_ops and self.verdict in (Verdict.WRONG, Verdict.NONFINITE)

    @property
    def source(self) -> Source:
        return self.capture.sources[self.index]

    @property
    def verdict(self) -> Verdict:
        return self.judgement.verdict

    @property
    def true(self) -> Enclosure | None:
        """The enclosure of the true gradient."""
        return self.judgement.enclosure

    @property
    def lacks_a_value(self) -> bool:
        """Neither exact arithmetic nor the run has a value for the target.

        Either alone does not say so: balls that touch the end of a domain have no value, and in floating point
        exp(log(0)) is 0.
        """
        return bool(self.irregular.without_value) and not self.has_target_value

    @property
    def stands_alone(self) -> bool:
        """The target has a value at this point and none beside it, as (-2)**p has for whole p only."""
        reference = self.judgement.reference
        limit = None if reference is None else reference.limit
        is_alone = limit is not None and limit.kind == "no value"
        return is_alone and self.verdict is Verdict.UNDEFINED and self.has_target_value

    @property
    def has_target_value(self) -> bool:
        """Whether the target came out as a number, as far as is known."""
        program = self.capture.program
        return program is None or bool(np.isfinite(np.asarray(program[program.outputs[0]].value)).all())

    @property
    def subject(self) -> str:
        """The heading of the evidence: `d loss / d x`."""
        return f"d {self.capture.target} / d {self.source.name}"

    @property
    def program(self) -> Program | None:
        """The recorded gradient program where there is one, else the forward program."""
        return self.capture.gradient_program or self.capture.program

    def node(self, id: int) -> Node:
        program = self.program
        assert program is not None
        return program[id]

    @cached_property
    def reaching(self) -> frozenset[int]:
        """The nodes from which the returned gradient, or the target, was computed."""
        program = self.program
        if program is None:
            return frozenset()
        outputs = [self.source.recorded] if self.source.recorded is not None else program.outputs
        return frozenset(ancestors(program, [id for id in outputs if id is not None]))

    @cached_property
    def shares_by_span(self) -> list[tuple[Span, float, str]]:
        """Share of the error by source line, the largest first, with the op that has most of it."""
        totals: dict[tuple[str, int], float] = {}
        best: dict[tuple[str, int], tuple[float, Node]] = {}
        for id, share in self.rounding.budget.items():
            node = self.node(id)
            if node.span is None:
                continue
            key = (node.span.file, node.span.line)
            totals[key] = totals.get(key, 0.0) + share
            if key not in best or abs(share) > best[key][0]:
                best[key] = (abs(share), node)
        ordered = sorted(totals, key=lambda key: -abs(totals[key]))
        return [(_span(best[key][1]), totals[key], self._maker(best[key][1]).op) for key in ordered]

    def _maker(self, node: Node) -> Node:
        """The op itself, where a node is one of its several results."""
        return self.node(node.inputs[0]) if node.op == "item" else node


def _span(node: Node) -> Span:
    assert node.span is not None
    return node.span
