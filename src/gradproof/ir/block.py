"""A block of bytes: what is told, and arrays beside it.

It begins with a magic word, the sizes of its two parts and the check sum of the first one. That is JSON, and has the
check sums of the second part in it. That is the arrays, each on a boundary of 64 bytes.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gradproof.errors import UnreadableCapture
from gradproof.ir.check_sum import check_sum
from gradproof.ir.types import Array

MAGIC = b"GRADPRF2"
ALIGN = 64
MOST_HEADER = 1 << 30  # bytes of JSON; what is larger is no record of a program that ran
HEAD = struct.Struct("<8sQQI")  # magic, length of the JSON, of the arrays, and the check sum of the JSON
_DAMAGED = "damaged: its check sum is another one"


@dataclass(frozen=True)
class Gathered:
    """What is to become a block: records in the words of JSON, and arrays, which are still where they stand."""

    told: dict[str, Any]
    raws: Sequence[bytes | memoryview]  # each begins on a boundary

    @property
    def n_bytes(self) -> int:
        """Of the arrays."""
        return sum(aligned(len(raw)) for raw in self.raws)

    def copied(self, into: Array) -> Gathered:
        """With the arrays as they are now, whatever becomes of them, in memory that has room for them."""
        room, start, raws = into.data, 0, []
        for raw in self.raws:
            raws.append(room[start : start + len(raw)])
            raws[-1][:] = raw
            start += aligned(len(raw))
        return Gathered(self.told, raws)

    def parts(self) -> list[bytes | memoryview]:
        """The block in pieces that follow each other."""
        sums = [[len(raw), check_sum(raw)] for raw in self.raws]
        header = json.dumps({**self.told, "sums": sums}, separators=(",", ":")).encode("ascii")
        head_size = aligned(HEAD.size + len(header)) - HEAD.size
        header += b" " * (head_size - len(header))
        parts = [part for raw in self.raws for part in (raw, bytes(aligned(len(raw)) - len(raw)))]
        return [HEAD.pack(MAGIC, len(header), self.n_bytes, zlib.crc32(header)), header, *parts]


def parted(block: Any) -> tuple[memoryview, memoryview]:
    """What is told, and the arrays, which `compare` holds against it."""
    whole = memoryview(block).cast("B")
    if len(whole) < HEAD.size or bytes(whole[:7]) != MAGIC[:7]:
        raise UnreadableCapture("not written by gradproof")
    magic, n_header, n_data, header_check = HEAD.unpack(whole[: HEAD.size])
    if magic != MAGIC:
        raise UnreadableCapture("written in another version of the format; this gradproof reads version 2")
    if n_header > MOST_HEADER or len(whole) != HEAD.size + n_header + n_data:
        raise UnreadableCapture(
            f"cut short: {len(whole):,} of {HEAD.size + n_header + n_data:,} bytes are there"
        )
    header, data = whole[HEAD.size : HEAD.size + n_header], whole[HEAD.size + n_header :]
    if zlib.crc32(header) != header_check:
        raise UnreadableCapture(_DAMAGED)
    return header, data


def compare(sums: Any, data: memoryview) -> None:
    start = 0
    for length, known in sums:
        end = start + index_of(length)
        padding = data[end : start + aligned(length)]
        if end > len(data) or check_sum(data[start:end]) != known or any(padding):
            raise UnreadableCapture(_DAMAGED)
        start += aligned(length)


def aligned(size: int) -> int:
    return -(-size // ALIGN) * ALIGN


def index_of(data: Any) -> int:
    if type(data) is not int or data < 0:
        raise ValueError(f"{data!r} is no place of a record")
    return data
