"""Keeps the gradient calls of a process in files, while the program goes on."""

from __future__ import annotations

import linecache
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Thread

import numpy as np

from gradproof import __version__
from gradproof.audit.draw import drawn
from gradproof.audit.settings import Settings
from gradproof.deferred.classes import ClassTable
from gradproof.deferred.folder import ProcessFolder, write, write_gathered
from gradproof.deferred.model import Begun, Ended, KeptCall, Text
from gradproof.diagnosis.intent import declared
from gradproof.diagnosis.report import GradientReport
from gradproof.diagnosis.words import count
from gradproof.errors import NotData, NotWritten
from gradproof.internal_error import fault_reason
from gradproof.ir.block import Gathered
from gradproof.ir.capture import Capture
from gradproof.ir.pack import gather
from gradproof.ir.types import Array
from gradproof.options import Options
from gradproof.render.snippet import MOST_SOURCE

ALONE = "main"  # the subfolder of a program of one process
MOST_COPIED = 1 << 28  # bytes that the program lends us twice: what is larger is written from where it stands
MOST_HELD = 1 << 26  # bytes that are held for the next copy: new memory takes longer than what goes into it
_RANKS = ("RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "PMI_RANK")  # which one a launcher has started


@dataclass(eq=False)
class FolderKeeper:
    """Writes a file for every gradient call, and one for every file of the user's that the call came through."""

    part: ProcessFolder
    frameworks: set[str] = field(default_factory=set)
    n_calls: int = 0
    n_bytes: int = 0
    lost: list[str] = field(default_factory=list)  # why calls could not be written
    _files: dict[str, bool] = field(
        default_factory=dict
    )  # whose text is there, and whose is still to be written
    _table: ClassTable = field(init=False)
    _writer: _WritingThread | None = None
    _room: Array = field(default_factory=partial(np.empty, 0, np.uint8))

    def __post_init__(self) -> None:
        self._table = ClassTable(lambda file: self._files.setdefault(file, False))

    def keep(self, captures: Sequence[Capture], are_tried: bool = False) -> bool:
        self.frameworks.update(capture.framework for capture in captures)
        if not captures:  # a call that was given up while it was read, or is a part of another one
            return True
        try:
            self._write(KeptCall(captures=tuple(captures), are_tried=are_tried))
        except NotData:
            return False
        return True

    def tell(self, reports: Sequence[GradientReport], are_tried: bool = False) -> None:
        self.frameworks.update(report.framework for report in reports)
        try:
            self._write(KeptCall(reports=tuple(reports), are_tried=are_tried))
        except NotData:  # what their pictures are made from may be known to this process only
            self._write(KeptCall(reports=tuple(map(drawn, reports)), are_tried=are_tried))

    def end(self, ended: Ended) -> None:
        self.wait()
        heard = ended.heard
        if self.lost:
            heard = replace(heard, remarks=(*heard.remarks, lost_line(self)))
        self.part.end(replace(ended, heard=heard, declared=declared()))

    def _write(self, kept: KeptCall) -> None:
        """The program goes on while a copy of its numbers is on its way to the disk, one call at a time."""
        self.wait()
        call = gather(kept, self._table)
        texts = list(self._new_texts())
        if call.n_bytes > MOST_COPIED:
            self._put(call, texts)
        else:
            writer = _WritingThread(partial(self._put, call.copied(self._room_for(call.n_bytes)), texts))
            try:
                writer.start()
                self._writer = writer
            except RuntimeError:  # at its very end a program can start no thread any more
                writer.run()

    def _room_for(self, n_bytes: int) -> Array:
        room = self._room if self._room.nbytes >= n_bytes else np.empty(n_bytes, np.uint8)
        if n_bytes <= MOST_HELD:
            self._room = room
        return room

    def wait(self) -> None:
        """Until what is under way is on the disk."""
        if self._writer is not None:
            self._writer.join()
            self._writer = None

    def _new_texts(self) -> Iterator[tuple[str, Text]]:
        for number, (file, is_there) in enumerate(self._files.items()):
            text = "" if is_there else "".join(linecache.getlines(file))
            if text and len(text) <= MOST_SOURCE:
                yield self.part.text_path(number), Text(file, text)

    def _put(self, call: Gathered, texts: Sequence[tuple[str, Text]]) -> None:
        """A training of hours does not end because the disk is full; what could not be written is said at the end."""
        try:
            self.n_bytes += write_gathered(call, self.part.call_path(f"{self.n_calls + 1:08}"))
            self.n_calls += 1
            for path, text in texts:
                write(text, path)
            self._files.update(dict.fromkeys(self._files, True))
        except NotWritten as error:
            self.lost.append(str(error))
        except Exception as error:  # in a thread nobody else would hear of it
            self.lost.append(fault_reason(error))


class _WritingThread(Thread):
    """Not the program's: observers of the program listen to what `Thread.run` runs."""

    def __init__(self, job: Callable[[], None]) -> None:
        super().__init__(name="gradproof")
        self._job = job

    def run(self) -> None:
        self._job()


def keeper_in(folder: str, options: Options, settings: Settings | None = None) -> FolderKeeper:
    """What keeps the calls of this process; of several that a launcher has started each has a subfolder of its own."""
    rank = rank_of(os.environ)
    part = ProcessFolder(os.path.join(os.path.abspath(folder), ALONE if rank is None else f"rank-{rank}"))
    part.begin(Begun(__version__, os.getcwd(), options, settings or Settings(), rank))
    return FolderKeeper(part)


def kept_line(keeper: FolderKeeper, folder: str) -> str:
    """What is said when a run has ended whose checks are still to be made."""
    calls = count(keeper.n_calls, "gradient call")
    size = f"{keeper.n_bytes / 1e6:,.1f} MB"
    return f"{calls} kept in {folder} ({size}), not judged yet: gradproof examine {folder}"


def lost_line(keeper: FolderKeeper) -> str:
    return f"{count(len(keeper.lost), 'gradient call')} could not be kept: {keeper.lost[0]}"


def rank_of(environment: Mapping[str, str]) -> int | None:
    """Which of the processes of a distributed program this is; None where it is the only one."""
    return next((int(environment[name]) for name in _RANKS if environment.get(name, "").isdecimal()), None)
