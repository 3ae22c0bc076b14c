"""Runs a captured call in one mode after another, and keeps what each returned: the lines of the table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from gradproof.clock import TimeIsOver, tick
from gradproof.diagnosis import words
from gradproof.ir import types
from gradproof.ir.capture import Capture
from gradproof.ir.program import Program
from gradproof.ir.types import Array
from gradproof.judge.verdict import Verdict
from gradproof.modes.apart_where import PartingSearch
from gradproof.modes.feed import Feed, feed, in_precision, is_all_real
from gradproof.modes.model import (
    PRECISIONS,
    LackingMode,
    Mode,
    ModeCell,
    ModeLine,
    ModeSource,
    NotRun,
)
from gradproof.modes.rows import (
    Returned,
    asked_of,
    gap_in_ulps,
    gradients_of,
    measured,
    returns_again,
    same_bits,
)
from gradproof.options import Options

N_OTHERS = len(PRECISIONS) - 1

Key = tuple[int, str | None]  # which mode, and the precision if it is another than the program's


@dataclass(eq=False)
class ModeTable:
    """A call that is being compared: its program, what is differentiated for, and the lines so far.

    Where the framework would differentiate otherwise than the user did (a rule written by hand, a derivative of a
    derivative), what `is_recorded` is run: the ops of the gradient itself. With `own_is_recorded` only the program's
    own framework runs these: a function of its library has a rule that no other framework would follow.
    """

    capture: Capture
    options: Options
    sources: tuple[ModeSource, ...]
    wrt: tuple[int, ...]
    recorded: tuple[int | None, ...]
    sizes: Sequence[Array | None]
    dtype: str
    is_recorded: bool = False
    own_is_recorded: bool = False
    lacking: list[LackingMode] = field(default_factory=list)
    lines: dict[Key, ModeLine] = field(default_factory=dict)
    over: str | None = None  # why not everything was run
    _feeds: dict[tuple[str | None, bool], Feed] = field(default_factory=dict)

    @property
    def program(self) -> Program:
        return self._program(self.is_recorded)

    def _program(self, is_recorded: bool) -> Program:
        found = self.capture.gradient_program if is_recorded else self.capture.program
        assert found is not None
        return found

    @property
    def target_program(self) -> Program:
        """What computes the target; that of a Jacobian is made of copies of it."""
        copies = self.capture.copies
        return self._program(False) if copies is None else copies.of

    @property
    def outputs(self) -> list[int]:
        """What is asked of a run of the recorded ops: the target, and its gradients."""
        return [self.target_program.outputs[0], *(id for id in self.recorded if id is not None)]

    def ran(self, mode: Mode, dtype: str | None) -> Returned:
        """The call in a mode, in its own precision or another; what was compiled for it is found again by its feed."""
        is_own = mode.framework == self.capture.framework
        is_recorded = self.is_recorded or (self.own_is_recorded and is_own)
        key = (dtype, is_recorded)
        if key not in self._feeds:
            whole = self._program(is_recorded)
            program = whole if dtype is None else in_precision(whole, dtype)
            self._feeds[key] = feed(program, self.outputs) if is_recorded else asked_of(program, self.wrt)
        if not is_recorded:
            return gradients_of(mode, self._feeds[key], self.wrt)
        value, *gradients = mode.values(self._feeds[key], self.outputs)
        return value, list(gradients)

    def follows_its_library(self, mode: Mode) -> bool:
        """Whether the recorded ops return the user's bits in the mode they ran in, and its own derivative does not."""
        if self.is_recorded or self.capture.gradient_program is None or None in self.recorded:
            return False
        try:
            if self._is_users(self.ran(mode, None)[1]):
                return False
            found = mode.values(feed(self._program(True), self.outputs), self.outputs)
        except NotRun:
            return False
        return self._is_users(found[1:])

    def _is_users(self, gradients: Sequence[Array | None]) -> bool:
        return all(same_bits(one, source.observed) for one, source in zip(gradients, self.sources))


def fill(table: ModeTable, modes: Sequence[Mode], search: PartingSearch) -> None:
    """Run every mode, what is asked most first: as the program is, the op at which they part, then other precisions.

    Modes of other frameworks come after all that the program's own has; those of a process of their own, which starts
    meanwhile, after those of this one, and slow ones last. Of a slow mode that is not the user's only what it returns
    is asked for so early: where it parts, and its other precisions, each a program that takes seconds, come after all
    else. When the time is over, what is there is kept, and what was not run is listed with that reason.
    """
    order = sorted(range(len(modes)), key=lambda k: _turn(table, modes[k]))
    plain: list[Key] = [(k, None) for k in order]
    others: list[Key] = [(k, one) for k in order for one in _precisions(modes[k], table)]
    waiting = dict.fromkeys([*plain, *others])

    def first(key: Key) -> None:
        line = _line(table, modes[key[0]], key[1])
        del waiting[key]
        if line is not None:
            table.lines[key] = line
            if modes[key[0]].is_single and key in plain:
                search.singles.setdefault(line.framework, (modes[key[0]], line))

    def again(key: Key) -> None:
        if key in table.lines:
            table.lines[key] = _repeated(table, modes[key[0]], key[1], table.lines[key])

    def where(key: Key) -> None:
        if key in table.lines:
            table.lines[key] = search.told(modes[key[0]], table.lines[key])

    late = [k for k in order if modes[k].is_slow and not is_users(table, modes[k])]
    steps = ((first, plain), (where, plain), (again, plain), (first, others), (again, others))
    early = ((first, plain), (again, plain))
    try:
        for turn in dict.fromkeys(_turn(table, modes[k]) for k in order):
            _begin(modes[k] for k in order if _turn(table, modes[k])[0] == turn[0])
            same = [k for k in order if _turn(table, modes[k]) == turn]
            _do(early, [k for k in same if k in late])
            _do(steps, [k for k in same if k not in late])
        _do([step for step in steps if step not in early], late)
    except TimeIsOver as over:
        table.over = str(over)
        table.lacking += [LackingMode(*name, str(over)) for name in _unreached(modes, list(waiting))]


def _do(steps: Iterable[tuple[Callable[[Key], None], Sequence[Key]]], which: Sequence[int]) -> None:
    """One step after the other, each for all of the modes."""
    for do, keys in steps:
        for key in keys:
            if key[0] in which:
                tick()
                do(key)


def is_users(table: ModeTable, mode: Mode) -> bool:
    """Whether the user's program ran in the mode."""
    return (mode.framework, mode.runs_as) == (table.capture.framework, table.capture.run.mode)


def _begin(modes: Iterable[Mode]) -> None:
    for mode in modes:
        if mode.begin is not None:
            mode.begin()


def _turn(table: ModeTable, mode: Mode) -> tuple[bool, bool, bool]:
    return mode.framework != table.capture.framework, mode.is_slow, mode.is_apart


def _unreached(modes: Sequence[Mode], keys: Sequence[Key]) -> list[tuple[str, str]]:
    """By framework and name; the precisions of a mode together, and those of one that never ran unsaid."""
    found = []
    for k in dict.fromkeys(k for k, _ in keys):
        dtypes = [dtype for other, dtype in keys if other == k and dtype is not None]
        which = "other precisions" if len(dtypes) == N_OTHERS else words.comma_list(dtypes)
        name = _named(modes[k], None if (k, None) in keys else which)
        found.append((modes[k].framework, name))
    return found


def _named(mode: Mode, dtype: str | None) -> str:
    return mode.name if dtype is None else f"{mode.name} in {dtype}"


def _precisions(mode: Mode, table: ModeTable) -> list[str]:
    """The other precisions in which the whole program is run too."""
    return [one for one in mode.precisions if one != table.dtype] if is_all_real(table.program) else []


def _line(table: ModeTable, mode: Mode, dtype: str | None) -> ModeLine | None:
    try:
        if mode.policy is not None and types.is_complex(table.dtype):
            raise NotRun("it is about real numbers, and these are complex")
        value, gradients = table.ran(mode, dtype)
    except NotRun as reason:
        table.lacking.append(LackingMode(mode.framework, _named(mode, dtype), str(reason)))
        return None
    shown = dtype or table.dtype
    cells = tuple(cell_of(table, k, one, mode.policy or shown) for k, one in enumerate(gradients))
    # What was compiled in other pieces, or drawn anew, is not the user's run, whatever the mode is called.
    is_own = dtype is None and is_users(table, mode) and not any(cell.gap_ulps for cell in cells)
    return ModeLine(
        mode.framework, mode.name, shown, value, cells, is_own, title=mode.words, policy=mode.policy
    )


def _repeated(table: ModeTable, mode: Mode, dtype: str | None, line: ModeLine) -> ModeLine:
    """The line, and whether the mode returns its bits again."""
    before = (line.value, [cell.gradient for cell in line.cells])
    repeats = returns_again(partial(table.ran, mode, dtype), before)
    if mode.rethreaded is None or dtype is not None:
        return replace(line, repeats=repeats)
    rethreads = returns_again(partial(table.ran, mode.rethreaded, None), before)
    return replace(line, repeats=repeats, rethreads=rethreads)


def cell_of(table: ModeTable, k: int, gradient: Array | None, dtype: str) -> ModeCell:
    source = table.sources[k]
    verdict, found = measured(gradient, source.true, dtype, table.sizes[k], table.options)
    gap = gap_in_ulps(gradient, source.observed)
    digits = None if found is None or found.outcome in ("unbounded",) else found.digits
    if found is not None and found.outcome == "nonfinite":
        digits = 0.0
    if source.beyond and gradient is not None and digits is None:
        worst = next(iter(source.beyond))
        is_number = all(np.isfinite(gradient[index]) for index in source.beyond)
        return ModeCell(gradient, Verdict.INACCURATE if is_number else Verdict.NONFINITE, 0.0, gap, worst)
    return ModeCell(gradient, verdict, digits, gap, None if found is None else found.worst)
