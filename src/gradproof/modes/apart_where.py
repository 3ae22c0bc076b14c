"""The ops at which the modes of a table part from their framework's run op by op, looked for once per mode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from gradproof.clock import tick
from gradproof.diagnosis import words
from gradproof.diagnosis.parting import Parting
from gradproof.ir import types
from gradproof.ir.capture import Capture
from gradproof.ir.types import Array
from gradproof.modes.feed import Feed, feed
from gradproof.modes.model import Mode, ModeLine, NotRun
from gradproof.modes.parting import partings
from gradproof.modes.rows import gap_in_ulps, same_bits
from gradproof.modes.rule_parting import rule_parting

MOST_ALONE = 60  # values that are asked for one at a time, each a program to be compiled
MOST_GRADIENTS = (
    8  # of a mode in which the op is looked for, those with the largest gaps: models have hundreds
)
AS_IT_RAN = "as it ran"  # in sentences: the user's own run, where no mode returns its bits
SEEN = 0.25  # of a gap may be left unexplained

Values = dict[int, Array]


@dataclass(eq=False)
class PartingSearch:
    """The recorded ops of a call, as modes run them with all values in sight."""

    capture: Capture
    recorded: tuple[int | None, ...]
    singles: dict[str, tuple[Mode, ModeLine]] = field(default_factory=dict)  # by framework: its run op by op
    _seen: dict[tuple[str, str], Values] = field(default_factory=dict)
    _alone: dict[tuple[str, str], Values] = field(default_factory=dict)
    _rules: dict[tuple[str, str], tuple[Parting, ...]] = field(default_factory=dict)

    def with_partings(self, mode: Mode, line: ModeLine) -> ModeLine:
        """The line with the ops, for those of its gradients that differ most from the run op by op."""
        if self.capture.gradient_program is None or mode.is_single or mode.framework not in self.singles:
            return line
        before = self.singles[mode.framework][1]
        gaps = {
            k: _gap(cell.gradient, before.cells[k].gradient)
            for k, cell in enumerate(line.cells)
            if self.recorded[k] is not None
        }
        chosen = sorted((k for k, gap in gaps.items() if gap), key=lambda k: -gaps[k])[:MOST_GRADIENTS]
        cells = list(line.cells)
        for k in chosen:
            tick()
            output, gradient = self.recorded[k], cells[k].gradient
            if output is not None and gradient is not None:
                found = self._partings(mode, output, gradient, before.cells[k].gradient)
                cells[k] = replace(cells[k], partings=found)
        return replace(line, cells=tuple(cells))

    def _partings(
        self, mode: Mode, output: int, gradient: Array, before: Array | None
    ) -> tuple[Parting, ...]:
        """Where the recorded ops part when they run in the mode, as far as that explains the gap in the gradient.

        A compiler fuses less where every value is asked for. Where that hides the gap, each value is asked for alone.
        And where the gap does not come out even so, only what the forward ops do is told: the derivative is another.
        """
        own = self.singles[mode.framework][0]
        fed = self._fed
        index = _furthest(gradient, before)
        found: tuple[Parting, ...] = ()
        try:
            single = self._in_sight(own)
            for values in (self._in_sight, self._one_by_one):
                seen = values(mode)
                found = partings(fed.program, single, seen, output, index) if seen else found
                if seen and found and _is_what_ran(seen[output], gradient, before):
                    return found
        except NotRun:
            return ()
        by_rule = self._by_rule(own, mode)
        return by_rule or tuple(replace(one, share=None) for one in found[:1] if one.phase == "forward")

    @property
    def _fed(self) -> Feed:
        assert self.capture.gradient_program is not None
        return feed(self.capture.gradient_program, [id for id in self.recorded if id is not None])

    def _in_sight(self, mode: Mode) -> Values:
        key = (mode.framework, mode.name)
        if key not in self._seen:
            fed = self._fed
            wanted = _wanted(fed)
            self._seen[key] = {**fed.given, **fed.literals, **dict(zip(wanted, mode.values(fed, wanted)))}
        return self._seen[key]

    def _one_by_one(self, mode: Mode) -> Values:
        """Every value asked for alone; none where they are too many."""
        key = (mode.framework, mode.name)
        fed = self._fed
        wanted = _wanted(fed)
        if len(wanted) > MOST_ALONE:
            return {}
        if key not in self._alone:
            values = dict(self._in_sight(mode))
            for id in wanted:
                values |= zip([id], mode.values(feed(fed.program, [id]), [id]))
                tick()
            self._alone[key] = values
        return self._alone[key]

    def _by_rule(self, own: Mode, mode: Mode) -> tuple[Parting, ...]:
        key = (mode.framework, mode.name)
        if key not in self._rules:
            self._rules[key] = rule_parting(self.capture, own, mode)
        return self._rules[key]

    def unexplained(self, lines: Sequence[ModeLine], dtype: str) -> list[str]:
        """The modes that differ from the run op by op at an op that was not seen."""
        apart = []
        for line in lines:
            beside = self.singles.get(line.framework, (None, None))[1]
            if beside is None or line.dtype != dtype or line.policy is not None or line.title == AS_IT_RAN:
                continue
            pairs = zip(line.cells, beside.cells)
            differs = any(_gap(one.gradient, two.gradient) for one, two in pairs)
            if differs and not any(cell.partings for cell in line.cells):
                apart.append(f"{words.framework_name(line.framework)} {line.title}")
        told = words.comma_list(list(dict.fromkeys(apart)))
        why = "with its values in sight it computes otherwise, or its own derivative rules do"
        text = f"{told}: another gradient than op by op, and the op at which they part was not seen: {why}"
        return [text] if told else []


def _wanted(fed: Feed) -> list[int]:
    return [node.id for node in fed.computed if not node.is_discrete and node.dtype != types.TUPLE]


def _gap(one: Array | None, other: Array | None) -> float:
    """How far two gradients are apart, above zero wherever a bit of them differs."""
    if one is None or same_bits(one, other):
        return 0.0
    gap = gap_in_ulps(one, other)
    return np.inf if gap is None else gap or 1.0


def _is_what_ran(seen: Array, gradient: Array | None, single: Array | None) -> bool:
    """Whether the recorded ops, run in the mode with all their values in sight, show the gap that the mode has.

    The framework's own derivative may compute otherwise than the ops that were recorded, and a compiler may do
    something else where every value is asked for: what is seen then does not explain the gap.
    """
    off, gap = gap_in_ulps(seen, gradient), gap_in_ulps(gradient, single)
    return off is not None and gap is not None and (off == 0 or off <= SEEN * gap)


def _furthest(one: Array, other: Array | None) -> tuple[int, ...]:
    if other is None or other.shape != one.shape:
        return (0,) * one.ndim
    gap = np.abs(one.astype(np.complex128) - other.astype(np.complex128))
    gap = np.where(np.isnan(gap), np.inf, gap)
    return tuple(int(k) for k in np.unravel_index(int(np.argmax(gap)), one.shape))
