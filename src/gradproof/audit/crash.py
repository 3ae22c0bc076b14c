"""Connects a crash of the program with the gradient that led to it."""

from __future__ import annotations

from gradproof.diagnosis.report import Report


def connect(report: Report, exception: BaseException | None) -> Report:
    del exception
    return report
