"""The text of every file that a comparison of modes mentions, and paths as the user writes them."""

from __future__ import annotations

import linecache
import os
from collections.abc import Iterator
from dataclasses import replace
from typing import TypeVar

from gradproof.diagnosis.parting import OpSeen
from gradproof.ir.span import Span
from gradproof.modes.model import CallModes, ModeCell, ModeLine, ModesReport
from gradproof.render.snippet import MOST_SOURCE

Seen = TypeVar("Seen", bound=OpSeen)


def with_mode_sources(report: ModesReport, folder: str) -> ModesReport:
    """The report with its sources, and with paths relative to the folder where that is shorter."""
    sources: dict[str, str] = {}
    for span in _spans(report):
        text = "".join(linecache.getlines(span.file))
        if text and len(text) <= MOST_SOURCE:
            sources[_short(span.file, folder)] = text
    calls = tuple(_call(call, folder) for call in report.calls)
    return replace(report, calls=calls, sources=sources)


def _spans(report: ModesReport) -> Iterator[Span]:
    for call in report.calls:
        yield call.call
        for line in call.lines:
            for cell in line.cells:
                yield from (one.span for one in cell.ops if one.span is not None)


def in_folder(span: Span, folder: str) -> Span:
    """A place with its path as the user writes it."""
    return span.in_file(_short(span.file, folder))


def _short(file: str, folder: str) -> str:
    if not os.path.isabs(file):
        return file
    relative = os.path.relpath(file, folder)
    return file if relative.startswith("..") else relative


def _call(call: CallModes, folder: str) -> CallModes:
    lines = tuple(_line(line, folder) for line in call.lines)
    return replace(call, call=in_folder(call.call, folder), lines=lines)


def _line(line: ModeLine, folder: str) -> ModeLine:
    return replace(line, cells=tuple(_cell(cell, folder) for cell in line.cells))


def _cell(cell: ModeCell, folder: str) -> ModeCell:
    partings = tuple(_op(one, folder) for one in cell.partings)
    if cell.lost is None:
        return replace(cell, partings=partings)
    # An op that parts and loses the digits is one, and stays one.
    same: dict[OpSeen, OpSeen] = dict(zip(cell.partings, partings))
    return replace(cell, partings=partings, lost=same.get(cell.lost) or _op(cell.lost, folder))


def _op(op: Seen, folder: str) -> Seen:
    return op if op.span is None else replace(op, span=in_folder(op.span, folder))
