"""Whether the compiler spoiled a gradient that is off, asked once for all gradients of a call."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from gradproof.diagnosis.case import Case
from gradproof.diagnosis.parting import ModeFault
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
        if not is_compiled or case.verdict not in _ASKED or case.capture.run.exception is not None:
            return case
        return replace(case, mode_fault=self._found.get(case.source.name))

    @cached_property
    def _found(self) -> dict[str, ModeFault]:
        return mode_faults(self.judged, usual_modes(self.judged.capture.framework), self.options)
