"""Whether the compiler spoiled a gradient that is off, asked once for all gradients of a call."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from gradproof.diagnosis.case import Case
from gradproof.diagnosis.parting import ModeFault, Parting
from gradproof.frontends.select import usual_modes
from gradproof.judge.call import JudgedCall
from gradproof.judge.verdict import Verdict
from gradproof.modes.at_fault import mode_faults
from gradproof.options import Options

_ASKED = (Verdict.INACCURATE, Verdict.WRONG, Verdict.NONFINITE)


class ModeFaults:
    """The modes at fault in one judged call, looked for when the first of its gradients needs them."""

    def __init__(self, judged: JudgedCall, options: Options) -> None:
        self.judged, self.options = judged, options

    def __call__(self, case: Case) -> Case:
        is_compiled = case.capture.run.mode != "eager"
        if not is_compiled or not _is_asked(case) or case.capture.run.exception is not None:
            return case
        found = self._found.get(case.source.name)
        if isinstance(found, Parting):
            return replace(case, mode_parting=found)
        return replace(case, mode_fault=found)

    @cached_property
    def _found(self) -> dict[str, ModeFault | Parting]:
        return mode_faults(self.judged, usual_modes(self.judged.capture.framework), self.options)


def _is_asked(case: Case) -> bool:
    """Off; or not even a number where there is no true gradient, which another mode may be spared."""
    observed = case.source.observed
    is_broken = observed is not None and not np.isfinite(observed).all()
    return case.verdict in _ASKED or (case.verdict is Verdict.UNDEFINED and is_broken)
