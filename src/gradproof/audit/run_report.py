"""The report of a program that has ended, made of what was found and of how it ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gradproof.audit.crash import ProgramEnd, explained
from gradproof.audit.facts import Heard, report_of
from gradproof.audit.relocate import relative_to
from gradproof.diagnosis.diagnostic import Diagnostic
from gradproof.diagnosis.disagreement import between_replicas, without_fixes_of_one_replica
from gradproof.diagnosis.report import GradientReport, Report, Script


def run_report(
    gradients: Sequence[GradientReport],
    heard: Heard,
    script: Script | None,
    seconds: float,
    ending: ProgramEnd | None,
    crash: Diagnostic | None,
    folder: str,
) -> Report:
    """`seconds` are the program's own; files are named from the folder that it was started in."""
    report = report_of(gradients, heard, script, {"script": seconds})
    named = relative_to(explained(report, ending, crash), folder)
    return replace(
        named,
        gradients=without_fixes_of_one_replica(named.gradients),
        notes=(*named.notes, *between_replicas(named.gradients)),
    )


def not_looked_at(report: Report, withheld: Sequence[str]) -> Report:
    """The same with a note for everything that was not run again after the program's end."""
    left_out = tuple(
        f"not looked at: {what}; `gradproof run --rerun` looks, in a second process" for what in withheld
    )
    return replace(report, notes=(*report.notes, *left_out))
