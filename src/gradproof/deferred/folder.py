"""The folder of a deferred check: a subfolder for every process, and in it one file for every gradient call."""

from __future__ import annotations

import mmap
import os
import re
from dataclasses import dataclass
from typing import Any, TypeVar

from gradproof.deferred.classes import TABLE, ClassTable
from gradproof.deferred.model import Begun, Ended, KeptCall
from gradproof.errors import InvalidInput, NotWritten, UnreadableCapture
from gradproof.ir.block import Gathered
from gradproof.ir.pack import gather, unpack
from gradproof.whole_file import replace_file

SUFFIX = ".gradproof"
SMALL = 1 << 20  # bytes that are read at once
_BEGUN, _ENDED, _TEXTS, _RESULTS = "begun", "ended", "texts", "results"
_NUMBERED = re.compile(rf"(\d{{8}}){re.escape(SUFFIX)}")

T = TypeVar("T")


def write(value: Any, path: str, table: ClassTable = TABLE, is_durable: bool = False) -> int:
    """How many bytes were written; `NotWritten` where they could not be."""
    return write_gathered(gather(value, table), path, is_durable)


def write_gathered(gathered: Gathered, path: str, is_durable: bool = False) -> int:
    parts = gathered.parts()
    try:
        replace_file(path, parts, is_durable)
    except OSError as error:
        raise NotWritten(f"`{path}` could not be written: {error.strerror or error}") from error
    return sum(map(len, parts))


def read(path: str, cls: type[T]) -> T:
    """What a file holds, its arrays mapped; `UnreadableCapture` where it is not what it should be."""
    return read_block(block_of(path), cls)


def read_block(block: Any, cls: type[T]) -> T:
    found = unpack(block, TABLE)
    if not isinstance(found, cls):
        raise UnreadableCapture(f"holds a {type(found).__name__}, where a {cls.__name__} was expected")
    return found


def block_of(path: str) -> Any:
    """Mapped where it is large: a mapping holds the file open, and a folder may have thousands of them."""
    try:
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_size <= SMALL:
                return file.read()
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        raise UnreadableCapture(f"cannot be read: {error.strerror or error}") from error


@dataclass(frozen=True)
class ProcessFolder:
    """What one process has written."""

    path: str

    @property
    def name(self) -> str:
        return os.path.basename(self.path)

    @property
    def begun_path(self) -> str:
        return self._file(_BEGUN)

    @property
    def ended_path(self) -> str:
        return self._file(_ENDED)

    def begun(self) -> Begun:
        return read(self.begun_path, Begun)

    @property
    def has_ended(self) -> bool:
        return os.path.exists(self.ended_path)

    def ended(self) -> Ended | None:
        """None where the process has not ended, or ended too suddenly to say so."""
        return read(self.ended_path, Ended) if self.has_ended else None

    def calls(self) -> list[str]:
        """The names of the files of gradient calls, in the order of the calls."""
        return sorted(found[1] for name in os.listdir(self.path) if (found := _NUMBERED.fullmatch(name)))

    def call_path(self, name: str) -> str:
        return self._file(name)

    def call(self, name: str) -> KeptCall:
        return read(self._file(name), KeptCall)

    def text_paths(self) -> list[str]:
        folder = os.path.join(self.path, _TEXTS)
        names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        return [os.path.join(folder, name) for name in names if _NUMBERED.fullmatch(name)]

    def result_path(self, name: str) -> str:
        return os.path.join(self.path, _RESULTS, f"{name}{SUFFIX}")

    def text_path(self, number: int) -> str:
        return os.path.join(self.path, _TEXTS, f"{number:08}{SUFFIX}")

    def begin(self, begun: Begun) -> None:
        """The subfolder is this process's own: what an earlier run has written is not mixed with it."""
        try:
            os.makedirs(self.path)
            os.makedirs(os.path.join(self.path, _TEXTS))
        except FileExistsError:
            raise InvalidInput(
                f"`{self.path}` holds what an earlier run has written: choose another folder, or remove it"
            ) from None
        except OSError as error:
            raise InvalidInput(f"`{self.path}` cannot be made: {error.strerror or error}") from error
        write(begun, self.begun_path)

    def end(self, ended: Ended) -> None:
        write(ended, self.ended_path, is_durable=True)

    def _file(self, name: str) -> str:
        return os.path.join(self.path, f"{name}{SUFFIX}")


def parts_of(folder: str) -> list[ProcessFolder]:
    """Of all processes, by rank; refused where there is none."""
    try:
        names = os.listdir(folder)
    except OSError as error:
        raise InvalidInput(f"`{folder}` cannot be read: {error.strerror or error}") from error
    found = [ProcessFolder(os.path.join(folder, name)) for name in sorted(names, key=_in_order)]
    found = [part for part in found if os.path.isfile(os.path.join(part.path, f"{_BEGUN}{SUFFIX}"))]
    if not found:
        raise InvalidInput(f"`{folder}` holds nothing that `gradproof run --defer` has written")
    return found


def _in_order(name: str) -> tuple[Any, ...]:
    """Rank 10 comes after rank 9."""
    return tuple(int(piece) if piece.isdigit() else piece for piece in re.split(r"(\d+)", name))
