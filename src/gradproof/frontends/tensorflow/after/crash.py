"""The exception that ended a program that uses TensorFlow: what it means, and which gradients it prevented."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from types import FrameType, TracebackType
from typing import Any

from gradproof.diagnosis.words import array_text, capped_list
from gradproof.frontends.assemble.captures import to_captures
from gradproof.frontends.attachment import Crash
from gradproof.frontends.check.moved_name import only_place, put_back
from gradproof.frontends.record.model import GradientCall
from gradproof.frontends.record.source import is_users, span_of
from gradproof.frontends.tensorflow.after.dtype import casting, diagnose, find_mismatch
from gradproof.frontends.tensorflow.after.next_call import Unfinished, find_unfinished, finish, named_only
from gradproof.frontends.tensorflow.after.symbolic_values import no_numbers_yet
from gradproof.frontends.tensorflow.after.tape_misuse import used_up
from gradproof.frontends.tensorflow.observation import TensorFlowObservation
from gradproof.ir.capture import Capture


def explain(observation: TensorFlowObservation, error: BaseException) -> Crash | None:
    """None where nothing is known of it and no gradient was under way."""
    place = _last_user_place(error.__traceback__)
    if place is None:
        return None
    frame, offset = place
    failed = span_of((frame.f_code, offset))
    mismatch = find_mismatch(error, failed)
    tapes = observation.open_tapes()
    waiting = find_unfinished(error.__traceback__, tapes)
    moved = only_place(error)
    mends = [] if mismatch is None else [casting(mismatch)]
    mends += [] if moved is None else [put_back(error.obj, error.name, moved)]  # type: ignore[attr-defined]
    calls = [_finished(one, observation, mends) for one in waiting]
    reason = f"{type(error).__name__}: {error}"
    captures = tuple(c for one, call in zip(waiting, calls) for c in _captures(one, call, reason))
    known = [call for call in calls if call is not None]
    if mismatch is None:
        module = getattr(getattr(error, "obj", None), "__name__", "")
        mended = f"with `{module}.{moved}` in its place" if known and moved is not None else ""
        misuse = used_up(error, failed) or no_numbers_yet(error, failed)
        return Crash(misuse, captures, mended) if captures or misuse is not None else None
    return Crash(
        diagnose(mismatch, frame, tapes, _checked(known)), captures, "with the crash fixed" if known else ""
    )


def _last_user_place(trace: TracebackType | None) -> tuple[FrameType, int] | None:
    found = None
    while trace is not None:
        if is_users(trace.tb_frame.f_code.co_filename):
            found = trace.tb_frame, trace.tb_lasti
        trace = trace.tb_next
    return found


def _finished(
    one: Unfinished, observation: TensorFlowObservation, mends: Sequence[AbstractContextManager[Any]]
) -> GradientCall | None:
    tried = (finish(one, observation, mend) for mend in (None, *mends))
    return next((call for call in tried if call is not None), None)


def _captures(one: Unfinished, call: GradientCall | None, reason: str) -> list[Capture]:
    return [named_only(one, reason)] if call is None else to_captures(call)


def _checked(calls: list[GradientCall]) -> str:
    """What TensorFlow returned when the program was run to its next gradient call with the change."""
    if not calls:
        return ""
    said = []
    for source, seen in zip(calls[0].sources, calls[0].observed):
        array = None if seen is None else seen.array
        shown = "None" if array is None else array_text(array, source.value.dtype)
        said.append(f"{shown} for `{source.name}`")
    where = f"line {calls[0].line}, where TensorFlow returns {capped_list(said)}"
    return f"run on from the crash with what this change gives, the program reaches {where}"
