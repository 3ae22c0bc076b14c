"""The ops at which the modes of a table part, and from which on they are off, looked for once per mode.

A mode is held against its framework's run op by op, and that of another framework against the program's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np

from gradproof.clock import tick
from gradproof.diagnosis import words
from gradproof.diagnosis.parting import OpSeen, Parting
from gradproof.engine.refine import Enclosure
from gradproof.ir import types
from gradproof.ir.capture import Capture
from gradproof.ir.types import Array
from gradproof.judge.verdict import Verdict
from gradproof.modes.as_it_ran import AS_IT_RAN, own_parting, returned
from gradproof.modes.feed import Feed, feed
from gradproof.modes.losing import digits_lost
from gradproof.modes.model import Mode, ModeCell, ModeLine, NotRun
from gradproof.modes.parting import partings
from gradproof.modes.rows import gap_in_ulps, same_bits
from gradproof.modes.rule_parting import RuleSearch
from gradproof.modes.units import furthest

MOST_ALONE = 60  # values that are asked for one at a time, each a program to be compiled
MOST_SLOW = 12  # where each takes seconds
MOST_GRADIENTS = (
    8  # of a mode in which the op is looked for, those with the largest gaps: models have hundreds
)
OFF = (Verdict.INACCURATE, Verdict.NONFINITE)
SEEN = 0.25  # of a gap may be left unexplained

Values = dict[int, Array]


@dataclass(eq=False)
class PartingSearch:
    """The recorded ops of a call, as modes run them with all values in sight."""

    capture: Capture
    recorded: tuple[int | None, ...]
    wrt: tuple[int, ...]
    true: tuple[Enclosure | None, ...]
    is_recorded: bool = False  # the ops of the gradient are run themselves: no framework differentiates them
    singles: dict[str, tuple[Mode, ModeLine]] = field(default_factory=dict)  # by framework: its run op by op
    _seen: dict[tuple[str, str], Values] = field(default_factory=dict)
    _alone: dict[tuple[str, str], Values] = field(default_factory=dict)
    _rules: dict[tuple[str, str], tuple[Parting | None, Parting | None]] = field(default_factory=dict)

    def told(self, mode: Mode, line: ModeLine) -> ModeLine:
        """The line with the ops at which it parts, and with those from which on its gradients are off.

        What is computed in more digits than the program has differs at every op.
        """
        if line.policy is not None and _bits(line.policy) > _bits(line.dtype):
            return line
        base = self._base(mode)
        cells = list(line.cells)
        for k in self._furthest_apart(line, base):
            tick()
            found = self._partings(mode, k, cells[k], base)
            cells[k] = replace(cells[k], partings=found)
        for k in self._worst(cells):
            tick()
            cells[k] = replace(cells[k], lost=self._lost(mode, k, cells[k]))
        found_line = replace(line, cells=tuple(cells))
        if mode.is_single and self.singles.get(mode.framework, (None, None))[0] is mode:
            self.singles[mode.framework] = (mode, found_line)
        return found_line

    def _base(self, mode: Mode) -> tuple[Mode, ModeLine] | None:
        """What a mode is held against."""
        own = self.capture.framework
        name = mode.framework if not mode.is_single else own if mode.framework != own else ""
        return None if self.capture.gradient_program is None else self.singles.get(name)

    def _furthest_apart(self, line: ModeLine, base: tuple[Mode, ModeLine] | None) -> list[int]:
        """The gradients that differ most from those of the base."""
        if base is None:
            return []
        gaps = {
            k: _gap(cell.gradient, base[1].cells[k].gradient)
            for k, cell in enumerate(line.cells)
            if self.recorded[k] is not None and cell.gradient is not None
        }
        return sorted((k for k, gap in gaps.items() if gap), key=lambda k: -gaps[k])[:MOST_GRADIENTS]

    def _worst(self, cells: Sequence[ModeCell]) -> list[int]:
        off = [k for k, cell in enumerate(cells) if cell.verdict in OFF and self.recorded[k] is not None]
        return sorted(off, key=lambda k: cells[k].digits or 0.0)[:MOST_GRADIENTS]

    def _partings(
        self, mode: Mode, k: int, cell: ModeCell, base: tuple[Mode, ModeLine] | None
    ) -> tuple[Parting, ...]:
        """Where the recorded ops part when they run in the mode, as far as that explains the gap in the gradient.

        A compiler fuses less where every value is asked for. Where that hides the gap, each value is asked for alone.
        And where the gap does not come out even so, what the forward ops do is told, and which derivative is another.
        """
        output, gradient = self.recorded[k], cell.gradient
        assert base is not None and output is not None and gradient is not None
        own, before = base[0], base[1].cells[k].gradient
        index = (0,) * gradient.ndim
        if before is not None and before.shape == gradient.shape:
            index = furthest(gradient, before)
        found: tuple[Parting, ...] = ()
        beside = words.framework_name(own.framework) if own.framework != mode.framework else ""
        try:
            single = self._in_sight(own)
            if mode.title == AS_IT_RAN:
                return own_parting(self._fed.program, single, self._in_sight(mode), output)
            for seen in self._shown_by(mode, output, gradient, before):
                found = partings(self._fed.program, single, seen, output, index, beside) or found
                if found and _is_what_ran(seen[output], gradient, before):
                    return found
        except NotRun:
            return ()
        forward = tuple(replace(one, share=None) for one in found[:1] if one.phase == "forward")
        another, nearly = self._by_rule(own, mode, beside)
        if another is not None:
            return (*forward, another)
        return forward or (() if nearly is None else (nearly,))

    def _lost(self, mode: Mode, k: int, cell: ModeCell) -> OpSeen | None:
        """From which op on a gradient is off: as op by op, or by what the recorded ops do in the mode."""
        output, gradient, true = self.recorded[k], cell.gradient, self.true[k]
        if output is None or gradient is None or true is None or cell.worst is None:
            return None
        index = cell.worst
        error = complex(gradient[index]) - complex(true.mid[index])
        single = self.singles.get(mode.framework)
        if single is not None and single[0] is not mode and single[1].cells[k].lost is not None:
            before = single[1].cells[k].gradient
            if before is not None and _is_as_far(complex(gradient[index]) - complex(before[index]), error):
                return single[1].cells[k].lost
        for seen in (*self._runs(mode), *self._recorded_run(gradient, k)):
            if _is_as_far(complex(seen[output][index]) - complex(gradient[index]), error):
                found = digits_lost(self._fed.program, seen, output, index, error)
                if found is not None:
                    return next((one for one in cell.partings if one.node == found.node), found)
        decisive = [
            one for one in cell.partings if one.share is not None or one.whose.kind == "derivative-rule"
        ]
        base = self._base(mode)
        is_first = base is not None and base[1].cells[k].verdict is Verdict.CORRECT
        return decisive[-1] if decisive and is_first else None

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

    def _shown_by(self, mode: Mode, output: int, gradient: Array, before: Array | None) -> Iterator[Values]:
        """The values of a mode, all at once; and each asked for alone, if the gradient, asked for so, has the gap."""
        yield self._in_sight(mode)
        fed, key = self._fed, (mode.framework, mode.name)
        wanted = _wanted(fed)
        if mode.is_single or len(wanted) > (MOST_SLOW if mode.is_slow else MOST_ALONE):
            return
        if key not in self._alone:
            last = mode.values(feed(fed.program, [output]), [output])[0]
            if not _is_what_ran(last, gradient, before):
                return
            values = {**self._in_sight(mode), output: last}
            for id in wanted:
                if id != output:
                    values |= zip([id], mode.values(feed(fed.program, [id]), [id]))
                    tick()
            self._alone[key] = values
        yield self._alone[key]

    def _runs(self, mode: Mode) -> Iterator[Values]:
        """The values of a mode, all at once; and one by one, where they were asked for already."""
        with suppress(NotRun):
            yield self._in_sight(mode)
            yield from (self._alone[key] for key in [(mode.framework, mode.name)] if key in self._alone)

    def _recorded_run(self, gradient: Array, k: int) -> Iterator[Values]:
        """What was recorded of the user's own run, where it returned this gradient."""
        observed = next(one.observed for one in self.capture.sources if one.node == self.wrt[k])
        if self.capture.gradient_program is not None and same_bits(gradient, observed):
            yield returned(self.capture.gradient_program)

    def _by_rule(self, own: Mode, mode: Mode, beside: str) -> tuple[Parting | None, Parting | None]:
        """A policy computes the same rules in fewer bits: no rule of it is another."""
        if self.is_recorded or self.capture.copies is not None or mode.policy is not None:
            return None, None
        key = (mode.framework, mode.name)
        if key not in self._rules:
            self._rules[key] = RuleSearch(self.capture, self.wrt, own, mode, beside).found()
        return self._rules[key]

    def _beside(self, line: ModeLine) -> ModeLine | None:
        own = self.singles.get(line.framework, (None, None))
        is_single = own[0] is not None and own[0].name == line.mode
        return self.singles.get(self.capture.framework, (None, None))[1] if is_single else own[1]

    def unexplained(self, lines: Sequence[ModeLine], dtype: str) -> list[str]:
        """The modes that differ from the run op by op at an op that was not seen."""
        apart = []
        for line in lines:
            beside = self._beside(line)
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


def _is_as_far(one: complex, error: complex) -> bool:
    """Whether a difference is small beside an error, or both are not finite."""
    if not np.isfinite(error):
        return not np.isfinite(one) or one == 0
    return bool(abs(one) <= SEEN * abs(error))


def _bits(dtype: str) -> int:
    return types.precision_bits(dtype)


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
