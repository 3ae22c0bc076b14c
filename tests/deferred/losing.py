"""Judging that takes its process with it the first time."""

from __future__ import annotations

import os
import resource
import sys
from pathlib import Path
from typing import Any

import numpy as np

from gradproof.deferred import examine
from gradproof.deferred.examine import judge_all, opened
from gradproof.deferred.judging import judged


def judged_at_second_try(source: str, *rest: Any) -> bytes:
    mark = Path(source).parent / "lost"
    if source.endswith("00000002.gradproof") and not mark.exists():
        mark.write_text(str(_pages_of_new_arrays()))
        os._exit(1)  # as a crash in a library does
    return judged(source, *rest)


def _pages_of_new_arrays() -> int:
    """That the system had to find for them, though others have just gone; in all they have 8,192."""
    found = 0
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        [np.ones(1 << 21, np.uint8) for _ in range(16)]
        found = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
    return found


if __name__ == "__main__":
    examine.judged = judged_at_second_try
    print([step.n_done for step in judge_all(opened(sys.argv[1]), jobs=2)])
