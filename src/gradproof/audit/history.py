"""What earlier executions of a gradient call were about, to see whether steps pile up on each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from gradproof.ir.capture import Capture
from gradproof.ir.surroundings import History, Spoilt
from gradproof.ir.types import Array

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

    def learn(self, captures: Iterable[Capture]) -> None:
        """From now on it is known which gradients came back NaN or infinite: an update may have used them."""
        for source in (one for capture in captures for one in capture.sources):
            if source.observed is not None and not _is_finite(source.observed):
                self._spoilt[source.name] = Spoilt(source.name, ~np.isfinite(np.asarray(source.observed)))

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


def _is_finite(array: Array) -> bool:
    """A sum is no number if one of its terms is none; all entries are asked only where it is not."""
    with np.errstate(all="ignore"):
        return bool(np.isfinite(np.sum(array)) or np.isfinite(array).all())
