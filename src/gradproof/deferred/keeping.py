"""Keeps the gradient calls of a process in files, while the program goes on."""

from __future__ import annotations

import linecache
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from gradproof import __version__
from gradproof.audit.draw import drawn
from gradproof.audit.settings import Settings
from gradproof.deferred.classes import ClassTable
from gradproof.deferred.folder import ProcessFolder, write
from gradproof.deferred.model import Begun, Ended, KeptCall, Text
from gradproof.diagnosis.intent import declared
from gradproof.diagnosis.report import GradientReport
from gradproof.diagnosis.words import count
from gradproof.errors import NotData, NotWritten
from gradproof.ir.capture import Capture
from gradproof.options import Options
from gradproof.render.snippet import MOST_SOURCE

ALONE = "main"  # the subfolder of a program of one process
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
        heard = ended.heard
        if self.lost:
            heard = replace(heard, remarks=(*heard.remarks, lost_line(self)))
        self.part.end(replace(ended, heard=heard, declared=declared()))

    def _write(self, kept: KeptCall) -> None:
        """A training of hours does not end because the disk is full; what could not be written is said at the end."""
        try:
            self._put(kept)
        except NotWritten as error:
            self.lost.append(str(error))

    def _put(self, kept: KeptCall) -> None:
        self.n_bytes += write(kept, self.part.call_path(f"{self.n_calls + 1:08}"), self._table)
        self.n_calls += 1
        for number, (file, is_there) in enumerate(list(self._files.items())):
            if not is_there:
                self._files[file] = True
                text = "".join(linecache.getlines(file))
                if text and len(text) <= MOST_SOURCE:
                    write(Text(file, text), self.part.text_path(number))


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
