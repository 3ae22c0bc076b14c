"""From a finished call of a tape to captures: programs, sources, custom rules, what is missing and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from gradproof.errors import InvalidInput
from gradproof.ir import types
from gradproof.ir.capture import Alike, Break, CallRun, Capture, Rows
from gradproof.ir.capture import Source as CapturedSource
from gradproof.ir.program import Program
from gradproof.ir.surroundings import Surroundings
from gradproof.tape.announce import Finished
from gradproof.tape.array import Array
from gradproof.tape.lost import lost_parts
from gradproof.tape.missing import REASONS, Missing
from gradproof.tape.program import TapeSource
from gradproof.tape.programs import FRAMEWORK, UNKNOWN_PLACE, captured
from gradproof.tape.proof import Proof
from gradproof.tape.target import is_leaf


def to_captures(finished: Finished, occurrence: int = 1, alike: bool = False) -> list[Capture]:
    """One capture for the leaves among the sources, one for each other, one for what is missing.

    Where the rows of a Jacobian may be taken to be `alike`, those beyond the first are captured if they are needed.
    """
    proof = finished.proof
    leaves = [k for k, source in enumerate(proof.sources) if is_leaf(source)]
    groups = [leaves] if leaves else []
    groups += [[k] for k in range(len(proof.sources)) if k not in leaves]
    read = partial(_read_rows, alike=alike) if proof.is_jacobian else _read
    captures = [read(finished, group) for group in groups]
    missing = [
        _missing(finished, k) for k, source in enumerate(finished.sources) if isinstance(source, Missing)
    ]
    if missing:
        captures.append(_bare(finished, missing))
    around = Surroundings(lost=lost_parts(finished))
    return [
        replace(capture, run=replace(capture.run, occurrence=occurrence), around=around)
        for capture in captures
    ]


def unread(finished: Finished, reason: str, occurrence: int = 1) -> Capture:
    """What is known without building a program."""
    values = iter(finished.proof.gradients)
    sources = []
    for k, source in enumerate(finished.sources):
        observed = None if isinstance(source, Missing) else np.asarray(next(values).value)
        sources.append(CapturedSource(finished.names[k], *_kind(finished.given[k]), None, observed))
    return replace(_bare(finished, sources), failure=reason, run=CallRun(occurrence))


def _read(finished: Finished, group: Sequence[int], row: int | None = None) -> Capture:
    """Programs and rules as the tape knows them, names and dtypes as the sources were passed."""
    capture = captured(finished.proof, group, row)
    return replace(
        capture, sources=tuple(_described(finished, k, one) for k, one in zip(group, capture.sources))
    )


def _read_rows(finished: Finished, group: Sequence[int], alike: bool) -> Capture:
    """A Jacobian: each entry of the target is a gradient call of its own, and the whole holds them all."""
    proof = finished.proof
    (of,) = proof.targets
    sources = [
        _described(finished, k, CapturedSource("", (), "", None, np.asarray(proof.gradients[k].value)))
        for k in group
    ]
    each = partial(_each_row, finished, group)
    first = each(1) if alike and of.value.size > 1 else ()
    target = _chosen_from(first[0].program) if first else None
    known = None if target is None else Alike(target, each)
    rows = Rows(each() if known is None else first, of.value.shape, known)
    return replace(_bare(finished, sources), rows=rows)


def _each_row(finished: Finished, group: Sequence[int], most: int | None = None) -> tuple[Capture, ...]:
    proof = finished.proof
    (of,) = proof.targets
    rows = []
    for row in range(of.value.size)[:most]:
        index = ", ".join(str(i) for i in np.unravel_index(row, of.value.shape))
        name = f"{proof.target_name}[{index}]" if of.value.ndim else proof.target_name
        rows.append(replace(_read(finished, group, row), target=name))
    return tuple(rows)


def _chosen_from(program: Program | None) -> int | None:
    """The node that the output is one entry of; None where a condition of the function comes after it."""
    if program is None or program[program.outputs[0]].op != "take":
        return None
    flat = program[program[program.outputs[0]].inputs[0]]
    return flat.inputs[0] if flat.op == "reshape" else flat.id


def _described(finished: Finished, k: int, source: CapturedSource) -> CapturedSource:
    """A source under the user's name, with the shape and dtype that it was passed with."""
    place = [j for j, found in enumerate(finished.sources) if isinstance(found, TapeSource)][k]
    shape, dtype = _kind(finished.given[place])
    return replace(source, name=finished.names[place], shape=shape, dtype=dtype)


def _missing(finished: Finished, k: int) -> CapturedSource:
    missing, call = finished.sources[k], finished.proof.span
    assert isinstance(missing, Missing)
    contributing = () if call is None or missing.span is None else ((call, "finds no gradient"),)
    facts = {
        "what": "a plain array" if not isinstance(finished.given[k], Array) else "not watched by this tape",
        "message": missing.message,
        "remedy": missing.remedy,
        "why": REASONS[missing.reason],
    }
    broken = Break(missing.reason, missing.span or call, missing.message, contributing, facts)
    return CapturedSource(finished.names[k], *_kind(finished.given[k]), None, None, missing=broken)


def _kind(given: Any) -> tuple[tuple[int, ...], str]:
    """Shape and dtype of a source as it was passed, whatever it was."""
    array = np.asarray(given._value if isinstance(given, Array) else given)
    try:
        return array.shape, types.dtype_name(array)
    except InvalidInput:
        return array.shape, array.dtype.name


def _bare(finished: Finished, sources: Sequence[CapturedSource]) -> Capture:
    proof: Proof = finished.proof
    return Capture(
        framework=FRAMEWORK,
        call=proof.span or UNKNOWN_PLACE,
        target=proof.target_name,
        sources=tuple(sources),
        program=None,
    )
