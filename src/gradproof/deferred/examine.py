"""Judges everything that a folder holds, here or by many workers, and makes one report of it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from gradproof.cluster.workers import Done, Failed, workers
from gradproof.deferred.classes import TABLE
from gradproof.deferred.folder import ProcessFolder, block_of, parts_of, read, read_block
from gradproof.deferred.judging import Shapes, judged, key_of, not_judged
from gradproof.deferred.model import Begun, Judged, KeptCall, Text
from gradproof.diagnosis.report import GradientReport
from gradproof.errors import UnreadableCapture
from gradproof.ir.capture import Capture
from gradproof.ir.pack import pack
from gradproof.judge.verdict import Verdict
from gradproof.whole_file import replace_file


@dataclass(frozen=True)
class Advance:
    """How many captures are judged, of how many, and what came of the last one; at first, what an earlier run did."""

    n_done: int
    n_all: int
    judged: Judged | None = None


@dataclass(frozen=True)
class KnownResult:
    """What of a result others depend on: its key, and the shapes of gradients that it found unjustly not finite."""

    key: str
    nonfinite: Shapes


@dataclass(eq=False)
class Call:
    """A file of a gradient call: for each capture the shapes of gradients that came back NaN or infinite.

    `is_calm`: every gradient came back finite. No other call then has a say in how it is judged, nor it in others.
    """

    part: ProcessFolder
    name: str
    not_finite: tuple[Shapes, ...]
    is_calm: bool
    told: Shapes  # of those that the process itself has judged
    has_reports: bool
    are_tried: bool
    known: dict[int, KnownResult] = field(default_factory=dict)

    @property
    def path(self) -> str:
        return self.part.call_path(self.name)

    def result_path(self, index: int) -> str:
        return self.part.result_path(f"{self.name}-{index}")


@dataclass(eq=False)
class PartWork:
    """What one process has left to be judged; `unread` says of each file that cannot be read why."""

    part: ProcessFolder
    begun: Begun
    texts: tuple[Text, ...]
    calls: list[Call]
    unread: list[str]


def opened(folder: str) -> list[PartWork]:
    """Everything that a folder holds."""
    return [_opened(part) for part in parts_of(folder)]


def _opened(part: ProcessFolder) -> PartWork:
    calls, unread = [], []
    for name in part.calls():
        try:
            calls.append(_call(part, name, part.call(name)))
        except UnreadableCapture as error:
            unread.append(f"`{part.call_path(name)}` was not judged: {error}")
    return PartWork(part, part.begun(), tuple(part.texts()), calls, unread)


def _call(part: ProcessFolder, name: str, kept: KeptCall) -> Call:
    return Call(
        part,
        name,
        tuple(frozenset(_not_finite(capture)) for capture in kept.captures),
        all(map(_is_finite, kept.captures)),
        _nonfinite(kept.reports),
        bool(kept.reports),
        kept.are_tried,
    )


def _nonfinite(reports: Iterable[GradientReport]) -> Shapes:
    return frozenset(report.shape for report in reports if report.verdict is Verdict.NONFINITE)


def judge_all(work: list[PartWork], jobs: int = 1, scheduler: str | None = None) -> Iterator[Advance]:
    """Judge what is not judged yet; each result is on the disk before it is told.

    How a gradient that is NaN is explained depends on whether earlier ones were NaN too, and unjustly. It is judged as
    if all of them were, and once more if that turns out to be wrong.
    """
    for one in work:
        os.makedirs(os.path.dirname(one.part.result_path("")), exist_ok=True)
    n_all = sum(len(call.not_finite) for one in work for call in one.calls)
    open_tasks = _open_tasks(work)
    told = {(call.path, index) for one in work for call in one.calls for index in call.known}
    yield Advance(len(told), n_all)
    if not open_tasks:
        return
    with workers(jobs, scheduler) as done:
        while open_tasks:
            for task, result in _results(done, open_tasks, scheduler is not None):
                told.add((task.call.path, task.index))
                yield Advance(len(told), n_all, result)
            open_tasks = _open_tasks(work)


@dataclass(frozen=True, eq=False)
class Task:
    """One capture, and what is known of the calls before it."""

    work: PartWork
    call: Call
    index: int
    spoilt: Shapes
    key: str


def _open_tasks(work: Iterable[PartWork]) -> dict[str, Task]:
    """What is to be judged, or to be judged again."""
    return {f"{t.call.path}-{t.index}": t for one in work for t in _open_in(one)}


def _open_in(work: PartWork) -> Iterator[Task]:
    spoilt: set[tuple[int, ...]] = set()
    for call in work.calls:
        before = frozenset[tuple[int, ...]]() if call.is_calm else frozenset(spoilt)
        at = os.stat(call.path)
        key = key_of(at.st_size, at.st_mtime_ns, work.begun.options, before)
        for index, expected in enumerate(call.not_finite):
            known = call.known.get(index) or _stored(call.result_path(index))
            if known is None or known.key != key:
                yield Task(work, call, index, before, key)
                spoilt |= expected
            else:
                call.known[index] = known
                spoilt |= known.nonfinite
        spoilt |= call.told


def _stored(path: str) -> KnownResult | None:
    """What an earlier run has come to, if it is there and whole."""
    try:
        result = read(path, Judged)
    except UnreadableCapture:
        return None
    return KnownResult(result.key, _nonfinite(result.reports))


def _results(done: Done, tasks: dict[str, Task], are_sent: bool) -> Iterator[tuple[Task, Judged]]:
    given = {name: partial(_arguments, task, are_sent) for name, task in tasks.items()}
    for name, outcome in done(judged, given):
        task = tasks[name]
        if isinstance(outcome, Failed):
            capture = task.call.part.call(task.call.name).captures[task.index]
            outcome = b"".join(pack(Judged(task.key, tuple(not_judged(capture, outcome.reason))), TABLE))
        result = read_block(outcome, Judged)
        replace_file(task.call.result_path(task.index), [outcome], is_durable=False)
        task.call.known[task.index] = KnownResult(result.key, _nonfinite(result.reports))
        yield task, result


def _arguments(task: Task, is_sent: bool) -> tuple[object, ...]:
    """A cluster may not be able to read the files of this machine: it is sent what is in them."""
    source = bytes(block_of(task.call.path)) if is_sent else os.path.abspath(task.call.path)
    return source, task.index, task.work.texts, task.work.begun.options, task.spoilt, task.key


def _is_finite(capture: Capture) -> bool:
    return all(one.observed is not None and bool(np.isfinite(one.observed).all()) for one in capture.sources)


def _not_finite(capture: Capture) -> Iterator[tuple[int, ...]]:
    """The shapes of gradients that came back NaN or infinite."""
    for source in capture.sources:
        if source.observed is not None and not np.isfinite(source.observed).all():
            yield source.shape
