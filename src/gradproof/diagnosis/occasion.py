"""What a case must show before a cause is asked: of a gradient that is right, few have anything to say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum, auto
from typing import TYPE_CHECKING

from gradproof.judge.verdict import Verdict

if TYPE_CHECKING:  # whoever only reads about causes needs no case
    from gradproof.diagnosis.case import Case


class Occasion(Enum):
    """Something to be seen of a case at once. A cause names all those of which one must be there for it to speak."""

    ALWAYS = auto()
    CORRECT = auto()
    INACCURATE = auto()
    WRONG = auto()
    UNDEFINED = auto()
    UNVERIFIED = auto()
    MISSING = auto()  # a reason why no gradient came back
    ZERO = auto()  # every entry that came back
    NONFINITE = auto()  # the place where a NaN or infinity arose
    FLIP = auto()  # a decision that rounding may turn
    GROWTH = auto()  # sizes that change along a loop or a stack of layers
    RULE = auto()  # a custom gradient that took part, or any rule that departs
    MODE = auto()  # the op by op run says something else
    AROUND = auto()  # whatever was noticed beside the program


_SHOWN: Mapping[Occasion, Callable[[Case], bool]] = {
    Occasion.ALWAYS: lambda case: True,
    Occasion.CORRECT: lambda case: case.verdict is Verdict.CORRECT,
    Occasion.INACCURATE: lambda case: case.verdict is Verdict.INACCURATE,
    Occasion.WRONG: lambda case: case.verdict is Verdict.WRONG,
    Occasion.UNDEFINED: lambda case: case.verdict is Verdict.UNDEFINED,
    Occasion.UNVERIFIED: lambda case: case.verdict is Verdict.UNVERIFIED,
    Occasion.MISSING: lambda case: case.source.missing is not None,
    Occasion.ZERO: lambda case: _is_zero(case),
    Occasion.NONFINITE: lambda case: case.irregular.nonfinite is not None,
    Occasion.FLIP: lambda case: bool(case.irregular.flips),
    Occasion.GROWTH: lambda case: case.sizes.growth is not None,
    Occasion.RULE: lambda case: bool(case.capture.rules.scopes) or any(vars(case.rules).values()),
    Occasion.MODE: lambda case: case.mode_fault is not None or case.mode_parting is not None,
    Occasion.AROUND: lambda case: _is_noticed(case),
}


def occasions(case: Case) -> frozenset[Occasion]:
    """All that a case shows."""
    return frozenset(occasion for occasion, is_shown in _SHOWN.items() if is_shown(case))


def _is_zero(case: Case) -> bool:
    observed = case.source.observed
    return observed is not None and bool(observed.size) and not observed.any()


def _is_noticed(case: Case) -> bool:
    """A history is there whenever a line has run; what counts is that it repeats itself."""
    source, history = case.source, case.capture.around.history
    repeats = history is not None and (bool(history.contains) or history.grows)
    others = any(value for name, value in vars(case.capture.around).items() if name != "history")
    is_changed = source.stale is not None or source.overwritten is not None
    return repeats or others or is_changed or case.detour.uncut is not None
