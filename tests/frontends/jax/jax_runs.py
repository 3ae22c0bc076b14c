"""Runs a piece of a JAX program with the hooks in, and judges every gradient that they saw."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gradproof.audit.examine import examine
from gradproof.diagnosis.report import GradientReport
from gradproof.frontends.jax.attach import attach
from gradproof.ir.capture import Capture
from gradproof.options import Options


def captured(run: Callable[[], Any], policy: Callable[[int], bool] = lambda n: True) -> list[Capture]:
    """The captures of all gradient calls; a fault of ours fails the test."""
    found: list[Capture] = []

    def receive(read: Callable[[], Sequence[Capture]], unread: Callable[[str], Capture]) -> None:
        found.extend(read())

    attachment = attach(receive, policy)
    try:
        run()
    finally:
        attachment.remove()
    assert "".join(attachment.failures()) == ""
    assert [fault for capture in found for fault in capture.faults] == []
    return found


def judged(run: Callable[[], Any]) -> list[GradientReport]:
    """The reports on all gradients of a piece of a program."""
    return [report for capture in captured(run) for report in examine(capture, Options())]
