"""One capture judged by whoever has time: what a worker is given, and what it gives back."""

from __future__ import annotations

import hashlib
import importlib
import json
import linecache
import threading
import time
import traceback
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from gradproof import __version__
from gradproof.audit.examine import examine, examine_piece, examined, unexamined
from gradproof.audit.pieces import CallPiece
from gradproof.audit.silenced import undisturbed
from gradproof.clock import TimeIsOver, time_limit
from gradproof.deferred.classes import TABLE
from gradproof.deferred.folder import block_of, read_block
from gradproof.deferred.model import Judged, JudgedPiece, KeptCall, Text
from gradproof.diagnosis.report import GradientReport
from gradproof.frameworks import framework
from gradproof.frontends.select import is_installed
from gradproof.internal_error import fault_reason
from gradproof.ir.capture import Capture
from gradproof.ir.pack import pack
from gradproof.options import Options
from gradproof.whole_file import replace_file

# Precision is a setting of the whole process in the library of balls: one examination at a time.
_ALONE = threading.RLock()


def key_of(size: int, modified: int, options: Options) -> str:
    """Says which file is judged, how, and by which gradproof."""
    told = [__version__, size, modified, repr(options)]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()


def show_texts(texts: Sequence[Text]) -> None:
    """Have the user's files read as they were when they ran, whatever has become of them."""
    for one in texts:
        lines = one.text.splitlines(keepends=True)
        linecache.cache[one.file] = (len(one.text), None, lines, one.file)


def judged(
    source: str | bytes,
    index: int,
    texts: Sequence[Text],
    options: Options,
    key: str,
    limit: tuple[float, str] | None = None,
    piece: CallPiece | None = None,
    place: str | None = None,
) -> bytes:
    """The block of a `Judged`. `source` is the path of a file or, for a machine that cannot read it, its bytes.

    `limit` are the seconds that it may take, and what is said if it takes longer. Of a `piece` the block is that of a
    `JudgedPiece`; what goes wrong there is raised, and costs the whole. Where the file of the result can be written
    from here, at `place`, the block is without its arrays.
    """
    with _ALONE:
        show_texts(texts)
        kept = read_block(block_of(source) if isinstance(source, str) else source, KeptCall)
        capture, within = kept.captures[index], limit or (None, "")
        # Once in a process, and no time of this check. What fails is told where it is asked for again.
        with undisturbed(), suppress(Exception):
            _import_framework(capture)
        started = time.perf_counter()
        if piece is not None:
            some = _piece(capture, options, within, piece)
            return b"".join(pack(JudgedPiece(some, time.perf_counter() - started), TABLE))
        reports, faults = _reports(capture, kept.are_tried, options, within)
        found = Judged(key, tuple(reports), tuple(faults), time.perf_counter() - started)
        return b"".join(pack(found if place is None else stored(found, place), TABLE))


def stored(found: Judged, place: str) -> Judged:
    """Write what became of a capture; returns what is to be told of it, without its numbers."""
    replace_file(place, pack(found, TABLE), is_durable=False)
    return replace(found, reports=tuple(map(_in_words, found.reports)))


def _in_words(report: GradientReport) -> GradientReport:
    return replace(
        report,
        observed=None,
        reference=None,
        reference_radius=None,
        one_sided=None,
        diagnostics=(),
        drawing=None,
    )


def _piece(
    capture: Capture, options: Options, limit: tuple[float | None, str], piece: CallPiece
) -> dict[int, tuple[GradientReport, ...]] | None:
    with undisturbed(), time_limit(*limit):
        _import_framework(capture)
        found = examine_piece(capture, options, piece)
    return None if found is None else {place: tuple(reports) for place, reports in found.items()}


def _import_framework(capture: Capture) -> None:
    """What mends a fault is tried in it, as in the run itself."""
    if is_installed(capture.framework):
        importlib.import_module(framework(capture.framework).module)


def _reports(
    capture: Capture, is_tried: bool, options: Options, limit: tuple[float | None, str]
) -> tuple[list[GradientReport], list[str]]:
    with undisturbed():
        try:
            _import_framework(capture)
            look = examine if is_tried else examined
            with time_limit(*limit):
                return look(capture, options), []
        except TimeIsOver as over:
            return not_judged(capture, str(over)), []
        except Exception as error:
            return not_judged(capture, fault_reason(error)), [traceback.format_exc()]


def not_judged(capture: Capture, reason: str) -> list[GradientReport]:
    """What the facts alone say of a capture."""
    return unexamined(replace(capture, failure=reason))
