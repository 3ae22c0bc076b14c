"""What a run has to say beside its gradients, and the report that is made of both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gradproof import __version__
from gradproof.audit.impure import calmed
from gradproof.audit.intended import finished
from gradproof.audit.versions import version_notes
from gradproof.diagnosis.report import GradientReport, Report, Script, Unchecked, untold_faults
from gradproof.internal_error import fault_note


@dataclass(frozen=True)
class Heard:
    """What is known of a run: `failures` are faults of ours, each with its traceback, that no gradient tells of.

    `last` are the last notes: what may have run unseen, where no gradient was heard of, and what the checks cost;
    `spent` are the seconds that they took.
    """

    frameworks: Mapping[str, str] = field(default_factory=dict)
    unchecked: tuple[Unchecked, ...] = ()
    failures: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    spent: float = 0.0


def report_of(
    gradients: Sequence[GradientReport],
    heard: Heard,
    script: Script | None = None,
    timing: Mapping[str, float] | None = None,
) -> Report:
    """The report, with the text of the files it speaks of."""
    return finished(
        Report(
            gradients=tuple(calmed(gradients)),
            version=__version__,
            frameworks=heard.frameworks,
            script=script,
            unchecked=heard.unchecked,
            timing={**(timing or {}), "checks": heard.spent},
            notes=(*version_notes(heard.frameworks), *_notes(gradients, heard), *heard.last),
        )
    )


def _notes(gradients: Sequence[GradientReport], heard: Heard) -> tuple[str, ...]:
    """Faults of ours that no gradient speaks of, each once, by its last line; and what else is to be remarked."""
    counts = Counter(map(fault_note, heard.failures))
    counts.update(untold_faults(gradients))
    return tuple(f"{text} ({n:,} times)" if n > 1 else text for text, n in counts.items()) + heard.remarks
