"""What the facts alone tell of a gradient call: its place, its names, why a gradient is missing; no program."""

from __future__ import annotations

from dataclasses import replace

from gradproof.frontends.missing.why import find_break, find_break_of_raised
from gradproof.frontends.record.model import GradientCall, Operand
from gradproof.ir.capture import Break, CallRun, Capture, Source
from gradproof.ir.span import Span

UNKNOWN_PLACE = Span("<unknown>", 0)


def unread(call: GradientCall, reason: str) -> Capture:
    operands = _moved_operands(call) if call.api == "jvp" else call.sources
    sources = tuple(_bare_source(call, k, operand) for k, operand in enumerate(operands))
    return Capture(
        call.framework,
        call.span or UNKNOWN_PLACE,
        target_name(call),
        sources,
        None,
        run=CallRun(call.occurrence, exception=call.exception, replica=call.replica),
        failure=reason,
    )


def _moved_operands(call: GradientCall) -> tuple[Operand, ...]:
    """In forward mode there is one derivative for each target, along all the sources together."""
    return tuple(replace(target, name=name_of_sources(call)) for target in call.targets)


def name_of_sources(call: GradientCall) -> str:
    return ", ".join(operand.name for operand in call.sources)


def _bare_source(call: GradientCall, k: int, operand: Operand) -> Source:
    observed = call.observed[k] if k < len(call.observed) else None
    array = None if observed is None else observed.array
    broken = broken_at(call, 0 if call.api == "jvp" else k) if observed is None and call.sources else None
    unseen = observed is not None and array is None
    return Source(
        operand.name, operand.value.shape or (), operand.value.dtype, None, array, None, broken, unseen
    )


def broken_at(call: GradientCall, k: int) -> Break | None:
    """Why there is no gradient. A call that failed has an exception to say it, which may name an op."""
    return find_break(call, k) if call.observed else find_break_of_raised(call, k)


def target_name(call: GradientCall) -> str:
    return ", ".join(target.name for target in call.targets) or "target"
