"""Which replica of a strategy something belongs to: the first, where there is no strategy."""

from __future__ import annotations

import re
from typing import Any

from tensorflow.python.distribute import distribute_lib

_SCOPE = re.compile(r"(?:^|/)replica_(\d+)/")  # of the ops of a graph, but for those of the first replica


def replica_here() -> int:
    """That of this thread."""
    if not distribute_lib.has_strategy() or distribute_lib.in_cross_replica_context():
        return 0
    # The property without the underscore may make a tensor of it, which is an op that the program has not run.
    number = distribute_lib.get_replica_context()._replica_id_in_sync_group
    return number if isinstance(number, int) else 0


def replica_of(tensor: Any) -> int:
    """That of a tensor of a graph."""
    found = _SCOPE.search(getattr(tensor, "name", "") or "")
    return 0 if found is None else int(found[1])
