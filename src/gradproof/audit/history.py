"""What earlier executions of a gradient call were about, to see whether steps pile up on each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from gradproof.diagnosis.report import GradientReport
from gradproof.ir.capture import Capture
from gradproof.ir.surroundings import History, Spoilt

MOST_KEPT = 16  # executions that are checked thin out; so many cover more steps than a program takes


@dataclass(frozen=True)
class _Step:
    occurrence: int
    targets: tuple[int, ...]
    size: int


@dataclass(eq=False)
class Histories:
    """The steps seen so far, by the place of the call and the name of its target."""

    _steps: dict[tuple[str, int, str], list[_Step]] = field(default_factory=lambda: defaultdict(list))
    _spoilt: dict[str, Spoilt] = field(default_factory=dict)

    def learn(self, gradients: Iterable[GradientReport]) -> None:
        """From now on it is known which gradients came back NaN or infinite: an update may have used them."""
        for one in gradients:
            lost = None if one.observed is None else ~np.isfinite(np.asarray(one.observed))
            if lost is not None and lost.any():
                self._spoilt[one.source] = Spoilt(one.source, lost)

    @property
    def spoilt(self) -> frozenset[tuple[int, ...]]:
        """The shapes of gradients that came back so."""
        return frozenset(self._spoilt)

    def noted(self, capture: Capture) -> Capture:
        """The capture with its history; from now on it is part of that of later ones."""
        steps = self._steps[capture.call.file, capture.call.line, capture.target]
        earlier = [step for step in steps if step.occurrence < capture.run.occurrence]
        here = _Step(capture.run.occurrence, capture.run.targets, len(capture.run.made_of))
        spoilt = tuple(self._spoilt.values())
        if not capture.run.targets:
            known = replace(capture.around, history=History(spoilt=spoilt) if spoilt else None)
            return replace(capture, around=known)
        if here.occurrence not in {step.occurrence for step in steps} and len(steps) < MOST_KEPT:
            steps.append(here)
        contained = [s for s in earlier if s.targets != here.targets and capture.run.made_of & set(s.targets)]
        history = History(
            contained[-1].occurrence if contained else 0,
            tuple((step.occurrence, step.size) for step in (*earlier, here)),
            spoilt,
        )
        return replace(capture, around=replace(capture.around, history=history))


def after_spoilt(capture: Capture, spoilt: frozenset[tuple[int, ...]]) -> Capture:
    """A capture that was noted before it was known which gradients came back NaN or infinite before it."""
    if not spoilt:
        return capture
    history = replace(capture.around.history or History(), spoilt=spoilt)
    return replace(capture, around=replace(capture.around, history=history))
