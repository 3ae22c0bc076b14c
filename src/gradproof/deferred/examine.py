"""Judges everything that a folder holds, here or by many workers, and makes one report of it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from gradproof import __version__
from gradproof.audit.examine import join_pieces
from gradproof.audit.pieces import CallPiece, n_pieces_of
from gradproof.cluster.workers import Done, Failed, workers
from gradproof.deferred.classes import TABLE
from gradproof.deferred.folder import ProcessFolder, block_of, parts_of, read, read_block
from gradproof.deferred.judging import judged, key_of, not_judged
from gradproof.deferred.model import Begun, Ended, Judged, JudgedPiece, KeptCall, Text
from gradproof.errors import InvalidInput, UnreadableCapture
from gradproof.ir.pack import pack
from gradproof.whole_file import replace_file

PIECES_THERE = 8  # on a cluster, whose workers come and go

T = TypeVar("T")


@dataclass(frozen=True)
class Advance:
    """How many captures are judged, of how many, and what came of the last one; at first, what an earlier run did."""

    n_done: int
    n_all: int
    judged: Judged | None = None


@dataclass(eq=False)
class CallFile:
    """A file of a gradient call; `done` are the captures in it that are judged."""

    part: ProcessFolder
    name: str
    n_pieces: tuple[int, ...]  # that each capture can be taken into
    has_rows: tuple[bool, ...]  # of which captures these are rows of a Jacobian
    has_reports: bool  # of those that the process itself has judged
    are_tried: bool
    done: set[int] = field(default_factory=set)

    @property
    def n_captures(self) -> int:
        return len(self.n_pieces)

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
    texts: tuple[Text, ...] = ()
    calls: list[CallFile] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    _seen: set[str] = field(default_factory=set)

    def look_again(self) -> None:
        """Add what the process has written since."""
        new = [name for name in self.part.calls() if name not in self._seen]
        self._seen.update(new)
        for name in new:
            path = self.part.call_path(name)
            kept = self._read(path, KeptCall, f"`{path}` was not judged")
            if kept is None:
                continue
            n_pieces = tuple(map(n_pieces_of, kept.captures))
            has_rows = tuple(one.rows is not None for one in kept.captures)
            self.calls.append(
                CallFile(self.part, name, n_pieces, has_rows, bool(kept.reports), kept.are_tried)
            )
        if new:  # the texts of a call are written after it, and before the next one
            self.texts = tuple(self._texts())

    def ended(self) -> Ended | None:
        """None where the process has not ended, or how it did cannot be read."""
        if not self.part.has_ended:
            return None
        path = self.part.ended_path
        return self._read(path, Ended, f"how the program ended is not known, as `{path}` cannot be read")

    def _texts(self) -> Iterator[Text]:
        for path in self.part.text_paths():
            text = self._read(path, Text, f"lines of one file are not shown, as `{path}` cannot be read")
            if text is not None:
                yield text

    def _read(self, path: str, cls: type[T], without: str) -> T | None:
        """What a file holds; where it cannot be read, `unread` says once what that costs, and the rest goes on."""
        try:
            return read(path, cls)
        except UnreadableCapture as error:
            by = self.begun.version
            of_other = "" if by == __version__ else f" (by gradproof {by}; this is {__version__})"
            reason = f"{without}: {error}{of_other}"
            if reason not in self.unread:
                self.unread.append(reason)
            return None


def opened(folder: str) -> list[PartWork]:
    """Everything that a folder holds; a process of which not even the beginning can be read costs itself only."""
    found, lost = [], []
    for part in parts_of(folder):
        try:
            found.append(PartWork(part, part.begun()))
        except UnreadableCapture as error:
            lost.append(
                f"nothing of `{part.path}` was judged, as `{part.begun_path}` cannot be read: {error}"
            )
    if not found:
        raise InvalidInput("; ".join(lost))
    found[0].unread += lost
    for work in found:
        work.look_again()
        work.ended()  # now, so that what is wrong with it is said before the work begins
    return found


def judge_all(work: list[PartWork], jobs: int = 1, scheduler: str | None = None) -> Iterator[Advance]:
    """Judge what is not judged yet; each result is on the disk before it is told."""
    tasks = open_tasks(work, jobs if scheduler is None else PIECES_THERE)
    n_all = sum(call.n_captures for one in work for call in one.calls)
    n_done = n_all - len({task.capture_name for task in tasks.values()})
    yield Advance(n_done, n_all)
    if not tasks:
        return
    with workers(jobs, scheduler) as done:
        for result in results(done, tasks, scheduler is not None):
            n_done += 1
            yield Advance(n_done, n_all, result)


@dataclass(frozen=True, eq=False)
class Task:
    """One capture that is to be judged."""

    work: PartWork
    call: CallFile
    index: int
    key: str
    limit: tuple[float, str] | None = None  # seconds that it may take, and what is said if it takes longer
    piece: CallPiece | None = None  # of it that is meant, where others have the rest

    @property
    def capture_name(self) -> str:
        return f"{self.call.path}-{self.index}"

    @property
    def name(self) -> str:
        return self.capture_name if self.piece is None else f"{self.capture_name}-{self.piece.share[0]}"


def open_tasks(work: Iterable[PartWork], n_workers: int = 1) -> dict[str, Task]:
    """What is not judged yet, or was judged otherwise, by name; what is large in a piece for each worker."""
    for one in work:
        os.makedirs(os.path.dirname(one.part.result_path("")), exist_ok=True)
    wholes = [whole for one in work for whole in _open_in(one)]
    tasks = [task for whole in wholes for task in _pieces(whole, n_workers, len(wholes) < n_workers)]
    return {task.name: task for task in tasks}


def _pieces(whole: Task, n_workers: int, are_idle: bool) -> Iterator[Task]:
    """Sources share most of their work: they are taken apart for workers that would have nothing to do."""
    n_pieces = min(n_workers, whole.call.n_pieces[whole.index])
    is_worth_it = are_idle or whole.call.has_rows[whole.index]
    if n_pieces < 2 or whole.call.are_tried or not is_worth_it:
        yield whole
    else:
        yield from (replace(whole, piece=CallPiece((k, n_pieces))) for k in range(n_pieces))


def _open_in(work: PartWork) -> Iterator[Task]:
    for call in work.calls:
        at = os.stat(call.path)
        key = key_of(at.st_size, at.st_mtime_ns, work.begun.options)
        for index in range(call.n_captures):
            if index not in call.done and _is_stored(call.result_path(index), key):
                call.done.add(index)
            if index not in call.done:
                yield Task(work, call, index, key)


def _is_stored(path: str, key: str) -> bool:
    try:
        return read(path, Judged).key == key
    except UnreadableCapture:
        return False


def results(done: Done, tasks: Mapping[str, Task], are_sent: bool = False) -> Iterator[Judged]:
    """Each as it comes, when it is on the disk."""
    again: dict[str, Task] = {}  # pieces that a quick look did not do for
    parts: dict[str, dict[int, bytes | Failed]] = {}
    given = {name: partial(_arguments, task, are_sent) for name, task in tasks.items()}
    for name, outcome in done(judged, given):
        task = tasks[name]
        if task.piece is not None:
            place, n_pieces = task.piece.share
            known = parts.setdefault(task.capture_name, {})
            known[place] = outcome
            if len(known) < n_pieces:
                continue
            whole = _put_together(task, list(known.values()))
            if whole is None:
                again |= {one.name: one for one in _closely(task, n_pieces)}
                continue
            outcome = whole
        yield _taken(task, outcome, are_sent)
    if again:
        yield from results(done, again, are_sent)


def _closely(task: Task, n_pieces: int) -> Iterator[Task]:
    yield from (replace(task, piece=CallPiece((k, n_pieces), is_quick=False)) for k in range(n_pieces))


def _put_together(task: Task, parts: Sequence[bytes | Failed]) -> bytes | Failed | None:
    """All pieces as one; what went wrong with a piece went wrong with the whole. None where a quick look did not do."""
    failed = next((part for part in parts if isinstance(part, Failed)), None)
    if failed is not None:
        return failed
    try:
        found = [read_block(part, JudgedPiece) for part in parts if not isinstance(part, Failed)]
    except UnreadableCapture as error:
        return Failed(f"what the worker has answered cannot be read: {error}")
    if any(one.reports is None for one in found):
        return None
    by_place = {place: reports for one in found for place, reports in (one.reports or {}).items()}
    capture = task.call.part.call(task.call.name).captures[task.index]
    reports = join_pieces(capture, by_place, task.work.begun.options)
    seconds = sum(one.seconds for one in found)
    return b"".join(pack(Judged(task.key, tuple(reports), seconds=seconds), TABLE))


def _taken(task: Task, outcome: bytes | Failed, are_sent: bool) -> Judged:
    """What became of a task; a worker that can has written it down itself."""
    if isinstance(outcome, Failed):
        return _stored(task, _given_up(task, outcome.reason))
    try:
        if are_sent or task.piece is not None:
            return _stored(task, outcome)
        result = read_block(outcome, Judged)
    except UnreadableCapture as error:  # a machine of the cluster may have another gradproof
        return _stored(task, _given_up(task, f"what the worker has answered cannot be read: {error}"))
    task.call.done.add(task.index)
    return result


def give_up(tasks: Mapping[str, Task], reason: str) -> None:
    """What the facts alone say stands in the report of these captures, and why."""
    for task in tasks.values():
        _stored(task, _given_up(task, reason))


def _given_up(task: Task, reason: str) -> bytes:
    capture = task.call.part.call(task.call.name).captures[task.index]
    return b"".join(pack(Judged(task.key, tuple(not_judged(capture, reason))), TABLE))


def _stored(task: Task, block: bytes) -> Judged:
    result = read_block(block, Judged)
    replace_file(task.call.result_path(task.index), [block], is_durable=False)
    task.call.done.add(task.index)
    return result


def _arguments(task: Task, is_sent: bool) -> tuple[object, ...]:
    """A cluster may not be able to read the files of this machine: it is sent what is in them."""
    source = bytes(block_of(task.call.path)) if is_sent else os.path.abspath(task.call.path)
    place = None if is_sent else os.path.abspath(task.call.result_path(task.index))
    return (
        source, task.index, task.work.texts, task.work.begun.options, task.key, task.limit, task.piece, place,
    )  # fmt: skip
