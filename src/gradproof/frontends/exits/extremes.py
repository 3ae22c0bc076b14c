"""The larger and the smaller of two numbers, as ops of a program."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.engine.trace import Traced
from gradproof.frontends.assemble.lowering import Lowering


def extreme(m: Lowering, name: str, a: Traced | float, b: Traced | float) -> Traced:
    """`maximum` or `minimum`, entry by entry, with the branches as they were taken."""
    values = [np.asarray(one.value if isinstance(one, Traced) else one) for one in (a, b)]
    takes_first = values[0] >= values[1] if name == "maximum" else values[0] <= values[1]
    dtype = next(one.value for one in (a, b) if isinstance(one, Traced)).dtype
    first, second = (m.constant(mask.astype(dtype)) for mask in (takes_first, ~takes_first))
    found: Any = m.add(m.mul(a, first), m.mul(b, second))
    assert isinstance(found, Traced)
    return found
