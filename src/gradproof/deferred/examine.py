"""Judges everything that a folder holds, here or by many workers, and makes one report of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

from gradproof.cluster.workers import Done, Failed, workers
from gradproof.deferred.classes import TABLE
from gradproof.deferred.folder import ProcessFolder, block_of, parts_of, read, read_block
from gradproof.deferred.judging import judged, key_of, not_judged
from gradproof.deferred.model import Begun, Judged, Text
from gradproof.errors import UnreadableCapture
from gradproof.ir.pack import pack
from gradproof.whole_file import replace_file


@dataclass(frozen=True)
class Advance:
    """How many captures are judged, of how many, and what came of the last one; at first, what an earlier run did."""

    n_done: int
    n_all: int
    judged: Judged | None = None


@dataclass(eq=False)
class Call:
    """A file of a gradient call; `done` are the captures in it that are judged."""

    part: ProcessFolder
    name: str
    n_captures: int
    has_reports: bool  # of those that the process itself has judged
    are_tried: bool
    done: set[int] = field(default_factory=set)

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
            kept = part.call(name)
            calls.append(Call(part, name, len(kept.captures), bool(kept.reports), kept.are_tried))
        except UnreadableCapture as error:
            unread.append(f"`{part.call_path(name)}` was not judged: {error}")
    return PartWork(part, part.begun(), tuple(part.texts()), calls, unread)


def judge_all(work: list[PartWork], jobs: int = 1, scheduler: str | None = None) -> Iterator[Advance]:
    """Judge what is not judged yet; each result is on the disk before it is told."""
    for one in work:
        os.makedirs(os.path.dirname(one.part.result_path("")), exist_ok=True)
    tasks = {task.name: task for one in work for task in _open_tasks(one)}
    n_all = sum(call.n_captures for one in work for call in one.calls)
    n_done = n_all - len(tasks)
    yield Advance(n_done, n_all)
    if not tasks:
        return
    with workers(jobs, scheduler) as done:
        for result in _results(done, tasks, scheduler is not None):
            n_done += 1
            yield Advance(n_done, n_all, result)


@dataclass(frozen=True, eq=False)
class Task:
    """One capture that is to be judged."""

    work: PartWork
    call: Call
    index: int
    key: str

    @property
    def name(self) -> str:
        return f"{self.call.path}-{self.index}"


def _open_tasks(work: PartWork) -> Iterator[Task]:
    """What an earlier run has not judged yet, or has judged otherwise."""
    for call in work.calls:
        at = os.stat(call.path)
        key = key_of(at.st_size, at.st_mtime_ns, work.begun.options)
        for index in range(call.n_captures):
            if _is_stored(call.result_path(index), key):
                call.done.add(index)
            else:
                yield Task(work, call, index, key)


def _is_stored(path: str, key: str) -> bool:
    try:
        return read(path, Judged).key == key
    except UnreadableCapture:
        return False


def _results(done: Done, tasks: dict[str, Task], are_sent: bool) -> Iterator[Judged]:
    given = {name: partial(_arguments, task, are_sent) for name, task in tasks.items()}
    for name, outcome in done(judged, given):
        task = tasks[name]
        if isinstance(outcome, Failed):
            capture = task.call.part.call(task.call.name).captures[task.index]
            outcome = b"".join(pack(Judged(task.key, tuple(not_judged(capture, outcome.reason))), TABLE))
        result = read_block(outcome, Judged)
        replace_file(task.call.result_path(task.index), [outcome], is_durable=False)
        task.call.done.add(task.index)
        yield result


def _arguments(task: Task, is_sent: bool) -> tuple[object, ...]:
    """A cluster may not be able to read the files of this machine: it is sent what is in them."""
    source = bytes(block_of(task.call.path)) if is_sent else os.path.abspath(task.call.path)
    return source, task.index, task.work.texts, task.work.begun.options, task.key
