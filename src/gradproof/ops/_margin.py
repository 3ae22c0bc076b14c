"""What the margins of decisions share: midpoints, and the smallest of several distances to a switch."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.ir import types

NO_RIVAL = 2.0**1000  # the margin of a decision that has nothing to choose from


def midpoint(m: Any, x: Any) -> Any:
    """What a decision is taken by where none was recorded; its margin says whether that was sound."""
    return x if types.is_discrete_array(x) else m.domain.leave(x)[0]


def least(m: Any, x: Any, axis: int) -> Any:
    """The entry along an axis that a proof hinges on: a surely negative one, else that of least lower end."""
    mid, rad = m.domain.leave(x)
    lower = np.where(mid + rad < 0.0, -np.inf, mid - rad)
    places = np.expand_dims(np.argmin(lower, axis=axis), axis)
    return m.domain.lift(lambda v: np.squeeze(np.take_along_axis(v, places, axis), axis), x)


def least_of(m: Any, *xs: Any) -> Any:
    """`least` between arrays of one shape."""
    return least(m, m.domain.lift(lambda *parts: np.stack(parts), *xs), axis=0)


def without_self(m: Any, x: Any, own: Any) -> Any:
    """Margins with those of an entry against itself (where `own` is true) put out of the race."""
    return m.select(own, m.literal(np.asarray(NO_RIVAL)), x)
