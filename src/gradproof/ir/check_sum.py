"""A check sum of many bytes that costs less than copying them."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

PAGE = 4096  # bytes that a disk and a memory handle as one


def check_sum(raw: Any) -> int:
    """The CRC of the sums of its pages: of the bytes themselves it would take ten times as long.

    No change of one number can leave the sum of its page as it was, and no two pages can change places. Nothing here
    keeps out somebody who means it.
    """
    n_whole = len(raw) // PAGE * PAGE
    pages = np.frombuffer(raw, "<u8", n_whole // 8).reshape(-1, PAGE // 8)
    return zlib.crc32(memoryview(raw)[n_whole:], zlib.crc32(np.add.reduce(pages, axis=1).data))
