"""Judging that takes its process with it the first time."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from gradproof.deferred import examine
from gradproof.deferred.examine import judge_all, opened
from gradproof.deferred.judging import judged


def judged_at_second_try(source: str, *rest: Any) -> bytes:
    mark = Path(source).parent / "lost"
    if source.endswith("00000002.gradproof") and not mark.exists():
        mark.write_text(os.environ.get("MALLOC_TRIM_THRESHOLD_", "as usual"))
        os._exit(1)  # as a crash in a library does
    return judged(source, *rest)


if __name__ == "__main__":
    examine.judged = judged_at_second_try
    print([step.n_done for step in judge_all(opened(sys.argv[1]), jobs=2)])
